import { describe, expect, it } from 'vitest';
import type { RateLimit, RateLimits } from '../../src/domain/admission/rate-limits.ts';
import { createSharedRateLimits } from '../../src/runtime/admission/shared-rate-limits.ts';
import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { realClock, someShares } from '../support/shares.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';

const NO_SPARE_CALLS: ShareTiming = { tickMs: 20, minSpareCalls: 0, answerMs: 5_000 };
const SKEW_MS = 90_000;

/** Two processes over one ledger. The clock of the second is `skewMs` ahead, and can be moved. */
async function withTwoProcesses(
  { ledger, prefix }: OpenLedger,
  run: (two: {
    readonly processes: readonly [RateLimits, RateLimits];
    readonly prefix: string;
    readonly moveSecond: (ms: number) => void;
  }) => Promise<void>,
  skewMs = 0,
): Promise<void> {
  let aheadMs = skewMs;
  const skewed = { monotonicMs: () => realClock.monotonicMs() + aheadMs };
  const [first, second] = [
    someShares(ledger, { timing: NO_SPARE_CALLS }),
    someShares(ledger, { timing: NO_SPARE_CALLS, clock: skewed }),
  ];
  try {
    await run({
      processes: [
        createSharedRateLimits({ shares: first, clock: realClock }),
        createSharedRateLimits({ shares: second, clock: skewed }),
      ],
      prefix,
      moveSecond(ms) {
        aheadMs += ms;
      },
    });
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
}

/** Number of calls that were admitted. */
async function countAdmitted(limits: RateLimits, limit: RateLimit, times: number): Promise<number> {
  const decisions = await Promise.all(Array.from({ length: times }, async () => limits.admit([limit], 0)));
  return decisions.filter(({ kind }) => kind === 'admitted').length;
}

function suite(name: string, open: () => OpenLedger): void {
  describe(`two processes that differ, ${name}`, () => {
    it('with limits of 10 and 25: the lower limit holds for its process, and the higher one for both together', () =>
      withTwoProcesses(open(), async ({ processes: [low, high], prefix }) => {
        const limitOf = (kind: 'requests' | 'parallel', amount: number): RateLimit => ({
          scope: 'api_key',
          id: `${prefix}${kind}`,
          [kind]: amount,
        });
        for (const kind of ['requests', 'parallel'] as const) {
          // All admitted calls count for both limits: `low` may add 10 - 8 calls, then `high` 25 - 10.
          // oxlint-disable-next-line no-await-in-loop -- the order decides
          expect(await countAdmitted(high, limitOf(kind, 25), 8)).toBe(8);
          // oxlint-disable-next-line no-await-in-loop -- as above
          expect(await countAdmitted(low, limitOf(kind, 10), 30)).toBe(2);
          // oxlint-disable-next-line no-await-in-loop -- as above
          expect(await countAdmitted(high, limitOf(kind, 25), 60)).toBe(15);
          // oxlint-disable-next-line no-await-in-loop -- as above
          expect(await countAdmitted(low, limitOf(kind, 10), 30)).toBe(0);
        }
      }));

    it.each([SKEW_MS, -SKEW_MS])('with clocks %d ms apart: admit the limit together', (skewMs) =>
      withTwoProcesses(
        open(),
        async ({ processes: [first, second], prefix }) => {
          const limit: RateLimit = { scope: 'api_key', id: `${prefix}skewed`, requests: 20, parallel: 18 };
          expect(await countAdmitted(first, limit, 6)).toBe(6);
          expect(await countAdmitted(second, limit, 7)).toBe(7);
          const [ofFirst, ofSecond] = await Promise.all([
            countAdmitted(first, limit, 40),
            countAdmitted(second, limit, 40),
          ]);
          // The limit of 18 parallel calls is the lower one, and 13 calls are in progress.
          expect(ofFirst + ofSecond).toBe(5);
        },
        skewMs,
      ),
    );

    it('with a clock that jumps by 90 s: begin no new window', () =>
      withTwoProcesses(open(), async ({ processes: [first, second], prefix, moveSecond }) => {
        const limit: RateLimit = { scope: 'api_key', id: `${prefix}jump`, requests: 20 };
        expect((await countAdmitted(first, limit, 8)) + (await countAdmitted(second, limit, 8))).toBe(16);
        moveSecond(SKEW_MS);
        expect((await countAdmitted(second, limit, 40)) + (await countAdmitted(first, limit, 40))).toBe(4);
      }));
  });
}

suite('over a ledger in memory', () => ({ ledger: new MemoryLedger(), prefix: '' }));
withRedis((open) => suite('in Redis', open));
withPostgres((open) => suite('in PostgreSQL', open));
