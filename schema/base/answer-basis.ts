/**
 * Extension of a field whose value depends on its source alone: not on the caller, the time, a store or another argument
 * than those of the query.
 */
export const FROM_SOURCE = { fromSource: true } as const;

/**
 * Extension of a root field: the unchanging object that its value is made of, for the same arguments. Plans cache the
 * text of an answer by it (`src/graphql/plans`) when each selected field has `FROM_SOURCE`. The resolver still runs, with
 * its access check and allowance.
 */
export const answerOf = <Value>(basis: (value: Value) => object) => ({ answerBasis: basis });
