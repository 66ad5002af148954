import type { JsonObject } from '../json-object.ts';

/** Calls of one model in a batch file, and their input tokens, estimated by size. */
export interface CountedCalls {
  readonly requests: number;
  readonly tokens: number;
  /** Ids of the vector stores that the calls name. Absent where they were not listed when the file was stored. */
  readonly stores?: readonly string[];
  /** Ids of the containers that the calls name. Absent for none. */
  readonly containers?: readonly string[];
  /** Names of the guardrails that have checked each of the calls. Absent for none. */
  readonly guardrails?: readonly string[];
}

/** Calls of a batch file, by public model name. */
export type BatchCalls = Readonly<Record<string, CountedCalls>>;

/** One line of a batch file. */
export interface BatchLine {
  /** Line number, from 1. */
  readonly number: number;
  /** Public name of the model. */
  readonly model: string;
  /** Path of the endpoint, such as `/v1/chat/completions`; empty where the line names none. */
  readonly url: string;
  readonly body: JsonObject;
  /** JSON text of `body`. */
  readonly bytes: Uint8Array;
}

/** Whether an endpoint of a batch is that of embeddings. */
export const isEmbeddingUrl = (url: string): boolean => url === '/v1/embeddings';

/** Sums over all models of a batch. */
export const allCalls = (calls: BatchCalls): CountedCalls =>
  Object.values(calls).reduce(
    (sum, one) => ({ requests: sum.requests + one.requests, tokens: sum.tokens + one.tokens }),
    { requests: 0, tokens: 0 },
  );

/** Counts of a batch file with the names of models replaced. Counts of one new name are added. */
export function callsByTarget(calls: BatchCalls, targetOf: (name: string) => string): BatchCalls {
  const names = Object.keys(calls);
  if (names.every((name) => targetOf(name) === name)) return calls;
  const byTarget = Map.groupBy(Object.entries(calls), ([name]) => targetOf(name));
  return Object.fromEntries([...byTarget].map(([target, entries]) => [target, allCalls(Object.fromEntries(entries))]));
}
