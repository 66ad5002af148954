/**
 * Extension of a field whose value depends on its source object and arguments only, not on the caller, the time or a
 * store.
 */
export const FROM_SOURCE = { fromSource: true } as const;

/**
 * Extension of a root field. `basis` takes the value that the resolver returned. It returns an immutable object that
 * determines this value for the same arguments. Plans (`src/graphql/plans`) cache the text of the answer under this
 * object when each selected field has `FROM_SOURCE`. The resolver still runs: it checks access and charges the
 * allowance of a client without a key.
 */
export const answerBasis = <Value>(basis: (value: Value) => object) => ({ answerBasis: basis });
