import { evictOldest } from '../../domain/evict-oldest.ts';
import type { Client } from '../../domain/free-tier/client.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';
import {
  dayNumberOf,
  dayNumberText,
  type FreeTier,
  type FreeTierCalls,
  type FreeTierStore,
  FreeTierUsedUp,
  secondsLeft,
} from '../../domain/free-tier/free-tier.ts';
import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import { FreeTierCounter } from './counter.ts';

/** Maximum number of clients in memory. Beyond it, an inactive one is evicted; its count stays in the store. */
const MAX_CLIENTS = 20_000;
/**
 * Maximum clients that one eviction examines. `MAX_CLIENTS` may be exceeded for a while when none of them can be
 * evicted.
 */
const MAX_CHECKED = 64;
/** Interval of the sweep, in ms. A client without a call during an interval is removed. */
const IDLE_MS = 300_000;
/** Maximum number of rows of one statement, so that other writes run in between. */
const STEP = 500;
/** Minimum interval between two reports of background failures, in ms. */
const MIN_REPORT_INTERVAL_MS = 10_000;
/** Timeout of the store, in ms. */
const ANSWER_MS = 5_000;
/**
 * Maximum look-ups of unpaid keys per network in `MISSES_MS`. Beyond it, keys are not looked up, and calls with a key
 * count as free calls.
 */
const MAX_MISSES = 20;
/** Length of the window in which look-ups of unpaid keys are counted, in ms. */
const MISSES_MS = 60_000;
/** Maximum number of networks whose look-ups are counted. */
const MAX_MISS_ENTRIES = 10_000;

/** What a free call sent as a key. */
type SentKey = 'none' | 'unpaid';

/** A free tier that runs with the process. */
export interface RunningFreeTier extends FreeTier {
  /** Starts the periodic sweep. */
  start(): void;
  /** Releases the reserved calls that were not used. Must run after the last `charge`. */
  stop(): Promise<void>;
  /** One sweep: removes idle clients from memory, and rows of past days from the store. */
  sweep(): Promise<void>;
}

export interface FreeTierOptions {
  readonly store: FreeTierStore;
  readonly paidKeys: PaidKeys;
  /** Hash of a network. */
  readonly ipHash: (network: string) => string;
  /** Calls per client and day. */
  readonly limit: number;
  /** Whether keys are sold here. */
  readonly onSale: boolean;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Called, at a limited rate, when background work failed. Such a failure loses at most free calls. */
  readonly failed: (error: unknown) => void;
  readonly maxClients?: number;
  readonly answerMs?: number;
}

/**
 * A free tier counted in blocks: usually a twentieth of a client's daily calls is reserved in the store, then granted
 * from memory (ADR 0016).
 */
export function createFreeTier(options: FreeTierOptions): RunningFreeTier {
  const { store, paidKeys, ipHash, limit, onSale, clock, scheduler } = options;
  const { maxClients = MAX_CLIENTS, answerMs = ANSWER_MS } = options;
  /** No failure is reported before this time. */
  let quietUntilMs = 0;
  /** Reports at most one failure per interval, because an unavailable store fails for every client. */
  function failed(error: unknown): void {
    const nowMs = clock.monotonicMs();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + MIN_REPORT_INTERVAL_MS;
    options.failed(error);
  }
  const counterContext = { store, limit, failed, answerMs, monotonicMs: () => clock.monotonicMs() };
  const counters = new Map<string, FreeTierCounter>();
  /** Position of the next client that an eviction examines. */
  let cursor = counters.entries();
  /** Look-ups of unpaid keys, by network. */
  const misses = new Map<string, { count: number; readonly untilMs: number }>();
  const unusedCalls: FreeTierCalls[] = [];
  let releasing: Promise<void> | null = null;
  let sweeping: ScheduledTask | null = null;
  /** Day before which all rows of the store have been removed. */
  let removedBefore = '';

  const today = (): number => dayNumberOf(clock.now().getTime());

  async function releaseAll(): Promise<void> {
    // Deferred, so that one statement releases all clients that are evicted in this turn of the event loop.
    await Promise.resolve();
    while (unusedCalls.length > 0) {
      // On failure these calls stay counted as used.
      await store.release(unusedCalls.splice(0, STEP)).catch(failed);
    }
  }

  function releaseUnused(): Promise<void> {
    releasing ??= releaseAll().finally(() => {
      releasing = null;
    });
    return releasing;
  }

  function release(network: string, counter: FreeTierCounter): void {
    counters.delete(network);
    const unused = counter.takeUnused();
    if (unused !== null) unusedCalls.push(unused);
  }

  /** Evicts one client by the clock algorithm: active clients get a second chance. */
  function makeRoom(): void {
    for (let checked = 0; checked < MAX_CHECKED && counters.size >= maxClients; checked += 1) {
      const { done, value } = cursor.next();
      if (done) cursor = counters.entries();
      else evictOrDeactivate(...value);
    }
    if (unusedCalls.length > 0) void releaseUnused();
  }

  function evictOrDeactivate(network: string, counter: FreeTierCounter): void {
    if (!counter.active && !counter.busy) release(network, counter);
    counter.active = false;
  }

  function counterOf(network: string, day: number): FreeTierCounter {
    const known = counters.get(network);
    if (known !== undefined) return known;
    if (counters.size >= maxClients) makeRoom();
    const counter = new FreeTierCounter(ipHash(network), day, counterContext);
    counters.set(network, counter);
    return counter;
  }

  function refusal(key: SentKey): FreeTierUsedUp {
    return new FreeTierUsedUp(limit, secondsLeft(clock.now().getTime()), { keyRefused: key === 'unpaid', onSale });
  }

  async function countWithStore(counter: FreeTierCounter, key: SentKey): Promise<void> {
    const taken = await counter.takeWithStore(today).catch(storeUnavailable);
    if (taken === 'used up') throw refusal(key);
  }

  function storeUnavailable(cause: unknown): never {
    throw new Unavailable('Free calls cannot be counted now: the store is unavailable.', undefined, { cause });
  }

  function count(network: string, key: SentKey): void | Promise<void> {
    if (limit === 0) throw refusal(key);
    const day = today();
    const counter = counterOf(network, day);
    const taken = counter.take(day);
    if (taken === 'taken') return undefined;
    if (taken === 'used up') throw refusal(key);
    return countWithStore(counter, key);
  }

  function countMiss(network: string): void {
    const nowMs = clock.monotonicMs();
    const known = misses.get(network);
    if (known !== undefined && known.untilMs > nowMs) {
      known.count += 1;
      return;
    }
    misses.delete(network);
    misses.set(network, { count: 1, untilMs: nowMs + MISSES_MS });
    evictOldest(misses, MAX_MISS_ENTRIES);
  }

  function hasTooManyMisses(network: string): boolean {
    const known = misses.get(network);
    return known !== undefined && known.count >= MAX_MISSES && known.untilMs > clock.monotonicMs();
  }

  async function chargeUnlessPaid(network: string, isPaid: Promise<boolean>): Promise<void> {
    if (await isPaid) return;
    countMiss(network);
    await count(network, 'unpaid');
  }

  async function removeOldDays(): Promise<void> {
    // Keeps yesterday: another process's clock may be behind.
    const before = dayNumberText(today() - 1);
    if (removedBefore === before) return;
    let removed: number;
    do removed = await store.removeBefore(before, STEP);
    while (removed === STEP);
    removedBefore = before;
  }

  async function sweep(): Promise<void> {
    for (const [network, counter] of counters) evictOrDeactivate(network, counter);
    await releaseUnused();
    await removeOldDays().catch(failed);
  }

  return {
    charge({ network, credential }: Client) {
      if (credential === null) return count(network, 'none');
      if (hasTooManyMisses(network)) return count(network, 'unpaid');
      const isPaid = paidKeys.holds(credential.reveal());
      if (isPaid === true) return undefined;
      return isPaid === false ? count(network, 'unpaid') : chargeUnlessPaid(network, isPaid);
    },
    usageOf: ({ network }) => counterOf(network, today()).usage(today).catch(storeUnavailable),
    start() {
      sweeping ??= scheduler.every({ name: 'free-tier-sweep', everyMs: IDLE_MS, run: sweep });
      void removeOldDays().catch(failed);
    },
    async stop() {
      await sweeping?.stop();
      sweeping = null;
      await Promise.all([...counters.values()].map((counter) => counter.settled()));
      for (const [network, counter] of counters) release(network, counter);
      await releaseUnused();
    },
    sweep,
  };
}
