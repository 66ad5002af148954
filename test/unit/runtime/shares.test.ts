import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LEDGER_LEASE_MS } from '../../../src/domain/admission/ledger.ts';
import type { RateAdmission, RateLimit, RateLimits } from '../../../src/domain/admission/rate-limits.ts';
import { createMemoryAdmission } from '../../../src/runtime/admission/memory-admission.ts';
import { createSharedRateLimits } from '../../../src/runtime/admission/shared-rate-limits.ts';
import type { ShareTiming, Shares } from '../../../src/runtime/admission/shares.ts';
import { MemoryLedger } from '../../support/memory-ledger.ts';
import { SharedTotals } from '../../support/shared-totals.ts';
import { someShares } from '../../support/shares.ts';

const FOR_ONE_CALL: ShareTiming = { tickMs: 100, minSpareCalls: 0, answerMs: 250 };
const FOR_EIGHT_CALLS: ShareTiming = { tickMs: 500, minSpareCalls: 8, answerMs: 250 };

interface Process {
  readonly shares: Shares;
  readonly limits: RateLimits;
  /** Failures of the ledger as reported, and null for each recovery. */
  readonly ledgerReports: unknown[];
}

describe('shares of limits', () => {
  let ledger: MemoryLedger;
  let opened: Shares[];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    ledger = new MemoryLedger();
    opened = [];
  });
  afterEach(async () => {
    ledger.isUnavailable = false;
    await Promise.all(opened.map((shares) => shares.stop()));
    vi.useRealTimers();
  });

  const clock = { monotonicMs: () => ledger.nowMs };

  function aProcess(process: string, timing = FOR_ONE_CALL): Process {
    const ledgerReports: unknown[] = [];
    const shares = someShares(ledger, {
      process,
      clock,
      timing,
      changed: (failure) => void ledgerReports.push(failure),
    });
    opened.push(shares);
    return { shares, limits: createSharedRateLimits({ shares, clock }), ledgerReports };
  }

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      ledger.nowMs += 100;
      await vi.advanceTimersByTimeAsync(100);
    }
  }

  async function admitted(limits: RateLimits, limit: RateLimit, count: number): Promise<readonly RateAdmission[]> {
    const calls = [];
    for (let call = 0; call < count; call += 1) {
      const decision = await limits.admit([limit], 0);
      if (decision.kind === 'admitted') calls.push(decision);
    }
    return calls;
  }

  const requests = (max: number): RateLimit => ({ scope: 'api_key', id: 'k', requests: max });
  const slots = (max: number): RateLimit => ({ scope: 'api_key', id: 'k', parallel: max });
  const SLOTS = 'rate:max_parallel_requests:api_key:k';

  it('are requested once for concurrent calls, and not at all while some are left', async () => {
    const { limits } = aProcess('p', FOR_EIGHT_CALLS);
    const everyLimit: RateLimit = { scope: 'api_key', id: 'k', requests: 1_000, tokens: 100_000, parallel: 1_000 };
    const decisions = await Promise.all(Array.from({ length: 50 }, async () => limits.admit([everyLimit], 10)));
    expect(decisions.every(({ kind }) => kind === 'admitted')).toBe(true);
    expect(ledger.trips).toBe(1);
    expect(limits.admit([everyLimit], 10)).not.toBeInstanceOf(Promise);
    expect(ledger.trips).toBe(1);
  });

  it('are requested in one round trip by a call with every limit', async () => {
    const { limits } = aProcess('p');
    const scopes = (['api_key', 'team', 'user', 'project'] as const).map((scope): RateLimit => ({
      scope,
      id: 'x',
      requests: 10,
      tokens: 100,
      parallel: 10,
    }));
    expect((await limits.admit(scopes, 5)).kind).toBe('admitted');
    expect(ledger.trips).toBe(1);
  });

  it('are returned when they are not used', async () => {
    const [processP, processQ] = [aProcess('p', FOR_EIGHT_CALLS), aProcess('q', FOR_EIGHT_CALLS)];
    const limit = slots(64);
    const calls = await admitted(processP.limits, limit, 1);
    expect(ledger.shareOf('p', SLOTS)).toBeGreaterThan(1n);
    for (const call of calls) call.settle(null);
    await pass(5_000);
    expect(ledger.shareOf('p', SLOTS)).toBe(0n);
    expect(await admitted(processQ.limits, limit, 65)).toHaveLength(64);
  });

  it('are returned completely, also where they are a small part of the limit', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    for (const call of await admitted(processP.limits, slots(100), 1)) call.settle(null);
    await admitted(processP.limits, requests(100), 20);
    const budgets = [processP, processQ].map(({ shares }) =>
      createMemoryAdmission({ totals: new SharedTotals().process(), shares, clock, failed: () => {} }),
    );
    const reserve = async (position: number): Promise<string | undefined> => {
      const deciding = budgets[position]?.reserve([{ counter: 'key:a', limit: 20n, amount: 1n, refused: 'at' }]);
      await vi.advanceTimersByTimeAsync(1);
      const decision = await deciding;
      if (position === 0 && decision?.kind === 'reserved') decision.release();
      return decision?.kind;
    };
    expect(await reserve(0)).toBe('reserved');
    await pass(2_000);
    const decisions = [];
    for (let call = 0; call < 21; call += 1) decisions.push(await reserve(1));
    expect(decisions.indexOf('refused')).toBe(20);
    expect(await admitted(processQ.limits, slots(100), 101)).toHaveLength(100);
    expect(await admitted(processQ.limits, requests(100), 81)).toHaveLength(80);
  });

  it('that are prepared for a call are used by this call, or returned when it is never made', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    processP.limits.prepare([requests(2)], 0);
    await vi.advanceTimersByTimeAsync(1);
    expect(processP.limits.admit([requests(2)], 0)).toMatchObject({ kind: 'admitted' });
    expect(ledger.trips).toBe(1);
    processP.limits.prepare([requests(2)], 0);
    await pass(1_000);
    expect(await admitted(processQ.limits, requests(2), 2)).toHaveLength(1);
  });

  it('are held while their process sends heartbeats, and are free after it has left the ledger', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    await admitted(processP.limits, slots(3), 3);
    expect(await admitted(processQ.limits, slots(3), 1)).toHaveLength(0);
    await pass(20_000);
    // The heartbeats of `p` keep the slots of its calls.
    expect(await admitted(processQ.limits, slots(3), 1)).toHaveLength(0);
    await ledger.leave('p');
    expect(await admitted(processQ.limits, slots(3), 1)).toHaveLength(1);
  });

  it('are free for other processes after a stall as long as the lease, and count again after the stall', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    await admitted(processP.limits, slots(3), 3);
    // No timer fires meanwhile, so that `p` sends no heartbeat.
    ledger.nowMs += LEDGER_LEASE_MS;
    expect(await admitted(processQ.limits, slots(3), 4)).toHaveLength(3);
    expect(ledger.shareOf('p', SLOTS)).toBe(0n);
    await pass(500);
    expect(ledger.shareOf('p', SLOTS)).toBe(3n);
    expect(await admitted(processP.limits, slots(3), 1)).toHaveLength(0);
  });

  it('that are unused admit no call after a stall as long as the lease', async () => {
    const [processP, processQ] = [aProcess('p', FOR_EIGHT_CALLS), aProcess('q', FOR_EIGHT_CALLS)];
    const budgets = [processP, processQ].map(({ shares }) =>
      createMemoryAdmission({ totals: new SharedTotals().process(), shares, clock, failed: () => {} }),
    );
    async function reserved(position: number, count: number): Promise<number> {
      let passed = 0;
      for (let call = 0; call < count; call += 1) {
        const deciding = budgets[position]?.reserve([{ counter: 'key:a', limit: 64n, amount: 1n, refused: 'at' }]);
        await vi.advanceTimersByTimeAsync(1);
        if ((await deciding)?.kind === 'reserved') passed += 1;
      }
      return passed;
    }
    await admitted(processP.limits, slots(64), 1);
    await reserved(0, 1);
    expect(ledger.shareOf('p', SLOTS)).toBeGreaterThan(1n);
    expect(ledger.shareOf('p', 'key:a')).toBeGreaterThan(1n);
    // No timer of `p` fires meanwhile, so that it sends no heartbeat before its next call.
    ledger.nowMs += LEDGER_LEASE_MS;
    expect(await admitted(processQ.limits, slots(64), 65)).toHaveLength(64);
    expect(await reserved(1, 65)).toBe(64);
    expect(await admitted(processP.limits, slots(64), 1)).toHaveLength(0);
    expect(await reserved(0, 1)).toBe(0);
  });

  it('that are unused are not reported after a stall as long as the lease, only the calls under way', async () => {
    const [processP, processQ] = [aProcess('p', FOR_EIGHT_CALLS), aProcess('q', FOR_EIGHT_CALLS)];
    const budgets = [processP, processQ].map(({ shares }) =>
      createMemoryAdmission({ totals: new SharedTotals().process(), shares, clock, failed: () => {} }),
    );
    const reserve = async (position: number): Promise<string | undefined> => {
      const deciding = budgets[position]?.reserve([{ counter: 'key:a', limit: 64n, amount: 1n, refused: 'at' }]);
      await vi.advanceTimersByTimeAsync(1);
      return (await deciding)?.kind;
    };
    await admitted(processP.limits, slots(64), 1);
    expect(await reserve(0)).toBe('reserved');
    expect(ledger.shareOf('p', SLOTS)).toBe(9n);
    expect(ledger.shareOf('p', 'key:a')).toBe(9n);
    ledger.nowMs += LEDGER_LEASE_MS;
    expect(await admitted(processQ.limits, slots(64), 65)).toHaveLength(64);
    for (let call = 0; call < 64; call += 1) await reserve(1);
    // The first tick of `p` reports its shares before its next call.
    await pass(600);
    expect(ledger.shareOf('p', SLOTS)).toBe(1n);
    expect(await admitted(processP.limits, slots(64), 1)).toHaveLength(0);
    expect(await reserve(0)).toBe('refused');
  });

  it('that are unused are returned after a short loss of the ledger', async () => {
    const { limits } = aProcess('p', FOR_EIGHT_CALLS);
    for (const call of await admitted(limits, slots(64), 1)) call.settle(null);
    expect(ledger.shareOf('p', SLOTS)).toBe(9n);
    ledger.isUnavailable = true;
    // The request that returns the room is lost.
    await pass(4_000);
    ledger.isUnavailable = false;
    await pass(5_000);
    expect(ledger.shareOf('p', SLOTS)).toBe(0n);
  });

  it('that are requested for a call that another limit refuses are returned', async () => {
    const { limits } = aProcess('p', FOR_EIGHT_CALLS);
    expect((await limits.admit([{ ...slots(64), tokens: 10 }], 11)).kind).toBe('refused');
    expect(ledger.shareOf('p', SLOTS)).toBe(9n);
    await pass(5_000);
    expect(ledger.shareOf('p', SLOTS)).toBe(0n);
  });

  it('are local while the ledger is unavailable: each process admits at most the limit, and reports its calls later', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    expect(await admitted(processP.limits, requests(10), 4)).toHaveLength(4);
    expect(await admitted(processQ.limits, requests(10), 3)).toHaveLength(3);
    ledger.isUnavailable = true;
    // The window continues with the rest that the ledger last reported to each process.
    expect(await admitted(processP.limits, requests(10), 20)).toHaveLength(6);
    expect((await admitted(processQ.limits, requests(10), 20)).length).toBeLessThanOrEqual(3);
    expect([processP.ledgerReports.length, processP.shares.counts(), processQ.shares.isUnavailable()]).toEqual([
      1,
      { isUnavailable: true, losses: 1 },
      true,
    ]);
    await pass(60_000);
    expect(await admitted(processP.limits, requests(10), 20)).toHaveLength(10);
    expect(processP.ledgerReports).toHaveLength(1);
    ledger.isUnavailable = false;
    await pass(500);
    expect([processP.ledgerReports.at(-1), processP.shares.isUnavailable(), processQ.shares.isUnavailable()]).toEqual([
      null,
      false,
      false,
    ]);
    // The local counts have been reported to the ledger.
    expect(await admitted(processQ.limits, requests(10), 5)).toHaveLength(0);
  });

  it('are invalid after the ledger lost its data, and used shares are reported again', async () => {
    const [processP, processQ] = [aProcess('p'), aProcess('q')];
    await admitted(processP.limits, slots(5), 4);
    ledger.clear();
    // The next heartbeat detects the loss.
    await pass(4_000);
    expect(ledger.shareOf('p', SLOTS)).toBe(4n);
    expect(await admitted(processQ.limits, slots(5), 5)).toHaveLength(1);
  });

  it('are local without a wait when the ledger is known to be unavailable', async () => {
    const { limits } = aProcess('p');
    await admitted(limits, slots(9), 1);
    ledger.isUnavailable = true;
    await admitted(limits, slots(9), 1);
    expect(limits.admit([slots(9)], 0)).not.toBeInstanceOf(Promise);
    expect(ledger.trips).toBe(2);
  });

  it('are local when the ledger does not answer within 250 ms', async () => {
    const { limits, ledgerReports } = aProcess('p');
    vi.spyOn(ledger, 'requestShares').mockReturnValue(new Promise(() => {}));
    const waiting = limits.admit([slots(2)], 0);
    await vi.advanceTimersByTimeAsync(300);
    expect(await waiting).toMatchObject({ kind: 'admitted' });
    expect(ledgerReports).toMatchObject([{ message: 'The ledger did not answer within 250 ms.' }]);
    vi.restoreAllMocks();
  });

  it('for budgets are counted locally without the ledger, and reported to it later', async () => {
    const stored = new SharedTotals();
    const admitOneIn = ['p', 'q'].map((name) => {
      const { shares } = aProcess(name);
      const totals = stored.process();
      const admission = createMemoryAdmission({ totals, shares, clock, failed: () => {} });
      return async (): Promise<boolean> => {
        const deciding = admission.reserve([{ counter: 'key:a', limit: 10n, amount: 1n, refused: 'at' }]);
        await vi.advanceTimersByTimeAsync(1);
        const decision = await deciding;
        if (decision.kind === 'refused') return false;
        totals.record([['key:a', 1n]]);
        decision.commit([1n]);
        totals.commit();
        return true;
      };
    });
    const admit = async (position: number, count: number): Promise<number> => {
      let passed = 0;
      for (let call = 0; call < count; call += 1) if ((await admitOneIn[position]?.()) === true) passed += 1;
      return passed;
    };
    expect([await admit(0, 2), await admit(1, 2)]).toEqual([2, 2]);
    ledger.isUnavailable = true;
    ledger.clear();
    expect(await admit(0, 3)).toBe(3);
    await pass(6_000);
    ledger.isUnavailable = false;
    await pass(500);
    // Seven of ten are used: two by each process before, and three by the first one meanwhile.
    expect(await admit(1, 9)).toBe(3);
    expect(await admit(0, 1)).toBe(0);
  });
});
