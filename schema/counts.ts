const MOST_INT = 2 ** 31 - 1;

/** A count of tokens as an Int. Spans count to 2^32-1, upstreams further: beyond an Int, its greatest. */
export const tokensOf = (count: number): number => Math.min(count, MOST_INT);

/** The same where it may not be told. */
export const tokensOrNull = (count: number | null): number | null => (count === null ? null : tokensOf(count));
