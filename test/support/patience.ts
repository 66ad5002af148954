/** Deadline and interval of a wait, in ms. The deadline is long: a wait ends as soon as its condition holds. */
export const PATIENCE = { timeout: 60_000, interval: 50 } as const;
