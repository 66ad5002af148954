import type { RateStanding } from '../../../src/domain/admission/rate-limits.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { type Usd, usdText } from '../../../src/domain/money.ts';

type Header = readonly [name: string, value: string];

/** The limits per minute of a key. */
export function keyLimitHeaders(key: VirtualKey | null): readonly Header[] {
  const { rpmLimit, tpmLimit } = key?.settings ?? {};
  return [
    ...(rpmLimit === undefined ? [] : [['x-litellm-key-rpm-limit', String(rpmLimit)] as const]),
    ...(tpmLimit === undefined ? [] : [['x-litellm-key-tpm-limit', String(tpmLimit)] as const]),
  ];
}

/** Adds budget, spend and limits of the key of a call. */
export function pushKeyHeaders(
  head: string[],
  key: VirtualKey | null,
  call: { readonly keySpend: () => Usd | null },
): void {
  if (key !== null && key.maxBudget !== null) {
    head.push('x-litellm-key-max-budget', usdText(key.maxBudget));
    const spent = call.keySpend();
    if (spent !== null) head.push('x-litellm-key-spend', usdText(spent));
  }
  for (const limit of keyLimitHeaders(key)) head.push(...limit);
}

/** A model name as a part of a header's name; others have no header. */
const NAME = /^[\w.-]{1,100}$/;

/** What is left of the limits that a call was counted against. */
export function standingHeaders(standings: readonly RateStanding[], model: string): readonly Header[] {
  return standings.flatMap(({ scope, type, limit, remaining }) => {
    const named: Header[] = [
      [`x-ratelimit-${scope}-limit-${type}`, String(limit)],
      [`x-ratelimit-${scope}-remaining-${type}`, String(remaining)],
    ];
    if (type === 'max_parallel_requests') return named;
    if (scope === 'api_key') {
      named.push([`x-ratelimit-limit-${type}`, String(limit)], [`x-ratelimit-remaining-${type}`, String(remaining)]);
    }
    if (scope === 'model_per_key' && NAME.test(model))
      named.push([`x-litellm-key-remaining-${type}-${model}`, String(remaining)]);
    return named;
  });
}

/** Rate limit headers of the reference, by the header of the upstream. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => {
      const name = `x-ratelimit-${what}-${of}`;
      return [name, name];
    }),
  ),
  // Anthropic's reset is a time, the others' a duration, so it is not mapped.
  ...['limit', 'remaining'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => [
      `anthropic-ratelimit-${of}-${what}`,
      `x-ratelimit-${what}-${of}`,
    ]),
  ),
]);

/** The header for a rate limit header of an upstream; undefined for other headers. */
export const rateLimitName = (name: string): string | undefined => NAMES.get(name);
