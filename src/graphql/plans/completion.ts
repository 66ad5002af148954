import type { GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../../schema/base/builder.ts';
import { Unplanned } from './unplanned.ts';

/** Most characters of an answer. Larger ones are bounded and written in pieces elsewhere. */
export const MOST_CHARACTERS = 256 * 1024;
/** Coerced variables, as graphql passes them on. */
export type VariableValues = GraphQLResolveInfo['variableValues'];

/** One execution of a plan. */
export interface Run {
  readonly context: GraphContext;
  readonly variables: VariableValues;
  /** Arguments and info by the number of the field. */
  readonly args: (Readonly<Record<string, unknown>> | undefined)[];
  readonly infos: (GraphQLResolveInfo | undefined)[];
  characters: number;
  /** The variables as a part of keys; null when answers are not cached by them. */
  readonly variablesKey: string | null;
}

export type Path = GraphQLResolveInfo['path'] | undefined;
/**
 * The value of a field in the answer, or a promise of it. Throws or rejects for everything that would be an error of
 * the answer.
 */
export type Complete = (value: unknown, run: Run, path: Path) => unknown;

/** Counts characters of the answer. Throws when there are too many. */
export function count(run: Run, characters: number): void {
  run.characters += characters;
  if (run.characters > MOST_CHARACTERS) throw new Unplanned();
}
