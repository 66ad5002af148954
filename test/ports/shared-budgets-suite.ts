import { describe, expect, it } from 'vitest';
import type { Admission } from '../../src/domain/admission/admission.ts';
import { createMemoryAdmission } from '../../src/runtime/admission/memory-admission.ts';
import type { ShareTiming, Shares } from '../../src/runtime/admission/shares.ts';
import { randomFrom } from '../support/random.ts';
import { type ProcessTotals, SharedTotals } from '../support/shared-totals.ts';
import { realClock, someShares } from '../support/shares.ts';
import type { OpenLedger } from './ledgers.ts';

interface Process {
  readonly admission: Admission;
  readonly totals: ProcessTotals;
  readonly shares: Shares;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Contract of budgets of several processes over one ledger. `open` returns a ledger, and a prefix of counters that no
 * other test uses.
 */
export function sharedBudgetsSuite(name: string, open: () => OpenLedger, timing: ShareTiming): void {
  async function withThreeProcesses(
    stored: readonly (readonly [string, bigint])[],
    run: (processes: readonly Process[], prefix: string, totals: SharedTotals) => Promise<void>,
  ): Promise<void> {
    const { ledger, prefix } = open();
    const all = new SharedTotals(stored.map(([counter, amount]) => [prefix + counter, amount]));
    const processes = Array.from({ length: 3 }, (): Process => {
      const totals = all.process();
      const shares = someShares(ledger, { timing });
      const admission = createMemoryAdmission({
        totals,
        shares,
        clock: realClock,
        failed: (error) => {
          throw error;
        },
        staleMs: 200,
        refreshAgeMs: 20,
      });
      return { admission, totals, shares };
    });
    try {
      await run(processes, prefix, all);
    } finally {
      await Promise.all(processes.map(({ shares }) => shares.stop()));
    }
  }
  const processAt = (processes: readonly Process[], position: number): Process => {
    const found = processes[position % processes.length];
    if (found === undefined) throw new Error('No process.');
    return found;
  };

  describe(`Budgets of three processes ${name}`, () => {
    it('admit 50 of 300 concurrent calls when 50 calls remain in the budget', () =>
      withThreeProcesses([['key:a', 900n]], async (processes, prefix) => {
        // 100 remain, and each call reserves 2.
        const charge = { counter: `${prefix}key:a`, limit: 1_000n, amount: 2n, refused: 'at' } as const;
        const decisions = await Promise.all(
          Array.from({ length: 300 }, async (_, call) => processAt(processes, call).admission.reserve([charge])),
        );
        expect(decisions.filter(({ kind }) => kind === 'reserved')).toHaveLength(50);
        expect(decisions.find(({ kind }) => kind === 'refused')).toMatchObject({ charge });
      }));

    it('release the unused part of a reservation, also for other processes', () =>
      withThreeProcesses([], async (processes, prefix) => {
        const charge = { counter: `${prefix}key:a`, limit: 10n, amount: 10n, refused: 'at' } as const;
        for (let call = 0; call < 9; call += 1) {
          const { admission, totals } = processAt(processes, call);
          let decision = await admission.reserve([charge]);
          // The process of the previous call reports the end of that call at its next tick.
          while (decision.kind === 'refused') {
            await turn();
            decision = await admission.reserve([charge]);
          }
          totals.record([[charge.counter, 1n]]);
          decision.commit([1n]);
          if (call % 2 === 0) totals.commit();
        }
        const { admission } = processAt(processes, 0);
        // Nine calls have cost 1 each.
        const atLimit = await admission.check([{ ...charge, limit: 9n, amount: 1n }]);
        expect(atLimit?.kind).toBe('refused');
        const belowLimit = await admission.check([{ ...charge, limit: 1_000n }]);
        expect(belowLimit).toBe(null);
      }));

    it.each(Array.from({ length: 8 }, (_, seed) => [seed + 1]))(
      'are exceeded by at most one call and the use beyond reservations, seed %i',
      (seed) =>
        withThreeProcesses([['key:b', 100n]], async (processes, prefix, all) => {
          const random = randomFrom(seed);
          const budgets = ['key:a', 'key:b', 'team:c'].map((counter, position) => ({
            counter: prefix + counter,
            limit: BigInt(400 + 300 * position),
            used: all.stored.get(prefix + counter) ?? 0n,
            reserved: 0n,
            /** Use beyond the reserved amounts. */
            beyond: 0n,
          }));
          let refused = 0;
          async function call(): Promise<void> {
            const { admission, totals } = processAt(processes, random(3));
            const wanted = budgets.filter(() => random(2) === 0);
            const amounts = wanted.map(() => BigInt(1 + random(20)));
            const charges = wanted.map(({ counter, limit }, position) => ({
              counter,
              limit,
              amount: amounts[position] ?? 0n,
              refused: 'at' as const,
            }));
            const decision = await admission.reserve(charges);
            if (decision.kind === 'refused') {
              refused += 1;
              return;
            }
            for (const [position, budget] of wanted.entries()) {
              // A call is admitted only if each budget has an amount left.
              expect(budget.used + budget.reserved - budget.beyond < budget.limit).toBe(true);
              budget.reserved += amounts[position] ?? 0n;
            }
            for (let turns = random(5); turns > 0; turns -= 1) await turn();
            const actual = amounts.map((amount) =>
              random(3) === 0 ? amount + BigInt(random(5)) : BigInt(random(Number(amount) + 1)),
            );
            for (const [position, budget] of wanted.entries()) {
              const [amount, use] = [amounts[position] ?? 0n, actual[position] ?? 0n];
              budget.reserved -= amount;
              budget.used += use;
              if (use > amount) budget.beyond += use - amount;
            }
            totals.record(wanted.map(({ counter }, position) => [counter, actual[position] ?? 0n] as const));
            decision.commit(actual);
          }
          for (let wave = 0; wave < 60; wave += 1) {
            await Promise.all(Array.from({ length: 1 + random(12) }, call));
            if (random(3) > 0) processAt(processes, random(3)).totals.commit();
          }
          expect(refused).toBeGreaterThan(20);
          for (const { used, limit, beyond, reserved } of budgets) {
            expect(reserved).toBe(0n);
            // 20 is the largest amount of a call.
            expect(used < limit + 20n + beyond).toBe(true);
          }
        }),
    );
  });
}
