import { type DomainError, UpstreamFailed } from '../errors.ts';

/** A model that is asked instead of another. */
export interface Fallback {
  readonly model: string;
  /** Members of the request that are other than for the first model; none for a mere name. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** What a caller wants done where a model does not answer. */
export interface Retries {
  /** How often the same is asked again. */
  readonly again: number;
  /** Who is asked instead after that, in order. */
  readonly fallbacks: readonly Fallback[];
  /** Who is asked instead where the conversation is too long for a model, by that model's name. */
  readonly longer: ReadonlyMap<string, string>;
}

/** Most models that one call goes on to. */
export const MOST_FALLBACKS = 5;

/** A timeout, a conflict, a limit: the same may go well the next time. */
const PASSING = new Set([408, 409, 429]);
/** A credential or a name that is one deployment's: another may have a better one. */
const OF_ONE_DEPLOYMENT = new Set([401, 403, 404]);

/** Whether asking the same again may help; `elsewhere` where it would be asked of another deployment. */
export function mayHelpAgain(failure: unknown, { elsewhere }: { readonly elsewhere: boolean }): boolean {
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status } = failure;
  if (status === null || status >= 500 || PASSING.has(status)) return true;
  return elsewhere && OF_ONE_DEPLOYMENT.has(status);
}

/** Whether an upstream refused for now: to ask at once would only be refused again. */
const isRateLimit = (failure: unknown): boolean => failure instanceof UpstreamFailed && failure.upstreamStatus === 429;

/** How makers of models say that a conversation is too long. */
const TOO_LONG =
  /context_length_exceeded|context (length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (maximum|model)[^.]{0,60}tokens|input token count/i;

/** Whether a model refused because the conversation is longer than it can read. */
export function isTooLong(failure: DomainError): boolean {
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status, upstreamCode: code, message } = failure;
  if (code === 'context_length_exceeded') return true;
  return (status === 400 || status === 413 || status === 422) && TOO_LONG.test(message);
}

/** The first wait before an upstream that refused for now is asked again, doubled each time; and the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** What an upstream may ask for; who names more is not waited for so long. */
const LONGEST_ASKED_MS = 60_000;

/** Milliseconds to wait before asking an upstream again, for the nth time, from 0. */
export function waitBefore(failure: unknown, nth: number): number {
  if (!isRateLimit(failure)) return 0;
  const asked = failure instanceof UpstreamFailed ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
  return asked > 0 && asked <= LONGEST_ASKED_MS ? asked : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** nth);
}
