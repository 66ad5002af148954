import {
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
} from 'graphql';
import { isIntrospectionOnly } from '../../schema/introspection.ts';
import type { Answers } from './answers.ts';

/** Most answers kept, and most characters of them together. */
const MOST_KEPT = 64;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Variables of more characters are no part of a key: their answers are made every time. */
const MOST_VARIABLES = 1_024;

/**
 * Answers to operations that ask for nothing but the schema, by operation, fragments and variables: they are the same
 * for every caller, so each is made once. The least recently used go first.
 */
export function createIntrospectionCache(answers: Answers) {
  const kept = new Map<string, ExecutionResult>();
  /** By operation, since one document is asked again and again; null where it asks for more than the schema. */
  const names = new WeakMap<OperationDefinitionNode, string | null>();
  let characters = 0;

  const sizeOf = (key: string, result: ExecutionResult): number =>
    key.length + (answers.dataTextOf(result.data)?.length ?? 0);

  function nameOf({ document, operationName }: ExecutionArgs): string | null {
    const operation = getOperationAST(document, operationName);
    if (!operation) return null;
    const known = names.get(operation);
    if (known !== undefined) return known;
    const fragments = document.definitions.filter(
      (definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION,
    );
    const only = isIntrospectionOnly(operation, new Map(fragments.map((fragment) => [fragment.name.value, fragment])));
    const name = only ? [operation, ...fragments].map(print).join('\n') : null;
    names.set(operation, name);
    return name;
  }

  return {
    /** Names an operation that asks for the schema only; null for others, and where its answer is not kept. */
    keyOf(args: ExecutionArgs): string | null {
      const name = nameOf(args);
      if (name === null) return null;
      const variables = JSON.stringify(args.variableValues ?? {});
      return variables.length > MOST_VARIABLES ? null : `${variables}\n${name}`;
    },
    find(key: string): ExecutionResult | null {
      const result = kept.get(key);
      if (result === undefined) return null;
      kept.delete(key);
      kept.set(key, result);
      return result;
    },
    /** Keeps an answer without errors. Gives the result to send, which is an error when it is too large. */
    async keep(key: string, result: ExecutionResult): Promise<ExecutionResult> {
      if (result.errors !== undefined || kept.has(key)) return result;
      const made = await answers.kept(result);
      if (made.errors !== undefined || kept.has(key)) return made;
      kept.set(key, made);
      characters += sizeOf(key, made);
      for (const [oldKey, old] of kept) {
        if (kept.size <= MOST_KEPT && characters <= MOST_CHARACTERS) break;
        kept.delete(oldKey);
        characters -= sizeOf(oldKey, old);
      }
      return made;
    },
  };
}
