/** Calls of one model in a batch file, and their input tokens, estimated by size. */
export interface CountedCalls {
  readonly requests: number;
  readonly tokens: number;
  /** Ids of the vector stores that the calls name. Absent for none. */
  readonly stores?: readonly string[];
}

/** Calls of a batch file, by public model name. */
export type BatchCalls = Readonly<Record<string, CountedCalls>>;

/** Sums over all models of a batch. */
export const allCalls = (calls: BatchCalls): CountedCalls =>
  Object.values(calls).reduce(
    (sum, one) => ({ requests: sum.requests + one.requests, tokens: sum.tokens + one.tokens }),
    { requests: 0, tokens: 0 },
  );
