import { describe, expect, it } from 'vitest';
import type { RateAdmission, RateLimit, RateLimits, RateRefusal } from '../../src/domain/admission/rate-limits.ts';
import { randomFrom } from '../support/random.ts';

/** Processes with shared counters. No other test uses their ids or the ids of their limits. */
export interface RateLimitsUnderTest {
  readonly processes: readonly RateLimits[];
  /** Begins the ids of the limits. */
  readonly prefix: string;
  /** Advances the clock of all processes. Absent if the clock is real. */
  readonly advance?: (ms: number) => void;
  close(): Promise<void>;
}

const admitted = (decision: RateAdmission | RateRefusal): RateAdmission => {
  if (decision.kind === 'refused') throw new Error(`refused: ${decision.scope} ${decision.type}`);
  return decision;
};

/** Contract of every RateLimits. Tests of shared limits open `processCount` processes, all others open one. */
export function rateLimitsSuite(
  name: string,
  open: (count: number) => Promise<RateLimitsUnderTest>,
  processCount: number,
): void {
  async function withProcesses(count: number, run: (under: RateLimitsUnderTest) => Promise<void>): Promise<void> {
    const under = await open(count);
    try {
      await run(under);
    } finally {
      await under.close();
    }
  }
  const withOneProcess = (run: (limits: RateLimits, prefix: string, under: RateLimitsUnderTest) => Promise<void>) =>
    withProcesses(1, (under) => run(first(under), under.prefix, under));

  describe(`RateLimits ${name}`, () => {
    it('names the first limit that does not admit a call, and what remains of it', () =>
      withOneProcess(async (limits, prefix) => {
        const key: RateLimit = { scope: 'api_key', id: `${prefix}k`, requests: 2, tokens: 100, parallel: 2 };
        const team: RateLimit = { scope: 'team', id: `${prefix}t`, requests: 9 };
        expect(admitted(await limits.admit([team, key], 40)).standings).toEqual([
          { scope: 'team', type: 'requests', limit: 9, remaining: 8 },
          { scope: 'api_key', type: 'requests', limit: 2, remaining: 1 },
          { scope: 'api_key', type: 'tokens', limit: 100, remaining: 60 },
          { scope: 'api_key', type: 'max_parallel_requests', limit: 2, remaining: 1 },
        ]);
        expect(await limits.admit([team, key], 61)).toEqual({
          kind: 'refused',
          scope: 'api_key',
          id: `${prefix}k`,
          type: 'tokens',
          limit: 100,
          remaining: 60,
        });
        // A call refused for its tokens counts as a request. A call refused for its requests does not.
        expect(await limits.admit([team, key], 0)).toMatchObject({ type: 'requests', remaining: 0 });
        expect(admitted(await limits.admit([team], 0)).standings).toMatchObject([{ remaining: 6 }]);
      }));

    it('counts a call only in the dimensions in which the call has a limit', () =>
      withOneProcess(async (limits, prefix) => {
        const pool = { scope: 'model_per_team', id: `${prefix}t:m` } as const;
        const both: RateLimit = { ...pool, requests: 2, tokens: 100 };
        admitted(await limits.admit([{ ...pool, tokens: 100 }], 30)).settle(20);
        admitted(await limits.admit([{ ...pool, requests: 2 }], 90)).settle(80);
        expect(admitted(await limits.admit([both], 10)).standings).toEqual([
          { scope: 'model_per_team', type: 'requests', limit: 2, remaining: 0 },
          { scope: 'model_per_team', type: 'tokens', limit: 100, remaining: 70 },
        ]);
      }));

    it('replaces expected tokens by used ones, and frees the slot once', () =>
      withOneProcess(async (limits, prefix) => {
        const key: RateLimit = { scope: 'api_key', id: `${prefix}k`, tokens: 100, parallel: 1 };
        const call = admitted(await limits.admit([key], 90));
        expect(await limits.admit([key], 0)).toMatchObject({ type: 'max_parallel_requests' });
        call.settle(20);
        call.settle(70);
        const next = admitted(await limits.admit([key], 80));
        expect(next.standings).toMatchObject([{ remaining: 0 }, { remaining: 0 }]);
        // The call used no tokens.
        next.settle(null);
        expect(admitted(await limits.admit([key], 80)).kind).toBe('admitted');
      }));

    it.each([1, processCount])('admits exactly the limit of concurrent calls (%i processes)', (count) =>
      withProcesses(count, async ({ processes, prefix }) => {
        const requests: RateLimit = { scope: 'api_key', id: `${prefix}r`, requests: 37 };
        const parallel: RateLimit = { scope: 'team', id: `${prefix}p`, parallel: 23 };
        const tokens: RateLimit = { scope: 'user', id: `${prefix}t`, tokens: 290 };
        const decide = async (limit: RateLimit, expected: number) =>
          (
            await Promise.all(
              Array.from({ length: 200 }, async (_, index) =>
                (processes[index % processes.length] ?? first({ processes })).admit([limit], expected),
              ),
            )
          ).filter(({ kind }) => kind === 'admitted').length;
        expect(await decide(requests, 0)).toBe(37);
        expect(await decide(parallel, 0)).toBe(23);
        expect(await decide(tokens, 10)).toBe(29);
      }),
    );

    it.each(Array.from({ length: 8 }, (_, seed) => [seed + 1]))(
      `exceeds no limit in ${processCount} processes with random scopes and interleavings, seed %i`,
      (seed) =>
        withProcesses(processCount, async ({ processes, prefix }) => {
          const random = randomFrom(seed);
          const scopes = (['api_key', 'team', 'user', 'organization'] as const).map((scope) => ({
            scope,
            id: `${prefix}${scope}`,
            requests: 40 + random(60),
            tokens: 500 + random(2_000),
            parallel: 2 + random(8),
          }));
          const sums = scopes.map(() => ({ requests: 0, tokens: 0, parallel: 0 }));
          let refused = 0;
          async function call(): Promise<void> {
            const chosen = scopes.map((_, index) => index).filter(() => random(2) === 0);
            const expected = random(40);
            const process = processes[random(processes.length)] ?? first({ processes });
            const decision = await process.admit(
              chosen.flatMap((index) => scopes[index] ?? []),
              expected,
            );
            if (decision.kind === 'refused') {
              refused += 1;
              return;
            }
            for (const index of chosen) {
              const [counts, limits] = [sums[index], scopes[index]];
              if (counts === undefined || limits === undefined) continue;
              counts.requests += 1;
              counts.tokens += expected;
              counts.parallel += 1;
              expect(counts.requests).toBeLessThanOrEqual(limits.requests);
              expect(counts.tokens).toBeLessThanOrEqual(limits.tokens);
              expect(counts.parallel).toBeLessThanOrEqual(limits.parallel);
            }
            for (let turns = random(6); turns > 0; turns -= 1) await turn();
            for (const index of chosen) {
              const counts = sums[index];
              if (counts !== undefined) counts.parallel -= 1;
            }
            decision.settle(expected);
          }
          for (let wave = 0; wave < 40; wave += 1) await Promise.all(Array.from({ length: 1 + random(20) }, call));
          expect(refused).toBeGreaterThan(50);
          for (const [index, { requests }] of sums.entries()) {
            // Some refused calls also count as requests, so the sum of admitted calls may stay below the limit.
            expect(requests).toBeGreaterThan(0);
            expect(requests).toBeLessThanOrEqual(scopes[index]?.requests ?? 0);
          }
        }),
    );

    it.each([
      // Three of the ten requests of the lowered limit were admitted under the higher limit.
      [1, 7],
      // Other processes return their grants under the higher limit with their next call.
      [processCount, 0],
    ])('applies a lowered limit immediately, and a raised one again (%i processes)', (count, minAdmitted) =>
      withProcesses(count, async ({ processes, prefix }) => {
        const calls = async (requests: number, times: number): Promise<number> => {
          let passed = 0;
          for (let call = 0; call < times; call += 1) {
            const limits = processes[call % processes.length] ?? first({ processes });
            const decision = await limits.admit([{ scope: 'api_key', id: `${prefix}l`, requests }], 0);
            if (decision.kind === 'admitted') passed += 1;
          }
          return passed;
        };
        expect(await calls(100, 3)).toBe(3);
        const lowered = await calls(10, 40);
        expect(lowered).toBeLessThanOrEqual(7);
        expect(lowered).toBeGreaterThanOrEqual(minAdmitted);
        expect(await calls(100, 3)).toBe(3);
      }),
    );

    it('begins a new window after a minute', ({ skip }) =>
      withOneProcess(async (limits, prefix, { advance }) => {
        if (advance === undefined) return skip('The clock is real.');
        const key: RateLimit = { scope: 'api_key', id: `${prefix}k`, requests: 1, tokens: 50 };
        const call = admitted(await limits.admit([key], 50));
        advance(59_999);
        expect(await limits.admit([key], 0)).toMatchObject({ type: 'requests' });
        advance(1);
        call.settle(30);
        // The window in which the call began has ended: the 30 tokens of the call count in the current window.
        expect(await limits.admit([key], 21)).toMatchObject({ type: 'tokens', remaining: 20 });
        expect(await limits.admit([key], 0)).toMatchObject({ type: 'requests' });
        advance(60_000);
        admitted(await limits.admit([key], 50));
      }));
  });
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function first({ processes }: Pick<RateLimitsUnderTest, 'processes'>): RateLimits {
  const [limits] = processes;
  if (limits === undefined) throw new Error('No process.');
  return limits;
}
