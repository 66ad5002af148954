import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CountsReport, MAX_REPORTED, MAX_SHARED_SAMPLES } from '../../src/domain/routing/shared-counts.ts';
import { Secret } from '../../src/domain/secret.ts';
import { connectRedis, type RedisConnection } from '../../src/runtime/admission/redis/redis-client.ts';
import { createRedisCounts } from '../../src/runtime/admission/redis/redis-counts.ts';
import { POLLING } from '../support/polling.ts';
import { anyRedis, HAS_REDIS } from '../support/redis.ts';

// As ids by time, of processes that start together.
const [HERE, THERE] = [randomUUID(), randomUUID()].map((id) => `01900000${id.slice(8)}`) as [string, string];

const reportOf = (members: Partial<CountsReport> = {}): CountsReport => ({
  minute: 7,
  deployments: [],
  cooldowns: [],
  ...members,
});
const counted = (id: string, requests: number, tokens: number, latencies: readonly number[] = []) => ({
  id,
  requests,
  tokens,
  latencies: latencies.map((latencyMs) => ({ ageMs: 1_000, latencyMs })),
  firstTokens: [],
});

describe.runIf(HAS_REDIS)('counts of deployments in Redis', () => {
  let server: Awaited<ReturnType<typeof anyRedis>>;
  let redis: RedisConnection;
  beforeAll(async () => {
    server = await anyRedis();
    redis = await connectRedis({ url: new Secret(server.url), namespace: '' });
    await vi.waitFor(() => redis.ping(), POLLING);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });
  const open = (namespace = `test-${randomUUID()}`) => ({ namespace, ledger: createRedisCounts(redis, namespace) });

  it('are the sums of all processes in a minute', async () => {
    const { ledger } = open();
    await ledger.exchange(HERE, reportOf({ deployments: [counted('a', 2, 30), counted('b', 1, 5)] }));
    const { deployments } = await ledger.exchange(THERE, reportOf({ deployments: [counted('a', 1, 4)] }));
    expect(deployments.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      counted('a', 3, 34),
      counted('b', 1, 5),
    ]);
    // Both the next report and one that is sent again have all that the process has counted in the minute.
    const withdrawn = reportOf({ deployments: [counted('a', 0, 4)] });
    for (const report of [withdrawn, withdrawn])
      expect(await ledger.exchange(THERE, report)).toMatchObject({
        deployments: expect.arrayContaining([counted('a', 2, 34)]) as unknown,
      });
    expect((await ledger.exchange(THERE, reportOf({ minute: 8 }))).deployments).toEqual([]);
  });

  it('have the latest latencies of the other processes, with their age', async () => {
    const { ledger } = open();
    const latencies = Array.from({ length: MAX_SHARED_SAMPLES }, (_, index) => index);
    await ledger.exchange(THERE, reportOf({ deployments: [counted('a', 0, 0, latencies)] }));
    const own = await ledger.exchange(THERE, reportOf({ deployments: [counted('a', 0, 0, [99])] }));
    expect(own.deployments).toEqual([counted('a', 0, 0)]);
    const { deployments } = await ledger.exchange(HERE, reportOf());
    expect(deployments[0]?.latencies.map(({ latencyMs }) => latencyMs)).toEqual([...latencies.slice(1), 99]);
    const age = deployments[0]?.latencies[0]?.ageMs ?? 0;
    expect(age).toBeGreaterThanOrEqual(1_000);
    expect(age).toBeLessThan(60_000);
  });

  it('have the longest cooldown of all processes, also without counts', async () => {
    const { ledger } = open();
    const cooling = (id: string, remainingMs: number) => reportOf({ minute: null, cooldowns: [{ id, remainingMs }] });
    await ledger.exchange(HERE, cooling('a', 60_000));
    await ledger.exchange(HERE, cooling('b', 0));
    const { deployments, cooldowns } = await ledger.exchange(THERE, cooling('a', 1_000));
    expect(deployments).toEqual([]);
    expect(cooldowns).toEqual([{ id: 'a', remainingMs: expect.any(Number) }]);
    expect(cooldowns[0]?.remainingMs).toBeGreaterThan(30_000);
    expect(cooldowns[0]?.remainingMs).toBeLessThanOrEqual(60_000);
  });

  it('replace keys of another type, and ignore foreign values', async () => {
    const { namespace, ledger } = open();
    const key = (name: string) => `{${namespace}:routing}:${name}`;
    await redis.set(key('use:7'), Buffer.from('text'), 'PX', 60_000);
    await redis.eval(`redis.call('HSET', KEYS[1], 'a', 'x;1:2;;:::')`, 1, key('latencies'));
    await redis.eval(`redis.call('HSET', KEYS[1], 'a', 'soon')`, 1, key('cooldowns'));
    const answer = await ledger.exchange(HERE, reportOf({ deployments: [counted('a', 1, 2)] }));
    expect(answer).toEqual({ deployments: [counted('a', 1, 2)], cooldowns: [] });
  });

  it('are kept for 10,000 deployments', async () => {
    const { ledger } = open();
    const ids = Array.from({ length: 10_000 }, (_, index) => `d${index}`);
    for (let from = 0; from < ids.length; from += MAX_REPORTED)
      await ledger.exchange(
        HERE,
        reportOf({ deployments: ids.slice(from, from + MAX_REPORTED).map((id) => counted(id, 1, 1)) }),
      );
    expect((await ledger.exchange(THERE, reportOf())).deployments).toHaveLength(ids.length);
  });

  it('expire', async () => {
    const { namespace, ledger } = open();
    const cooldowns = [{ id: 'a', remainingMs: 9 }];
    const deployments = [{ ...counted('a', 1, 1, [5]), firstTokens: [{ ageMs: 0, latencyMs: 1 }] }];
    await ledger.exchange(HERE, reportOf({ deployments, cooldowns }));
    for (const name of ['use:7', 'latencies', 'first-tokens', 'cooldowns', `use:7:${HERE.slice(-8)}`]) {
      const left = await redis.eval(`return redis.call('PTTL', KEYS[1])`, 1, `{${namespace}:routing}:${name}`);
      expect(Number(left)).toBeGreaterThan(0);
    }
  });
});
