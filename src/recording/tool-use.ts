import type { Clock, Ids } from '../domain/clock.ts';
import { evictOldest } from '../domain/evict-oldest.ts';
import { addUsd, ZERO_USD } from '../domain/money.ts';
import type { ScheduledTask, Scheduler } from '../domain/scheduler.ts';
import { isToolName, USER_DEFINED } from '../domain/tools/tool.ts';
import { limitedHashOf } from '../domain/users/session.ts';
import { offeredTools } from '../domain/tools/tool-names.ts';
import type {
  SeenTool,
  ToolCallEntry,
  ToolDay,
  ToolSighting,
  ToolsOfCall,
  ToolUseBatch,
  ToolUseStore,
} from '../domain/tools/tool-use.ts';
import { deferredBytes } from '../wire/json/partial-parse.ts';

/** Counts the tools of calls in memory and commits them to a store. */
export interface ToolUseCounter {
  /** Counts the tools of a call. Never throws. */
  count(use: ToolsOfCall): void;
  /** Commits all counts so far. Rejects when the commit fails. The next call then commits the counts again. */
  flush(): Promise<void>;
  /** Flushes periodically from now on. */
  start(): void;
  /** Starts no further periodic flush. */
  stop(): void;
}

interface ToolUseOptions {
  /** Id of this process, unique among all that share the store. */
  readonly process: string;
  readonly store: Pick<ToolUseStore, 'add'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  /** Time from the end of a periodic flush to the next one, in ms. */
  readonly everyMs: number;
  readonly scheduler: Scheduler;
}

/** Maximum number of tools in one batch. Further ones wait for their next use. */
const MAX_BATCH_TOOLS = 2_000;
/** Maximum number of tools of one call that are recorded. */
const MAX_TOOLS_OF_CALL = 128;
/** Maximum number of requests of one batch that are stored individually. All calls are counted. */
const MAX_STORED_CALLS = 1_000;
/** How long days, requests and unused tools stay stored, in ms. */
const RETENTION_MS = 90 * 86_400_000;
/** Maximum number of lists of tools that are known, so that they are not parsed again. */
const MAX_KNOWN_LISTS = 10_000;
/** A known list of tools is parsed again after this time, in ms, so that `lastUsedAt` of its tools is about right. */
const KNOWN_MS = 3_600_000;
/** Maximum number of characters of a user agent. */
const MAX_USER_AGENT = 256;

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

export function createToolUseCounter(options: ToolUseOptions): ToolUseCounter {
  const { process, store, clock, ids, everyMs, scheduler } = options;
  const tools = new Map<string, Mutable<ToolSighting>>();
  /** Counts by day and tool. */
  const days = new Map<string, Mutable<ToolDay>>();
  let storedCalls: ToolCallEntry[] = [];
  /** Lists of tools that were parsed, by their key and size, with the time in ms at which they were parsed. */
  const knownLists = new Map<string, number>();
  /** Batch whose commit may have failed. It is repeated unchanged, so that the store counts it once. */
  let pending: ToolUseBatch | null = null;
  let lastBatchNumber = 0;
  let lastFlush: Promise<void> = Promise.resolve();
  let flushTask: ScheduledTask | null = null;

  /**
   * The tools that a request offers. A large list that is not parsed yet is parsed once for each key and size, because
   * agents send the same list with every request.
   */
  function offeredIn({ body, caller, spend }: ToolsOfCall): readonly string[] {
    const size = deferredBytes(body, 'tools');
    if (size === null) return offeredTools(body);
    const list = `${caller.keyHash} ${size}`;
    const nowMs = spend.endedAt.getTime();
    const knownMs = knownLists.get(list);
    if (knownMs !== undefined && nowMs - knownMs < KNOWN_MS) return [];
    knownLists.delete(list);
    knownLists.set(list, nowMs);
    evictOldest(knownLists, MAX_KNOWN_LISTS);
    return offeredTools(body);
  }

  /** Adds a tool to the batch. False when the batch is full. */
  function see({ name, origin }: SeenTool, { caller, spend, userAgent }: ToolsOfCall, calls: number): boolean {
    const seen = tools.get(name);
    if (seen !== undefined) {
      seen.calls += calls;
      seen.lastAt = spend.startedAt;
      return true;
    }
    if (tools.size >= MAX_BATCH_TOOLS) return false;
    tools.set(name, {
      id: ids.uuid(),
      name,
      origin,
      calls,
      firstAt: spend.startedAt,
      lastAt: spend.startedAt,
      keyHash: limitedHashOf(caller),
      keyAlias: caller.key?.alias ?? null,
      teamId: caller.teamId,
      userAgent: userAgent === null ? null : userAgent.slice(0, MAX_USER_AGENT),
    });
    return true;
  }

  function countCall(name: string, { spend }: ToolsOfCall): void {
    const tokens = spend.usage === null ? 0 : spend.usage.inputTokens + spend.usage.outputTokens;
    const day = spend.startedAt.toISOString().slice(0, 10);
    const counted = days.get(`${day} ${name}`) ?? { day, name, calls: 0, cost: ZERO_USD, tokens: 0 };
    counted.calls += 1;
    counted.cost = addUsd(counted.cost, spend.cost ?? ZERO_USD);
    counted.tokens += tokens;
    days.set(`${day} ${name}`, counted);
    if (storedCalls.length >= MAX_STORED_CALLS) return;
    storedCalls.push({
      id: `${spend.id}:${name}`,
      name,
      requestId: spend.status === 'success' ? (spend.responseId ?? spend.callId) : spend.callId,
      at: spend.startedAt,
      model: spend.modelGroup,
      cost: spend.cost,
      tokens,
    });
  }

  function count(use: ToolsOfCall): void {
    const called = new Map<string, SeenTool & { calls: number }>();
    for (const { name, origin } of use.called) {
      const known = called.get(name);
      if (known !== undefined) known.calls += 1;
      else if (isToolName(name) && called.size < MAX_TOOLS_OF_CALL) called.set(name, { name, origin, calls: 1 });
    }
    for (const tool of called.values()) if (see(tool, use, tool.calls)) countCall(tool.name, use);
    for (const name of offeredIn(use).slice(0, MAX_TOOLS_OF_CALL))
      if (!called.has(name) && isToolName(name)) see({ name, origin: USER_DEFINED }, use, 0);
  }

  function takeBatch(): ToolUseBatch | null {
    if (tools.size === 0) return null;
    lastBatchNumber += 1;
    const batch = {
      process,
      number: lastBatchNumber,
      tools: [...tools.values()],
      days: [...days.values()],
      calls: storedCalls,
    };
    tools.clear();
    days.clear();
    storedCalls = [];
    return batch;
  }

  async function commitAll(): Promise<void> {
    pending ??= takeBatch();
    while (pending !== null) {
      const now = clock.now();
      // oxlint-disable-next-line no-await-in-loop -- batches are committed in the order of their numbers
      await store.add(pending, now, new Date(now.getTime() - RETENTION_MS));
      pending = takeBatch();
    }
  }

  function flush(): Promise<void> {
    const current = lastFlush.then(commitAll);
    lastFlush = current.catch(() => {});
    return current;
  }

  return {
    count,
    flush,
    start() {
      flushTask = scheduler.every({ name: 'tool-counts', everyMs, run: flush });
    },
    stop: () => void flushTask?.stop(),
  };
}
