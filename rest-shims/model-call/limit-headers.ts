import type { RateStanding } from '../../src/domain/admission/rate-limits.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';

type Header = readonly [name: string, value: string];

/** The limits per minute of a key. */
export function keyLimitHeaders(key: VirtualKey | null): readonly Header[] {
  const { rpmLimit, tpmLimit } = key?.settings ?? {};
  return [
    ...(rpmLimit === undefined ? [] : [['x-litellm-key-rpm-limit', String(rpmLimit)] as const]),
    ...(tpmLimit === undefined ? [] : [['x-litellm-key-tpm-limit', String(tpmLimit)] as const]),
  ];
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
