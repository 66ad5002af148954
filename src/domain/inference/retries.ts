import type { JsonObject } from '../json-object.ts';
import { type DomainError, UpstreamFailed } from '../errors.ts';
import { PromptTooLong } from '../routing/selection-errors.ts';

/** A model that is called after another failed. */
export interface Fallback {
  readonly model: string;
  /** Members that replace members of the request; none for a fallback that is only a name. */
  readonly members: JsonObject;
}

/** Retry and fallback settings of a request. */
export interface Retries {
  /** Number of retries; null for the configured number. */
  readonly count: number | null;
  /** Fallback models after the retries, in order. They replace the configured ones. */
  readonly fallbacks: readonly Fallback[];
  /** Fallback models for a conversation that is too long, by the name of the first model. */
  readonly contextFallbacks: ReadonlyMap<string, string>;
  /** Turns all fallbacks off, including configured ones. */
  readonly withoutFallbacks: boolean;
}

/** The settings of a request that names none. */
export const NO_RETRIES: Retries = { count: null, fallbacks: [], contextFallbacks: new Map(), withoutFallbacks: false };

/** Vendors' messages for a conversation that is too long. */
const TOO_LONG =
  /context_length_exceeded|context (length|window)|maximum context|prompt is too long|input is too long|too many (input )?tokens|exceeds? the (maximum|model)[^.]{0,60}tokens|input token count/i;

/** Whether a call was refused because the conversation exceeds the context window of its model. */
export function isTooLong(failure: DomainError): boolean {
  if (failure instanceof PromptTooLong) return true;
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status, upstreamCode: code, message } = failure;
  if (code === 'context_length_exceeded') return true;
  return (status === 400 || status === 413 || status === 422) && TOO_LONG.test(message);
}
