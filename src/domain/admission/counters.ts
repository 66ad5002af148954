/** Prefix of the counters of what keys spend, in picodollars; the key's hash follows. */
export const KEY_COUNTER = 'key:';

/** The counter of what a key spends. */
export const keyCounter = (keyHash: string): string => `${KEY_COUNTER}${keyHash}`;
