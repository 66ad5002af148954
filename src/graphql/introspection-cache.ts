import {
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  print,
} from 'graphql';
import { isIntrospectionOnly } from '../../schema/base/introspection.ts';
import type { Answers } from './answers.ts';

/** Capacity of the cache in answers, and in characters. */
const MAX_ENTRIES = 64;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Operations whose variables have more characters are not cached. */
const MAX_VARIABLES_CHARACTERS = 1_024;

/**
 * LRU cache of introspection answers by operation, fragments and variables. These answers are equal for every caller.
 */
export function createIntrospectionCache(answers: Answers) {
  const entries = new Map<string, ExecutionResult>();
  /** Text of an operation and its fragments, a part of the cache key; null when the operation also selects data. */
  const texts = new WeakMap<OperationDefinitionNode, string | null>();
  let characters = 0;

  const sizeOf = (key: string, result: ExecutionResult): number =>
    key.length + (answers.dataTextOf(result.data)?.length ?? 0);

  function textOf({ document, operationName }: ExecutionArgs): string | null {
    const operation = getOperationAST(document, operationName);
    if (!operation) return null;
    const known = texts.get(operation);
    if (known !== undefined) return known;
    const fragments = document.definitions.filter(
      (definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION,
    );
    const selectsOnlySchema = isIntrospectionOnly(
      operation,
      new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    );
    const text = selectsOnlySchema ? [operation, ...fragments].map(print).join('\n') : null;
    texts.set(operation, text);
    return text;
  }

  return {
    /** Cache key of an operation that selects only the schema; null when its answer is not cached. */
    keyOf(args: ExecutionArgs): string | null {
      const text = textOf(args);
      if (text === null) return null;
      const variables = JSON.stringify(args.variableValues ?? {});
      return variables.length > MAX_VARIABLES_CHARACTERS ? null : `${variables}\n${text}`;
    },
    find(key: string): ExecutionResult | null {
      const result = entries.get(key);
      if (result === undefined) return null;
      entries.delete(key);
      entries.set(key, result);
      return result;
    },
    /** Caches an answer without errors. Returns the result to send, which is an error when it is too large. */
    async add(key: string, result: ExecutionResult): Promise<ExecutionResult> {
      if (result.errors !== undefined || entries.has(key)) return result;
      const encoded = await answers.encoded(result);
      if (encoded.errors !== undefined || entries.has(key)) return encoded;
      entries.set(key, encoded);
      characters += sizeOf(key, encoded);
      for (const [oldKey, old] of entries) {
        if (entries.size <= MAX_ENTRIES && characters <= MAX_CHARACTERS) break;
        entries.delete(oldKey);
        characters -= sizeOf(oldKey, old);
      }
      return encoded;
    },
  };
}
