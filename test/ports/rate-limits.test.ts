import { createMemoryRateLimits } from '../../src/runtime/admission/memory-rate-limits.ts';
import { createSharedRateLimits } from '../../src/runtime/admission/shared-rate-limits.ts';
import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { realClock, someShares } from '../support/shares.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';
import { rateLimitsSuite } from './rate-limits-suite.ts';

const NO_SPARE_CALLS: ShareTiming = { tickMs: 20, minSpareCalls: 0, answerMs: 5_000 };
const EIGHT_SPARE_CALLS: ShareTiming = { tickMs: 5, minSpareCalls: 8, answerMs: 5_000 };

rateLimitsSuite(
  'in memory',
  () => {
    const state = { nowMs: 0 };
    return Promise.resolve({
      processes: [createMemoryRateLimits({ clock: { monotonicMs: () => state.nowMs } })],
      prefix: '',
      advance(ms) {
        state.nowMs += ms;
      },
      close: () => Promise.resolve(),
    });
  },
  1,
);

for (const timing of [NO_SPARE_CALLS, EIGHT_SPARE_CALLS])
  rateLimitsSuite(
    `over a ledger in memory, with room for ${timing.minSpareCalls} spare calls`,
    (count) => {
      const ledger = new MemoryLedger();
      const clock = { monotonicMs: () => ledger.nowMs };
      const all = Array.from({ length: count }, () => someShares(ledger, { clock, timing }));
      return Promise.resolve({
        processes: all.map((shares) => createSharedRateLimits({ shares, clock })),
        prefix: '',
        advance(ms) {
          ledger.nowMs += ms;
        },
        close: async () => void (await Promise.all(all.map((shares) => shares.stop()))),
      });
    },
    3,
  );

function suiteOver(name: string, open: () => OpenLedger, timing: ShareTiming): void {
  rateLimitsSuite(
    `${name}, with room for ${timing.minSpareCalls} spare calls`,
    (count) => {
      const { ledger, prefix } = open();
      const all = Array.from({ length: count }, () => someShares(ledger, { timing }));
      return Promise.resolve({
        processes: all.map((shares) => createSharedRateLimits({ shares, clock: realClock })),
        prefix,
        close: async () => void (await Promise.all(all.map((shares) => shares.stop()))),
      });
    },
    3,
  );
}

withRedis((open) => {
  suiteOver('in Redis', open, NO_SPARE_CALLS);
  suiteOver('in Redis', open, EIGHT_SPARE_CALLS);
});
withPostgres((open) => suiteOver('in PostgreSQL', open, EIGHT_SPARE_CALLS));
