import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimit } from '../../src/domain/admission/rate-limits.ts';
import { createMemoryAdmission } from '../../src/runtime/admission/memory-admission.ts';
import { createRedisLedger } from '../../src/runtime/admission/redis/redis-ledger.ts';
import { createSharedRateLimits } from '../../src/runtime/admission/shared-rate-limits.ts';
import { anyRedis, HAS_REDIS } from '../support/redis.ts';
import { SharedTotals } from '../support/shared-totals.ts';
import { realClock, someShares } from '../support/shares.ts';

describe.runIf(HAS_REDIS)('a Redis ledger with foreign values under its keys', () => {
  let server: Awaited<ReturnType<typeof anyRedis>>;
  let redis: Redis;

  beforeAll(async () => {
    server = await anyRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  /** Two processes over one namespace, and the losses of data that they report. */
  function twoProcesses(namespace: string) {
    const losses: unknown[] = [];
    const processes = [1, 2].map(() => {
      const shares = someShares(createRedisLedger(redis, namespace), {
        changed: (failure) => void losses.push(failure),
      });
      const totals = new SharedTotals().process();
      const admission = createMemoryAdmission({
        totals,
        shares,
        clock: realClock,
        failed(error) {
          throw error;
        },
      });
      return { shares, admission, limits: createSharedRateLimits({ shares, clock: realClock }) };
    });
    return { losses, processes };
  }

  const FOREIGN: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    'a string': (key) => redis.set(key, 'x'),
    'a list': (key) => redis.rpush(key, 'x'),
    // Fields that the ledger itself uses, and another one.
    'a hash of texts': (key) => redis.hset(key, { v: 'x', b: 'x', w: 'x', 't:p': 'x', 'c:p': 'x', other: 'x' }),
  };

  it.each(Object.keys(FOREIGN))('recovers from %s: both processes together admit exactly the limit', async (kind) => {
    const namespace = `test-${randomUUID()}`;
    const limit: RateLimit = { scope: 'api_key', id: 'k', requests: 7, tokens: 1_000, parallel: 9 };
    const names = ['requests', 'tokens', 'max_parallel_requests'].map((type) => `rate:${type}:api_key:k`);
    for (const name of ['processes', ...names, 'key:k']) await FOREIGN[kind]?.(`{${namespace}:admission}:${name}`);
    const { processes, losses } = twoProcesses(namespace);
    let [admitted, reserved] = [0, 0];
    for (let call = 0; call < 20; call += 1)
      for (const { limits, admission } of processes) {
        const decision = await limits.admit([limit], 1);
        if (decision.kind === 'admitted') admitted += 1;
        const budget = await admission.reserve([{ counter: 'key:k', limit: 5n, amount: 1n, refused: 'at' }]);
        if (budget.kind === 'reserved') reserved += 1;
      }
    await Promise.all(processes.map(({ shares }) => shares.stop()));
    expect({ admitted, reserved, losses }).toEqual({ admitted: 7, reserved: 5, losses: [] });
  });
});
