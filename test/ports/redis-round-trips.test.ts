import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { streamOfBytes } from '../../src/domain/bytes.ts';
import type { Exchange } from '../../src/domain/chat/chat.ts';
import { fixedDeployments } from '../../src/domain/deployments/deployment-source.ts';
import { type Usd, usdFrom } from '../../src/domain/money.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createGateway } from '../../src/gateway/create-gateway.ts';
import { createMemoryAdmission } from '../../src/runtime/admission/memory-admission.ts';
import { connectRedis } from '../../src/runtime/admission/redis/redis-client.ts';
import { createRedisLedger, type RedisCommands } from '../../src/runtime/admission/redis/redis-ledger.ts';
import { createSharedRateLimits } from '../../src/runtime/admission/shared-rate-limits.ts';
import { randomIds } from '../../src/runtime/identifiers.ts';
import { aCaller, aDeployment, aKey, aModelRequest, NO_OUTCOME } from '../support/chat.ts';
import { someOwners } from '../support/key-owners.ts';
import { anyRedis, HAS_REDIS } from '../support/redis.ts';
import { PLAIN_ROUTING } from '../support/routing.ts';
import { SharedTotals } from '../support/shared-totals.ts';
import { realClock, someShares } from '../support/shares.ts';
import { POLLING } from '../support/polling.ts';

const NEVER = new AbortController().signal;
const usd = (amount: string): Usd => usdFrom(amount) ?? (0n as Usd);

/** Only calls ask the ledger: no tick occurs during a test. */
const NO_TICKS = { tickMs: 600_000, minSpareCalls: 0, answerMs: 5_000 };

const anExchange = (): Exchange => ({
  status: 200,
  headers: {},
  streaming: false,
  bytes: streamOfBytes(new Uint8Array(0)),
  deltas: () => {
    throw new TypeError('Deltas are not read here.');
  },
  outcome: () => ({
    ...NO_OUTCOME,
    usage: { inputTokens: 0, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  }),
});

describe.runIf(HAS_REDIS)('a gateway with every budget and limit over Redis', () => {
  let server: Awaited<ReturnType<typeof anyRedis>>;
  let redis: RedisCommands;
  let stop: () => Promise<void>;
  /** EVALSHA commands so far. A gateway sends others only at its end, and for a script that the server lacks. */
  let commands = 0;

  beforeAll(async () => {
    server = await anyRedis();
    redis = await connectRedis({ url: new Secret(server.url), namespace: '' });
    await vi.waitFor(() => redis.eval('return 1', 0), POLLING);
  });
  afterEach(() => stop());
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const countingRedis: RedisCommands = {
    evalsha(...args) {
      commands += 1;
      return redis.evalsha(...args);
    },
    eval: (...args) => redis.eval(...args),
    zrem: (...args) => redis.zrem(...args),
    disconnect() {},
  };

  /** A gateway whose calls cost one dollar each. */
  function aGateway() {
    const shares = someShares(createRedisLedger(countingRedis, `test-${randomUUID()}`), { timing: NO_TICKS });
    stop = () => shares.stop();
    return createGateway({
      deployments: fixedDeployments([
        aDeployment({ priceOverrides: { input_cost_per_token: 0, output_cost_per_token: 1 } }),
      ]),
      providers: [{ name: 'openai', send: () => Promise.resolve(anExchange()) }],
      catalog: {
        current: () => ({ id: '', takenAt: new Date(0), source: 'embedded', entries: [], find: () => null }),
      },
      recorder: { record() {} },
      forwarder: { forward: () => Promise.reject(new Error('Nothing is forwarded here.')) },
      admission: createMemoryAdmission({
        totals: new SharedTotals().process(),
        shares,
        clock: realClock,
        failed(error) {
          throw error;
        },
        staleMs: Infinity,
        refreshAgeMs: Infinity,
      }),
      rateLimits: createSharedRateLimits({ shares, clock: realClock }),
      clock: { now: () => new Date('2026-01-01T00:00:00Z'), monotonicMs: realClock.monotonicMs },
      ids: randomIds,
      capturePrompts: false,
      pause: async () => {},
      alwaysStreamUsage: false,
      budgetErrorKind: 'unprocessable',
      clientCredentials: false,
      reportsTries: true,
      checksFallbackBudgets: true,
      random: () => 0,
      routing: () => PLAIN_ROUTING,
    });
  }

  /** A key with budgets for `calls` calls and limits for `calls + 1` requests, for itself and for all its owners. */
  function limitedKey(calls: number) {
    const limits = {
      maxBudget: usd(`${calls}`),
      rpmLimit: calls + 1,
      tpmLimit: 1_000_000,
      maxParallelRequests: calls + 1,
    };
    return aCaller(
      aKey({
        teamId: 't',
        userId: 'u',
        maxBudget: limits.maxBudget,
        settings: { rpmLimit: limits.rpmLimit, tpmLimit: limits.tpmLimit, maxParallelRequests: calls + 1 },
        owners: someOwners({ user: limits, team: limits, member: limits, organization: limits, project: limits }),
      }),
    );
  }

  /** Numbers of commands of sequential calls. */
  async function commandsOf(calls: number, caller: ReturnType<typeof limitedKey>): Promise<readonly number[]> {
    const gateway = aGateway();
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 };
    const commandCounts: number[] = [];
    for (let call = 0; call < calls; call += 1) {
      const before = commands;
      const answerOrError = await gateway
        .call(caller, aModelRequest(body), NEVER)
        .catch((error: unknown) => error as Error);
      if (!(answerOrError instanceof Error)) await answerOrError.consume(async () => {});
      commandCounts.push(commands - before);
    }
    return commandCounts;
  }

  it('makes one round trip for all shares of a call, and sends three commands where no total is known', async () => {
    // The first call sends three commands. The rate limits ask for shares. The budgets take a snapshot of the ledger,
    // read the stored totals, and then ask for shares with these totals. The budget is so small that no share for a
    // whole further call is kept: each later call asks once.
    expect(await commandsOf(3, limitedKey(3))).toEqual([3, 1, 1]);
  });

  it('sends fewer than 20 commands for 200 calls while its shares have capacity', async () => {
    const commandCounts = await commandsOf(200, limitedKey(1_000));
    expect(commandCounts.slice(1).every((count) => count <= 1)).toBe(true);
    expect(commandCounts.reduce((sum, count) => sum + count)).toBeLessThan(20);
  });

  it('sends no command for a refused call', async () => {
    expect((await commandsOf(5, limitedKey(3))).slice(3)).toEqual([0, 0]);
  });
});
