import type { JsonObject } from '../domain/json-object.ts';
import { randomBytes } from 'node:crypto';
import {
  CHANGE_KINDS,
  type ChangeAnnouncer,
  type ChangedRows,
  type ChangeKind,
  EVERYTHING,
} from '../domain/cache-changes.ts';
import type { ProcessMessages } from '../domain/process-messages.ts';

/** Time for which changes are collected before they are sent or applied, in ms. */
const GATHER_MS = 5;
/** Minimum time between two sent messages, and between two evictions that messages cause, in ms. */
const MIN_MESSAGE_INTERVAL_MS = 50;
/** Time in ms after which a message that could not be sent is sent again. */
const RETRY_MS = 1_000;
/** Maximum number of ids of one kind. Beyond it, every row of the kind counts as changed. */
const MAX_IDS = 100;

/** Announces changed rows to other processes, and evicts the rows that they announce. */
export interface CacheChanges extends ChangeAnnouncer {
  /**
   * Begins to listen. `evict` receives the rows that other processes have changed, or every row when messages may have
   * been lost.
   */
  start(evict: (changed: ChangedRows) => void): void;
  /** Sends pending changes and stops listening. */
  stop(): Promise<void>;
}

/** `messages` null: no other process uses the database. */
export function createCacheChanges(messages: ProcessMessages | null): CacheChanges {
  return messages === null
    ? { announce() {}, start() {}, stop: () => Promise.resolve() }
    : changesWithMessages(messages);
}

function changesWithMessages(messages: ProcessMessages): CacheChanges {
  const origin = randomBytes(9).toString('base64url');
  const outgoing = createBatch();
  const incoming = createBatch();
  let evict: (changed: ChangedRows) => void = () => {};
  let listening: { stop(): Promise<void> } | null = null;

  async function send(): Promise<void> {
    if (outgoing.isEmpty()) return;
    const changed = outgoing.take();
    try {
      await messages.send(encodeMessage(origin, changed, messages.mostBytes));
    } catch {
      // Sent again later. Until then, other processes see the change when their cached entries expire.
      outgoing.add(changed);
      sending.request(RETRY_MS);
    }
  }

  const sending = createRateLimitedTask(send);
  const evicting = createRateLimitedTask(() => {
    evict(incoming.take());
    return Promise.resolve();
  });

  function receive(changed: ChangedRows | null): void {
    if (changed === null) return;
    incoming.add(changed);
    evicting.request(GATHER_MS);
  }

  return {
    announce(kind, ids) {
      if (ids?.length === 0) return;
      outgoing.add(new Map([[kind, ids === null ? null : new Set(ids)]]));
      sending.request(GATHER_MS);
    },
    start(evictRows) {
      evict = evictRows;
      listening = messages.listen({
        message: (text) => receive(decodeMessage(text, origin)),
        // Messages that were sent before this process listened are lost.
        joined: () => receive(EVERYTHING),
      });
    },
    async stop() {
      evicting.stop();
      sending.stop();
      await Promise.all([send(), listening?.stop()]);
    },
  };
}

/** Runs work once for any number of requests, at most every `MIN_MESSAGE_INTERVAL_MS`. */
function createRateLimitedTask(work: () => Promise<void>) {
  let timer: NodeJS.Timeout | null = null;
  let isRunning = false;
  /** Delay in ms from the end of the work to the next run; null when no run was requested meanwhile. */
  let nextMs: number | null = null;
  let isStopped = false;

  function request(afterMs: number): void {
    if (isStopped || timer !== null) return;
    if (isRunning) nextMs = Math.max(afterMs, nextMs ?? MIN_MESSAGE_INTERVAL_MS);
    else timer = setTimeout(() => void run(), afterMs).unref();
  }

  /** Runs the work. `isRunning` stays true until `MIN_MESSAGE_INTERVAL_MS` after its end. */
  async function run(): Promise<void> {
    timer = null;
    isRunning = true;
    await work();
    setTimeout(() => {
      isRunning = false;
      if (nextMs === null) return;
      const afterMs = nextMs - MIN_MESSAGE_INTERVAL_MS;
      nextMs = null;
      request(afterMs);
    }, MIN_MESSAGE_INTERVAL_MS).unref();
  }

  return {
    request,
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}

/**
 * Changed rows that are not sent or not evicted yet, with null in place of ids for every row of a kind. More than
 * `MAX_IDS` ids of a kind become null.
 */
function createBatch() {
  let rows = new Map<ChangeKind, ReadonlySet<string> | null>();
  return {
    isEmpty: () => rows.size === 0,
    add(changed: ChangedRows) {
      for (const [kind, ids] of changed) {
        const before = rows.get(kind);
        const merged = ids === null || before === null ? null : new Set([...(before ?? []), ...ids]);
        rows.set(kind, merged !== null && merged.size > MAX_IDS ? null : merged);
      }
    },
    take(): ChangedRows {
      const taken = rows;
      rows = new Map();
      return taken;
    },
  };
}

/** A message of at most `mostBytes`. While it is too long, the kind with most ids is sent as "every row". */
function encodeMessage(origin: string, changed: ChangedRows, mostBytes: number): string {
  const rows = new Map(changed);
  for (;;) {
    const named = [...rows].map(([kind, ids]) => [kind, ids === null ? null : [...ids]] as const);
    const text = JSON.stringify({ origin, changed: Object.fromEntries(named) });
    if (Buffer.byteLength(text) <= mostBytes) return text;
    const [largest] = named.toSorted(([, one], [, other]) => (other?.length ?? 0) - (one?.length ?? 0));
    if (largest === undefined || largest[1] === null) return text;
    rows.set(largest[0], null);
  }
}

/** Content of a message; null for a message of this process or of another format. */
function decodeMessage(text: string, origin: string): ChangedRows | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(message) || message['origin'] === origin) return null;
  const changed = message['changed'];
  if (!isObject(changed)) return null;
  const rows = new Map<ChangeKind, ReadonlySet<string> | null>();
  for (const kind of CHANGE_KINDS) {
    const ids = changed[kind];
    if (ids === null) rows.set(kind, null);
    else if (Array.isArray(ids)) rows.set(kind, new Set(ids.filter((id) => typeof id === 'string')));
  }
  return rows;
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;
