import type { RateScope } from './scopes.ts';

/** Quantity that a limit counts, by its name on the wire. */
export type RateType = 'requests' | 'tokens' | 'max_parallel_requests';

/** The limits of one scope; an absent one is unlimited. A further scope of a call is a further element of its list. */
export interface RateLimit {
  readonly scope: RateScope;
  /** Id within the scope, as a refusal shows it: the hash of a key, `hash:model`, a team's id. */
  readonly id: string;
  /** Requests in a window of a minute. */
  readonly requests?: number | undefined;
  /** Tokens in a window of a minute. */
  readonly tokens?: number | undefined;
  readonly parallel?: number | undefined;
  /** What a batch counts for the limit, in place of one request and its tokens. It stays counted when the call ends. */
  readonly amounts?: { readonly requests: number; readonly tokens: number };
}

/** A limit, and what is left of it after a call was admitted. */
export interface RateStanding {
  readonly scope: RateScope;
  readonly type: RateType;
  readonly limit: number;
  readonly remaining: number;
}

/** A call that was not admitted. */
export interface RateRefusal {
  readonly kind: 'refused';
  readonly scope: RateScope;
  readonly id: string;
  readonly type: RateType;
  readonly limit: number;
  readonly remaining: number;
}

/** A call under way. */
export interface RateAdmission {
  readonly kind: 'admitted';
  readonly standings: readonly RateStanding[];
  /** Ends it, once: frees its slots, and replaces the expected tokens by the used ones; null used none. */
  settle(tokens: number | null): void;
}

/**
 * Limits per minute and of parallel calls.
 *
 * The rule. A window of a counter begins with the first call after the last one has ended, and lasts a minute. A call is
 * checked in three phases, each over all of its limits: requests, parallel calls, tokens. The first limit that does not admit
 * it is the refusal. A refusal in a later phase frees the slots, and its request stays counted; a refusal of the first phase
 * counts nothing. Expected tokens are reserved. Used tokens replace them in their window; where that has ended, they count in
 * the current one.
 */
export interface RateLimits {
  /** Synchronous when this process holds a share of every limit, or counts alone. */
  admit(
    limits: readonly RateLimit[],
    expectedTokens: number,
  ): RateAdmission | RateRefusal | Promise<RateAdmission | RateRefusal>;
  /**
   * Asks for the shares that `admit` of the same call will need, in the round trip that is about to be sent. It counts nothing;
   * a share that no call takes is released.
   */
  prepare(limits: readonly RateLimit[], expectedTokens: number): void;
}

/** Length of a window, in ms. */
export const RATE_WINDOW_MS = 60_000;
