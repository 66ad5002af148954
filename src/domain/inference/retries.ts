import { type DomainError, UpstreamFailed } from '../errors.ts';

/** A model that is called after another failed. */
export interface Fallback {
  readonly model: string;
  /** Members of the request that replace those of the first model; none for a plain name. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Retry and fallback settings of a caller. */
export interface Retries {
  /** Number of retries. */
  readonly again: number;
  /** Fallback models after the retries, in order. */
  readonly fallbacks: readonly Fallback[];
  /** Fallback models for a conversation that is too long, by the name of the first model. */
  readonly longer: ReadonlyMap<string, string>;
}

/** Most fallbacks of one call. */
export const MOST_FALLBACKS = 5;

/** Timeout, conflict, rate limit: a retry may succeed. */
const PASSING = new Set([408, 409, 429]);
/** Credential or name of one deployment: another deployment may succeed. */
const DEPLOYMENT_STATUSES = new Set([401, 403, 404]);

/** Whether a retry may succeed; `elsewhere` when it is sent to another deployment. */
export function isRetryable(failure: unknown, { elsewhere }: { readonly elsewhere: boolean }): boolean {
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status } = failure;
  if (status === null || status >= 500 || PASSING.has(status)) return true;
  return elsewhere && DEPLOYMENT_STATUSES.has(status);
}

/** Whether an upstream's rate limit refused the call: an immediate retry would be refused too. */
const isRateLimit = (failure: unknown): boolean => failure instanceof UpstreamFailed && failure.upstreamStatus === 429;

/** Vendors' messages for a conversation that is too long. */
const TOO_LONG =
  /context_length_exceeded|context (length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (maximum|model)[^.]{0,60}tokens|input token count/i;

/** Whether a model refused because the conversation exceeds its context window. */
export function isTooLong(failure: DomainError): boolean {
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status, upstreamCode: code, message } = failure;
  if (code === 'context_length_exceeded') return true;
  return (status === 400 || status === 413 || status === 422) && TOO_LONG.test(message);
}

/** First delay before a retry after a rate limit, doubled each time; and the longest, in ms. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** Longest `Retry-After` that is honoured, in ms; a longer one is ignored. */
const LONGEST_ASKED_MS = 60_000;

/** Delay before the nth retry, from 0, in ms. */
export function retryDelayMs(failure: unknown, nth: number): number {
  if (!isRateLimit(failure)) return 0;
  const asked = failure instanceof UpstreamFailed ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
  return asked > 0 && asked <= LONGEST_ASKED_MS ? asked : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** nth);
}
