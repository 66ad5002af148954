const MAX_INT = 2 ** 31 - 1;

/** A token count of one call as an Int, capped at 2,147,483,647. */
export const tokensOf = (count: number): number => Math.min(count, MAX_INT);

/** As `tokensOf`; null for an unknown count. */
export const tokensOrNull = (count: number | null): number | null => (count === null ? null : tokensOf(count));
