import { InvalidInput } from '../errors.ts';

declare const share: unique symbol;

/** A part of a whole, from 0 to 1, in billionths. */
export type Share = bigint & { readonly [share]: true };

const DIGITS = 9;
/** The share 1. */
export const WHOLE = 1_000_000_000n as Share;
export const NO_SHARE = 0n as Share;

/** Requests and tokens whose cost is estimated. */
export interface Workload {
  /** Number of requests. */
  readonly requests: number;
  /** Input tokens of one request, cached ones included. */
  readonly inputTokens: number;
  /** Output tokens of one request, reasoning included. */
  readonly outputTokens: number;
  /** Share of the input that is read from a cache. */
  readonly cacheHitRate: Share;
  /** Share of the input that is written to a cache. */
  readonly cacheWriteRate: Share;
  /** Share of the requests that is sent as batches. */
  readonly batchShare: Share;
  /** Share of the output that is reasoning. */
  readonly reasoningShare: Share;
  /** Modes of the catalog entries whose cost for this workload is estimated, letter case ignored. */
  readonly modes: readonly string[];
}

const fault = (name: string, rule: string, message: string): InvalidInput =>
  new InvalidInput(`\`${name}\` ${message}.`, [{ path: [name], rule, message }]);

/** Reads a share from decimal text. Throws InvalidInput for other text, for more than nine decimals, and above 1. */
export function shareFrom(name: string, text: string): Share {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > DIGITS) throw fault(name, 'precision', `must have at most ${DIGITS} decimals`);
  const value = BigInt(whole + digits.padEnd(DIGITS, '0')) as Share;
  if (whole === '' || value > WHOLE) throw fault(name, 'range', 'must be between 0 and 1');
  return value;
}

/** Throws InvalidInput for a number out of range, and for cache shares that are above 1 together. */
export function assertWorkload({ requests, inputTokens, outputTokens, cacheHitRate, cacheWriteRate }: Workload): void {
  if (requests < 1) throw fault('requests', 'range', 'must be at least 1');
  if (inputTokens < 0) throw fault('inputTokens', 'range', 'must not be below zero');
  if (outputTokens < 0) throw fault('outputTokens', 'range', 'must not be below zero');
  if (cacheHitRate + cacheWriteRate > WHOLE)
    throw fault('cacheWriteRate', 'range', 'and `cacheHitRate` must not be more than 1 together');
}
