import { describe, expect, it } from 'vitest';
import type { RateAdmission, RateLimit, RateRefusal } from '../../../src/domain/admission/rate-limits.ts';
import { createMemoryRateLimits } from '../../../src/runtime/admission/memory-rate-limits.ts';

const KEY: RateLimit = { scope: 'api_key', id: 'k', requests: 2, tokens: 100, parallel: 1 };

function aSetup() {
  const state = { nowMs: 0 };
  return { state, limits: createMemoryRateLimits({ clock: { monotonicMs: () => state.nowMs } }) };
}

const admitted = (decision: RateAdmission | RateRefusal): RateAdmission => {
  if (decision.kind !== 'admitted') throw new Error(`refused: ${decision.type}`);
  return decision;
};

describe('rate limits', () => {
  it('begin a window with the first request, and the next one a minute later', () => {
    const { limits, state } = aSetup();
    const twoRequests = [{ scope: 'api_key', id: 'k', requests: 2 } as const];
    state.nowMs = 30_000;
    admitted(limits.admit(twoRequests, 0));
    expect(admitted(limits.admit(twoRequests, 0)).standings).toEqual([
      { scope: 'api_key', type: 'requests', limit: 2, remaining: 0 },
    ]);
    state.nowMs = 89_999;
    expect(limits.admit(twoRequests, 0)).toMatchObject({ kind: 'refused', type: 'requests', limit: 2, remaining: 0 });
    state.nowMs = 90_000;
    admitted(limits.admit(twoRequests, 0));
  });

  it('do not count requests that the request limit refuses', () => {
    const { limits } = aSetup();
    const teamLimit: RateLimit = { scope: 'team', id: 't', requests: 10 };
    const tight: RateLimit = { scope: 'api_key', id: 'k', requests: 0 };
    expect(limits.admit([teamLimit, tight], 0)).toMatchObject({ scope: 'api_key' });
    expect(admitted(limits.admit([teamLimit], 0)).standings).toMatchObject([{ remaining: 9 }]);
  });

  it('free the slot of a call that the token limit refuses, and still count its request', () => {
    const { limits } = aSetup();
    expect(limits.admit([KEY], 101)).toMatchObject({ type: 'tokens', remaining: 100 });
    expect(admitted(limits.admit([KEY], 0)).standings).toEqual([
      { scope: 'api_key', type: 'requests', limit: 2, remaining: 0 },
      { scope: 'api_key', type: 'tokens', limit: 100, remaining: 100 },
      { scope: 'api_key', type: 'max_parallel_requests', limit: 1, remaining: 0 },
    ]);
  });

  it('ignore a second end of a call', () => {
    const { limits } = aSetup();
    const tokens: RateLimit = { scope: 'api_key', id: 'k', tokens: 100 };
    const call = admitted(limits.admit([tokens], 60));
    call.settle(90);
    call.settle(0);
    expect(limits.admit([tokens], 11)).toMatchObject({ type: 'tokens', remaining: 10 });
  });

  it('free a slot an hour after its call began', () => {
    const { limits, state } = aSetup();
    const slots: RateLimit = { scope: 'api_key', id: 'k', parallel: 1 };
    admitted(limits.admit([slots], 0));
    state.nowMs = 3_599_999;
    expect(limits.admit([slots], 0)).toMatchObject({ type: 'max_parallel_requests' });
    state.nowMs = 3_600_000;
    admitted(limits.admit([slots], 0));
  });
});

/** Random whole numbers below `bound`. The same seed gives the same numbers. */
function randomFrom(seed: number) {
  let state = seed;
  return (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** A counted request of one scope, or with `atMs` -1, tokens that were settled after the window of their request. */
interface Entry {
  readonly id: string;
  readonly atMs: number;
  readonly windowMs: number;
  tokens: number;
}

/** A model of the rules, over a list of all requests. */
function createModel() {
  const windows = new Map<string, number>();
  const requests: Entry[] = [];
  const open = new Set<{ readonly ids: readonly string[]; readonly entries: readonly Entry[] }>();

  function windowOf(id: string, nowMs: number): number {
    const began = windows.get(id);
    if (began !== undefined && nowMs - began < 60_000) return began;
    windows.set(id, nowMs);
    return nowMs;
  }
  const inWindow = (id: string, nowMs: number) => {
    const windowMs = windowOf(id, nowMs);
    return requests.filter((entry) => entry.id === id && entry.windowMs === windowMs);
  };
  const allows = (type: string, { id, ...limit }: RateLimit, nowMs: number, expected: number): boolean => {
    const entries = inWindow(id, nowMs);
    // Tokens settled after their window are entries without a request.
    const count = entries.filter(({ atMs }) => atMs >= 0).length;
    if (type === 'requests') return limit.requests === undefined || count < limit.requests;
    if (type === 'tokens')
      return limit.tokens === undefined || entries.reduce((sum, { tokens }) => sum + tokens, expected) <= limit.tokens;
    return limit.parallel === undefined || [...open].filter(({ ids }) => ids.includes(id)).length < limit.parallel;
  };
  return {
    admit(limits: readonly RateLimit[], expected: number, nowMs: number) {
      for (const { id } of limits) windowOf(id, nowMs);
      const exceededLimit = (type: string) => limits.find((limit) => !allows(type, limit, nowMs, expected));
      const exceeded = exceededLimit('requests');
      if (exceeded !== undefined) return { refused: `${exceeded.id} requests` };
      const entries = limits.map(({ id }) => ({ id, atMs: nowMs, windowMs: windowOf(id, nowMs), tokens: 0 }));
      requests.push(...entries);
      for (const type of ['max_parallel_requests', 'tokens']) {
        const refusing = exceededLimit(type);
        if (refusing !== undefined) return { refused: `${refusing.id} ${type}` };
      }
      for (const entry of entries) entry.tokens = expected;
      const call = { ids: limits.map(({ id }) => id), entries };
      open.add(call);
      return {
        refused: null,
        settle(used: number, endMs: number): void {
          open.delete(call);
          for (const entry of entries) {
            const windowMs = windowOf(entry.id, endMs);
            if (windowMs === entry.windowMs) entry.tokens = used;
            else requests.push({ id: entry.id, atMs: -1, windowMs, tokens: used });
          }
        },
      };
    },
  };
}

describe('random calls of random scopes', () => {
  it.each(Array.from({ length: 60 }, (_, seed) => [seed + 1]))('get the decisions of the model: seed %i', (seed) => {
    const random = randomFrom(seed);
    const { limits, state } = aSetup();
    const model = createModel();
    const maybe = (bound: number): number | undefined => (random(3) === 0 ? undefined : random(bound));
    const scopes: readonly RateLimit[] = (['api_key', 'team', 'user', 'model_per_key'] as const).map((scope) => ({
      scope,
      id: scope,
      requests: maybe(6),
      tokens: maybe(300),
      parallel: maybe(4),
    }));
    const calls: { end: (tokens: number) => void }[] = [];
    for (let step = 0; step < 200; step += 1) {
      state.nowMs += random(20_000);
      const call = calls.length > 0 && random(2) === 0 ? calls.splice(random(calls.length), 1)[0] : undefined;
      if (call !== undefined) {
        call.end(random(80));
        continue;
      }
      const chosen = scopes.filter(() => random(2) === 0);
      const expected = random(60);
      const decision = limits.admit(chosen, expected);
      const modelDecision = model.admit(chosen, expected, state.nowMs);
      expect(decision.kind === 'refused' ? `${decision.id} ${decision.type}` : null).toBe(modelDecision.refused);
      if (decision.kind === 'admitted' && modelDecision.refused === null)
        calls.push({
          end(tokens) {
            decision.settle(tokens);
            modelDecision.settle?.(tokens, state.nowMs);
          },
        });
    }
  });
});
