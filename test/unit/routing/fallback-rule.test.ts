import { describe, expect, it } from 'vitest';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { NO_RETRIES, type Retries } from '../../../src/domain/inference/retries.ts';
import { fallbacksAfter } from '../../../src/domain/routing/fallback-rule.ts';
import { DEFAULT_ROUTING, type FallbackPolicy } from '../../../src/domain/routing/routing-policy.ts';

const AWAY = new UpstreamFailed('away', { provider: 'openai', upstreamStatus: 500 });
const LONG = new UpstreamFailed('maximum context', { provider: 'openai', upstreamStatus: 400 });
const RUDE = new UpstreamFailed('content_filter', { provider: 'openai', upstreamStatus: 400 });
const general = new Map([['m', ['a', 'b']]]);

const after = (failure: UpstreamFailed, policy: Partial<FallbackPolicy>, retries: Partial<Retries> = {}, model = 'm') =>
  fallbacksAfter(failure, model, {
    retries: { ...NO_RETRIES, ...retries },
    policy: { ...DEFAULT_ROUTING.fallbacks, ...policy },
  }).map((fallback) => fallback.model);

describe('the fallbacks of a model', () => {
  it('are its own list, otherwise that of every model, otherwise the default list', () => {
    expect(after(AWAY, {})).toEqual([]);
    expect(after(AWAY, { general, standard: ['s'] })).toEqual(['a', 'b']);
    expect(after(AWAY, { general: new Map([['*', ['w']]]), standard: ['s'] })).toEqual(['w']);
    expect(after(AWAY, { general: new Map([['x', ['y']]]), standard: ['s'] })).toEqual(['s']);
  });

  it('are found with and without a provider prefix', () => {
    expect(after(AWAY, { general }, {}, 'openai/m')).toEqual(['a', 'b']);
    expect(after(AWAY, { general: new Map([['openai/m', ['a']]]) })).toEqual(['a']);
  });

  it('have every model once, never the failed one, and at most the configured number', () => {
    expect(after(AWAY, { general: new Map([['m', ['a', 'm', 'a', 'b', 'c']]]), most: 2 })).toEqual(['a', 'b']);
  });

  it('are replaced by those of a request, or disabled by it', () => {
    expect(after(AWAY, { general }, { fallbacks: [{ model: 'mine', members: {} }] })).toEqual(['mine']);
    expect(after(AWAY, { general }, { withoutFallbacks: true })).toEqual([]);
    expect(after(LONG, { general }, { contextFallbacks: new Map([['m', 'long']]) })).toEqual(['long']);
  });

  it('have separate lists for too long conversations and refused content where one is configured', () => {
    const lists = { general, contextWindow: new Map([['m', ['long']]]), contentPolicy: new Map([['x', ['kind']]]) };
    expect([after(LONG, lists), after(RUDE, lists), after(AWAY, lists)]).toEqual([['long'], [], ['a', 'b']]);
    expect([after(LONG, { general }), after(RUDE, { general })]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});
