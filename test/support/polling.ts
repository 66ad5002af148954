/**
 * Deadline and interval of a polling wait, in ms. A long deadline costs nothing, because a wait ends when its
 * condition is true.
 */
export const POLLING = { timeout: 60_000, interval: 50 } as const;
