import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { rateLimitName } from './limit-headers.ts';
import { headerText } from '../http/header-lines.ts';

/** Upstream headers with the time of the next accepted call. */
const WAITS = new Set(['retry-after', 'retry-after-ms']);

/**
 * Headers of an upstream's failure with the time of the next attempt, e.g. `retry-after` of a 429. Each upstream header
 * is also passed on with the prefix `llm_provider-`. Empty for other failures.
 */
export function upstreamLimits(error: unknown): Record<string, string> {
  const head: Record<string, string> = {};
  if (!(error instanceof UpstreamFailed)) return head;
  for (const [name, input] of Object.entries(error.upstreamHeaders)) {
    const value = headerText(input);
    head[`llm_provider-${name}`] = value;
    const known = WAITS.has(name) ? name : rateLimitName(name);
    if (known !== undefined) head[known] = value;
  }
  return head;
}
