import type { RateLimit, RateType } from '../../domain/admission/rate-limits.ts';

/** Time after which a slot is freed although its call has not ended, in ms: one hour, as in the reference. */
export const SLOT_MS = 3_600_000;

/** Order of the standings of one limit. */
export const STANDING_TYPES: readonly RateType[] = ['requests', 'tokens', 'max_parallel_requests'];

/** Value of a limit for a type; undefined when it does not limit the type. */
export function limitOf({ requests, tokens, parallel }: RateLimit, type: RateType): number | undefined {
  if (type === 'requests') return requests;
  return type === 'tokens' ? tokens : parallel;
}

/** Amount that a call counts: what the limit sets, else one request, its expected tokens, or one slot. */
export function amountOf({ amounts }: RateLimit, type: RateType, expectedTokens: number): number {
  if (type === 'requests') return amounts?.requests ?? 1;
  if (type === 'tokens') return amounts?.tokens ?? expectedTokens;
  return 1;
}
