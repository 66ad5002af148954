/**
 * Whether suites send all generated requests and run on both SQLite drivers. `.ci/run` sets the variable. A run of a
 * developer sends a sample, which is the same in each run, and uses one driver.
 */
export const IS_EXHAUSTIVE = process.env['LENSGATE_EXHAUSTIVE'] === '1';

/**
 * All values in an exhaustive run, otherwise one of each `step` values. `offset` is a whole number from 0. It selects
 * the value of each group: suites with several targets pass the index of the target, so that the targets get different
 * values.
 */
export const sampled = <Value>(values: readonly Value[], step: number, offset: number): readonly Value[] =>
  IS_EXHAUSTIVE ? values : values.filter((_value, index) => index % step === offset % step);
