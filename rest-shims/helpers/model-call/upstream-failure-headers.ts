import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { rateLimitName } from './limit-headers.ts';
import { headerText } from '../http/header-lines.ts';

/** Upstream headers with the wait before the next attempt. */
const RETRY_HEADERS = new Set(['retry-after', 'retry-after-ms']);

/**
 * Headers for an upstream failure: `retry-after` and rate limits, and each upstream header with the prefix
 * `llm_provider-`. Empty for other failures.
 */
export function upstreamFailureHeaders(error: unknown): Record<string, string> {
  const head: Record<string, string> = {};
  if (!(error instanceof UpstreamFailed)) return head;
  for (const [name, input] of Object.entries(error.upstreamHeaders)) {
    const value = headerText(input);
    head[`llm_provider-${name}`] = value;
    const answerName = RETRY_HEADERS.has(name) ? name : rateLimitName(name);
    if (answerName !== undefined) head[answerName] = value;
  }
  return head;
}
