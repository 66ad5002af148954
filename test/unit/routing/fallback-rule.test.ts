import { describe, expect, it } from 'vitest';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { NO_RETRIES, type Retries } from '../../../src/domain/inference/retries.ts';
import { fallbacksAfter } from '../../../src/domain/routing/fallback-rule.ts';
import { DEFAULT_ROUTING, type FallbackPolicy } from '../../../src/domain/routing/routing-policy.ts';

const UNAVAILABLE = new UpstreamFailed('away', { provider: 'openai', upstreamStatus: 500 });
const TOO_LONG = new UpstreamFailed('maximum context', { provider: 'openai', upstreamStatus: 400 });
const REFUSED_CONTENT = new UpstreamFailed('content_filter', { provider: 'openai', upstreamStatus: 400 });
const general = new Map([['m', ['a', 'b']]]);

const after = (failure: UpstreamFailed, policy: Partial<FallbackPolicy>, retries: Partial<Retries> = {}, model = 'm') =>
  fallbacksAfter(
    failure,
    { model, retries: { ...NO_RETRIES, ...retries } },
    { ...DEFAULT_ROUTING.fallbacks, ...policy },
  ).map((fallback) => fallback.model);

describe('the fallbacks of a model', () => {
  it('are its own list, otherwise the list of `*`, otherwise the default list', () => {
    expect(after(UNAVAILABLE, {})).toEqual([]);
    expect(after(UNAVAILABLE, { general, standard: ['s'] })).toEqual(['a', 'b']);
    expect(after(UNAVAILABLE, { general: new Map([['*', ['w']]]), standard: ['s'] })).toEqual(['w']);
    expect(after(UNAVAILABLE, { general: new Map([['x', ['y']]]), standard: ['s'] })).toEqual(['s']);
  });

  it('are found with and without a provider prefix', () => {
    expect(after(UNAVAILABLE, { general }, {}, 'openai/m')).toEqual(['a', 'b']);
    expect(after(UNAVAILABLE, { general: new Map([['openai/m', ['a']]]) })).toEqual(['a']);
  });

  it('have every model once, never the failed one, and at most the configured number', () => {
    expect(after(UNAVAILABLE, { general: new Map([['m', ['a', 'm', 'a', 'b', 'c']]]), most: 2 })).toEqual(['a', 'b']);
  });

  it('are replaced by the fallbacks of a request, or disabled by the request', () => {
    expect(after(UNAVAILABLE, { general }, { fallbacks: [{ model: 'mine', members: {} }] })).toEqual(['mine']);
    expect(after(UNAVAILABLE, { general }, { withoutFallbacks: true })).toEqual([]);
    expect(after(TOO_LONG, { general }, { contextFallbacks: new Map([['m', 'long']]) })).toEqual(['long']);
  });

  it('have separate lists for too long conversations and refused content where one is configured', () => {
    const lists = { general, contextWindow: new Map([['m', ['long']]]), contentPolicy: new Map([['x', ['kind']]]) };
    // No list for refused content is for `m`, and the general list does not apply.
    expect([after(TOO_LONG, lists), after(REFUSED_CONTENT, lists), after(UNAVAILABLE, lists)]).toEqual([
      ['long'],
      [],
      ['a', 'b'],
    ]);
    expect([after(TOO_LONG, { general }), after(REFUSED_CONTENT, { general })]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});
