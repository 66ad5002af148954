import { createMemoryRateLimits } from '../../src/runtime/admission/memory-rate-limits.ts';
import { createSharedRateLimits } from '../../src/runtime/admission/shared-rate-limits.ts';
import type { ShareTiming } from '../../src/runtime/admission/shares.ts';
import { MemoryLedger } from '../support/memory-ledger.ts';
import { realClock, someShares } from '../support/shares.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';
import { rateLimitsSuite } from './rate-limits-suite.ts';

const NO_RESERVE: ShareTiming = { tickMs: 20, minCalls: 0, answerMs: 5_000 };
const WITH_RESERVE: ShareTiming = { tickMs: 5, minCalls: 8, answerMs: 5_000 };

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

for (const timing of [NO_RESERVE, WITH_RESERVE])
  rateLimitsSuite(
    `over a ledger in memory, with a reserve of ${timing.minCalls} calls`,
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
    `${name}, with a reserve of ${timing.minCalls} calls`,
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
  suiteOver('in Redis', open, NO_RESERVE);
  suiteOver('in Redis', open, WITH_RESERVE);
});
withPostgres((open) => suiteOver('in PostgreSQL', open, WITH_RESERVE));
