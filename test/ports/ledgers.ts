import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import type { Ledger } from '../../src/domain/admission/ledger.ts';
import { Secret } from '../../src/domain/secret.ts';
import { connectRedis } from '../../src/runtime/admission/redis/redis-client.ts';
import { createRedisLedger, type RedisCommands } from '../../src/runtime/admission/redis/redis-ledger.ts';
import { anyRedis, HAS_REDIS } from '../support/redis.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

/** Deadline and interval of the wait for the first answer of a server, in ms. */
const READY = { timeout: 60_000, interval: 50 };

/** Ledger, with a prefix for the names of counters. No other test has the same counters. */
export interface OpenLedger {
  readonly ledger: Ledger;
  readonly prefix: string;
}

/** Runs suites over a ledger in Redis. Skips them without a server. */
export function withRedis(suites: (open: () => OpenLedger) => void): void {
  describe.runIf(HAS_REDIS)('with a Redis server', () => {
    let server: Awaited<ReturnType<typeof anyRedis>>;
    let redis: RedisCommands;

    beforeAll(async () => {
      server = await anyRedis();
      redis = await connectRedis({ url: new Secret(server.url), namespace: '' });
      await vi.waitFor(() => redis.eval('return 1', 0), READY);
    });
    afterAll(async () => {
      redis.disconnect();
      await server.stop();
    });

    suites(() => ({ ledger: createRedisLedger(redis, `test-${randomUUID()}`), prefix: '' }));
  });
}

/** Runs suites over a ledger in PostgreSQL. Skips them without a server. */
export function withPostgres(suites: (open: () => OpenLedger) => void): void {
  const engine = ENGINES.find(({ name }) => name === 'postgresql');
  describe.skipIf(engine === undefined || engine.skipReason !== null)('with PostgreSQL', () => {
    let scratch: ScratchDatabase;
    let ledger: Ledger | null = null;

    beforeAll(async () => {
      if (engine === undefined) throw new Error('There is no such engine.');
      scratch = await engine.create();
      ledger = (await scratch.open()).admissionLedger;
    });
    afterAll(() => scratch.remove());

    suites(() => {
      if (ledger === null) throw new Error('PostgreSQL has no ledger.');
      return { ledger, prefix: `${randomUUID()}:` };
    });
  });
}
