import type { ShareRequest, Ledger, LedgerSnapshot, ShareAnswer } from '../../../domain/admission/ledger.ts';
import { createScript, type RedisScript, type RedisScripts, runScript } from './redis-script.ts';
import { ASK_SCRIPT, SNAPSHOT_SCRIPT } from './scripts.ts';

/** The commands of a Redis client that the ledger needs. */
export interface RedisCommands extends RedisScripts {
  zrem(key: string, member: string): Promise<unknown>;
  disconnect(): void;
}

const ASK = createScript(ASK_SCRIPT);
const SNAPSHOT = createScript(SNAPSHOT_SCRIPT);

/** Hash tag in braces: a cluster keeps all keys with it on one node, which the scripts need. */
const prefixOf = (namespace: string): string => `{${namespace}:admission}:`;

/**
 * A ledger in Redis or Valkey. One script answers all requests of a round trip. Numbers in Lua are doubles, so grants
 * of budgets beyond 9,000 USD are rounded to 16 digits. Use is counted exactly, in each process and in the database.
 */
export function createRedisLedger(redis: RedisCommands, namespace = 'lensgate'): Ledger {
  const prefix = prefixOf(namespace);
  const processes = `${prefix}processes`;

  const run = (script: RedisScript, counters: readonly string[], values: readonly string[]): Promise<unknown> =>
    runScript(redis, script, [processes, ...counters.map((name) => prefix + name)], values);

  return {
    async requestShares(process, asks) {
      const values = [process, ...asks.flatMap(argumentsOf)];
      const counters = asks.map(({ counter }) => counter);
      const [joined, ...rows] = rowsOf(await run(ASK, counters, values), asks.length + 1);
      return { shares: (rows as readonly Row[]).map(shareOf), isNew: joined === 1 };
    },
    async snapshot(process, counters) {
      const rows = rowsOf(await run(SNAPSHOT, counters, [process]), counters.length);
      return (rows as readonly Row[]).map(snapshotOf);
    },
    async leave(process) {
      await redis.zrem(processes, process);
    },
    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

/** Arguments of one request, in the order in which `ASK_SCRIPT` reads them. */
function argumentsOf(ask: ShareRequest): readonly string[] {
  const { base } = ask;
  return [
    ask.kind,
    `${ask.limit}`,
    `${ask.held}`,
    `${ask.need}`,
    `${ask.largest}`,
    ask.atLimit ? '1' : '0',
    `${ask.spare}`,
    `${ask.stored}`,
    base === null ? '' : `${base.value}`,
    base === null ? '-1' : `${base.version}`,
    ask.joins ? '1' : '0',
    ask.window === null ? '' : `${ask.window}`,
  ];
}

type Row = readonly (string | number)[];

function rowsOf(answer: unknown, count: number): readonly unknown[] {
  if (!Array.isArray(answer) || answer.length !== count)
    throw new Error('The answer of Redis to the admission script has an unexpected form.');
  return answer;
}

const shareOf = ([known, granted, left, window, windowLeftMs]: Row): ShareAnswer => ({
  known: Number(known) === 1,
  granted: BigInt(granted ?? 0),
  left: BigInt(left ?? 0),
  window: Number(window),
  windowLeftMs: Number(windowLeftMs),
});

const snapshotOf = ([version, stored]: Row): LedgerSnapshot => ({
  version: Number(version),
  stored: BigInt(stored ?? 0),
});
