import type { RateScope } from './scopes.ts';

/** Quantity that a limit counts, by its name on the wire. */
export type RateType = 'requests' | 'tokens' | 'max_parallel_requests';

/** The limits of one scope of a call. An absent limit is unlimited. */
export interface RateLimit {
  readonly scope: RateScope;
  /** Id within the scope, as a refusal shows it, for example the hash of a key, `hash:model` or the id of a team. */
  readonly id: string;
  /** Requests in a window of a minute. */
  readonly requests?: number | undefined;
  /** Tokens in a window of a minute. */
  readonly tokens?: number | undefined;
  /** Calls in progress. */
  readonly parallel?: number | undefined;
  /**
   * Requests and tokens of a batch. They count instead of one request and its expected tokens. `settle` does not
   * replace these tokens by the used ones; `settle(null)` removes them.
   */
  readonly amounts?: { readonly requests: number; readonly tokens: number };
}

/** A limit, and its remaining amount after a call was admitted. */
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

/** An admitted call. */
export interface RateAdmission {
  readonly kind: 'admitted';
  readonly standings: readonly RateStanding[];
  /**
   * Ends the call. Frees its slots of parallel calls and replaces the expected tokens by the used tokens; null means
   * that it used none. Idempotent.
   */
  settle(tokens: number | null): void;
}

/**
 * Limits per minute and of parallel calls.
 *
 * A window lasts a minute. It begins with the first call after the previous window has ended. A call is checked in
 * three phases, each over all of its limits: requests, parallel calls, tokens. The first limit without room refuses the
 * call. A refusal in the first phase counts nothing. A refusal in a later phase counts the request, but no slot and no
 * tokens. Expected tokens are reserved. At the end of the call, the used tokens replace them in the same window. If
 * that window has ended, the used tokens count in the current one.
 */
export interface RateLimits {
  /**
   * Returns no promise when this process counts alone, holds sufficient shares of the ledger, or has itself used up a
   * limit of requests.
   */
  admit(
    limits: readonly RateLimit[],
    expectedTokens: number,
  ): RateAdmission | RateRefusal | Promise<RateAdmission | RateRefusal>;
  /**
   * Announces a later `admit` of the same call: the next request to the ledger also asks for the shares of this call.
   * It counts nothing. An unused share is released.
   */
  prepare(limits: readonly RateLimit[], expectedTokens: number): void;
}

/** Length of a window, in ms. */
export const RATE_WINDOW_MS = 60_000;
