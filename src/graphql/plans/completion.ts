import type { GraphQLLeafType, GraphQLResolveInfo } from 'graphql';
import type { GraphContext } from '../../../schema/base/builder.ts';

/** Maximum characters of an answer of a plan. Yoga answers larger ones, which are written in pieces. */
export const MAX_CHARACTERS = 256 * 1024;
/** Coerced variables, as graphql passes them on. */
export type VariableValues = GraphQLResolveInfo['variableValues'];

/** One execution of a plan. */
export interface PlanRun {
  readonly context: GraphContext;
  readonly variables: VariableValues;
  /** Arguments and info by the number of the field. */
  readonly args: (Readonly<Record<string, unknown>> | undefined)[];
  readonly infos: (GraphQLResolveInfo | undefined)[];
  characters: number;
  /** The variables as a part of cache keys; null when no text is cached for them. */
  readonly variablesKey: string | null;
}

export type Path = GraphQLResolveInfo['path'] | undefined;
/**
 * The value of a field in the answer, or a promise of it. Throws or rejects for everything that would be an error of
 * the answer.
 */
export type Complete = (value: unknown, run: PlanRun, path: Path) => unknown;

/** Counts characters of the answer. Throws Unplanned when there are too many. */
export function countCharacters(run: PlanRun, characters: number): void {
  run.characters += characters;
  if (run.characters > MAX_CHARACTERS) throw new Unplanned();
}

/** A plan cannot answer this request. The ordinary executor answers it, with all errors. */
export class Unplanned extends Error {
  constructor() {
    super('The plan cannot answer this request.');
    this.name = 'Unplanned';
  }
}

/**
 * Converts a leaf value to the form of the answer. Never returns null. Throws for a value that the type does not have.
 */
export type LeafValue = (value: unknown) => string | number | boolean | object;

/** Whether a value is an integer of 32 bits, the range of `Int`. */
const isInt = (value: unknown): value is number => typeof value === 'number' && (value | 0) === value;
const isFloat = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Checks for values of the built-in scalars that need no conversion. */
const DIRECT: Readonly<Record<string, (value: unknown) => value is string | number | boolean>> = {
  Boolean: isFlag,
  Float: isFloat,
  ID: isText,
  Int: isInt,
  String: isText,
};

export function leafValue(type: GraphQLLeafType): LeafValue {
  const isDirect = DIRECT[type.name];
  const converted: LeafValue = (value) => {
    const coerced: unknown = type.coerceOutputValue(value);
    if (isText(coerced) || isFlag(coerced) || isFloat(coerced)) return coerced;
    if (typeof coerced !== 'object' || coerced === null) throw new Unplanned();
    return coerced;
  };
  return isDirect === undefined ? converted : (value) => (isDirect(value) ? value : converted(value));
}

type MutableData = Record<string | number, unknown>;

/** Sets a field when its value resolves. The field is null until then, so that the order of fields stays. */
export function setWhenResolved(value: Promise<unknown>, data: MutableData, key: string | number): Promise<void> {
  data[key] = null;
  return value.then((settled) => {
    data[key] = settled;
  });
}

/** Handles rejections of values that nothing awaits after a failure. */
export function ignoreRejections(pending: readonly Promise<void>[] | null): void {
  for (const settled of pending ?? []) settled.catch(() => {});
}

/** Completes the items of a list or stream. */
export function listOf(item: Complete, withPaths: boolean): Complete {
  const completed = (value: unknown, run: PlanRun, path: Path): unknown =>
    value instanceof Promise ? value.then((settled: unknown) => item(settled, run, path)) : item(value, run, path);
  const itemPath = (path: Path, key: number): Path => (withPaths ? { prev: path, key, typename: undefined } : path);
  async function ofStream(values: AsyncIterable<unknown>, run: PlanRun, path: Path): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    for await (const value of values) items.push(await completed(value, run, itemPath(path, items.length)));
    return items;
  }
  return (values, run, path) => {
    if (!Array.isArray(values)) {
      if (typeof values === 'object' && values !== null && Symbol.asyncIterator in values)
        return ofStream(values as AsyncIterable<unknown>, run, path);
      throw new Unplanned();
    }
    const items: unknown[] = [];
    let pending: Promise<void>[] | null = null;
    try {
      for (let at = 0; at < values.length; at += 1) {
        const value = completed(values[at], run, itemPath(path, at));
        if (value instanceof Promise) {
          pending ??= [];
          pending.push(setWhenResolved(value, items as unknown as MutableData, at));
        } else items.push(value);
      }
    } catch (error) {
      ignoreRejections(pending);
      throw error;
    }
    return pending === null ? items : Promise.all(pending).then(() => items);
  };
}
