import type { RateStanding } from '../../../src/domain/admission/rate-limits.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { type Usd, usdText } from '../../../src/domain/money.ts';
import { type HeaderLines, HeaderName } from '../http/header-lines.ts';

const KEY_BUDGET = new HeaderName('x-litellm-key-max-budget');
const KEY_SPEND = new HeaderName('x-litellm-key-spend');
const KEY_RPM_LIMIT = new HeaderName('x-litellm-key-rpm-limit');
const KEY_TPM_LIMIT = new HeaderName('x-litellm-key-tpm-limit');

/** Adds headers about the key of a call: budget and spend (in USD), and limits per minute. */
export function addKeyHeaders(
  head: HeaderLines,
  key: VirtualKey | null,
  call: { readonly keySpend: () => Usd | null },
): void {
  if (key === null) return;
  if (key.maxBudget !== null) {
    head.add(KEY_BUDGET, usdText(key.maxBudget));
    const spent = call.keySpend();
    if (spent !== null) head.add(KEY_SPEND, usdText(spent));
  }
  const { rpmLimit, tpmLimit } = key.settings;
  if (rpmLimit !== undefined) head.add(KEY_RPM_LIMIT, String(rpmLimit));
  if (tpmLimit !== undefined) head.add(KEY_TPM_LIMIT, String(tpmLimit));
}

/** Model names that can be part of a header name. Other models have no such header. */
const MODEL_NAME = /^[\w.-]{1,100}$/;

/** Adds limit and remaining count of each rate limit that the call counts against. */
export function addRateLimits(head: HeaderLines, standings: readonly RateStanding[], model: string): void {
  for (const { scope, type, ...counts } of standings) {
    const [limit, remaining] = [String(counts.limit), String(counts.remaining)];
    head.addChecked(`x-ratelimit-${scope}-limit-${type}`, limit);
    head.addChecked(`x-ratelimit-${scope}-remaining-${type}`, remaining);
    // The headers below are for limits per minute only.
    if (type === 'max_parallel_requests') continue;
    if (scope === 'api_key')
      head.addChecked(`x-ratelimit-limit-${type}`, limit).addChecked(`x-ratelimit-remaining-${type}`, remaining);
    if (scope === 'model_per_key' && MODEL_NAME.test(model))
      head.addChecked(`x-litellm-key-remaining-${type}-${model}`, remaining);
  }
}

/** Names of rate limit headers in answers, by the name of the upstream's header. */
const ANSWER_NAMES: ReadonlyMap<string, string> = new Map([
  ...['limit', 'remaining', 'reset'].flatMap((fact) =>
    ['requests', 'tokens'].map((unit): [string, string] => {
      const name = `x-ratelimit-${fact}-${unit}`;
      return [name, name];
    }),
  ),
  // Anthropic's reset is a point in time and not a duration: it is not mapped.
  ...['limit', 'remaining'].flatMap((fact) =>
    ['requests', 'tokens'].map((unit): [string, string] => [
      `anthropic-ratelimit-${unit}-${fact}`,
      `x-ratelimit-${fact}-${unit}`,
    ]),
  ),
]);

/** The name that a rate limit header of an upstream has in answers; undefined for other headers. */
export const rateLimitName = (name: string): string | undefined => ANSWER_NAMES.get(name);
