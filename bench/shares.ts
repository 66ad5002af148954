// Time that a call waits for its shares of budgets and limits in Redis, for `bench:accounting -- --redis URL`.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RateLimit } from '../src/domain/admission/rate-limits.ts';
import { Secret } from '../src/domain/secret.ts';
import { createMemoryAdmission } from '../src/runtime/admission/memory-admission.ts';
import { connectRedis } from '../src/runtime/admission/redis/redis-client.ts';
import { createRedisLedger } from '../src/runtime/admission/redis/redis-ledger.ts';
import { createSharedRateLimits } from '../src/runtime/admission/shared-rate-limits.ts';
import { createShares } from '../src/runtime/admission/shares.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { table } from './report.ts';
import { createScheduler } from '../src/runtime/tasks/scheduler.ts';

/** Limits that no call reaches. */
const MANY = 1_000_000_000;
/** Longer than the time after which unused shares are returned, also if all keys return theirs at the same time. */
const PAUSE_MS = 3_000;
const SCOPES = ['api_key', 'user', 'team', 'project', 'organization'] as const;
const COUNTERS = ['key', 'user', 'team', 'project', 'organization'] as const;

/**
 * Table of the waits of calls with limits at every level: with one key, with new keys, and with keys after a pause. The
 * last row is a round trip to Redis.
 */
export async function measureShares(url: string, calls: number): Promise<string> {
  const redis = await connectRedis({ url: new Secret(url), namespace: '' });
  const shares = createShares({
    ledger: createRedisLedger(redis, `bench-${randomUUID()}`),
    process: randomUUID(),
    clock: systemClock,
    timing: { tickMs: 100, minSpareCalls: 0, answerMs: 250 },
    scheduler: createScheduler({ warn: console.error }),
    changed: (failure) => {
      if (failure !== null) console.error(failure);
    },
  });
  const admission = createMemoryAdmission({
    totals: {
      position: () => 1,
      storedThrough: () => 0,
      read: () => Promise.resolve({ totals: new Map(), through: 0 }),
    },
    shares,
    clock: systemClock,
    failed: (error) => console.error(error),
    staleMs: Infinity,
    refreshAgeMs: Infinity,
  });
  const limits = createSharedRateLimits({ shares, clock: systemClock });

  /** One call with limits at every level. Resolves to the time that it waits for Redis, in µs. */
  async function call(id: string, scopes: readonly RateLimit[]): Promise<number> {
    const startMs = performance.now();
    const charges = COUNTERS.map((counter) => ({
      counter: `${counter}:${id}`,
      limit: 10n ** 18n,
      amount: 1_000_000n,
      refused: 'at' as const,
    }));
    const reserving = admission.reserve(charges);
    // As in the gateway: while the call waits for its budgets, the same round trip requests the shares of its limits.
    if (reserving instanceof Promise) limits.prepare(scopes, 100);
    const reserved = await reserving;
    const admitted = await limits.admit(scopes, 100);
    const waitedMs = performance.now() - startMs;
    if (reserved.kind === 'refused' || admitted.kind === 'refused') throw new Error('A call was refused.');
    reserved.commit(charges.map(({ amount }) => amount));
    admitted.settle(90);
    return 1_000 * waitedMs;
  }

  const rows: string[][] = [];
  for (const [title, keys] of [
    ['one key, its shares are in memory', 1],
    ['a new key for each call: totals are read, every counter is requested', calls],
    ['the same keys after a pause: every counter is requested', calls],
  ] as const) {
    const waits: number[] = [];
    for (let number = 0; number < calls; number += 1) {
      const id = `${keys}:${number % keys}`;
      const scopes = SCOPES.map((scope): RateLimit => ({ scope, id, requests: MANY, tokens: MANY, parallel: MANY }));
      waits.push(await call(id, scopes));
    }
    waits.sort((one, other) => one - other);
    const at = (part: number): string => (waits[Math.floor(part * (waits.length - 1))] ?? 0).toFixed(0);
    rows.push([title, at(0.5), at(0.99)]);
    // Unused shares are returned after some ticks.
    await delay(PAUSE_MS);
  }
  const trip = 'a round trip alone';
  const pings: number[] = [];
  for (let number = 0; number < calls; number += 1) {
    const startMs = performance.now();
    // Removes nothing: the set does not exist.
    await redis.zrem('bench-none', 'none');
    pings.push(1_000 * (performance.now() - startMs));
  }
  pings.sort((one, other) => one - other);
  rows.push([trip, (pings[calls >> 1] ?? 0).toFixed(0), (pings[Math.floor(0.99 * calls)] ?? 0).toFixed(0)]);
  await shares.stop();
  return table(['Wait of a call for Redis, µs', 'p50', 'p99'], rows);
}
