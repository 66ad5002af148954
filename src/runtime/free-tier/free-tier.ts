import type { Client } from '../../domain/free-tier/client.ts';
import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';
import {
  dayOf,
  dayText,
  type FreeTier,
  type FreeTierCalls,
  type FreeTierStore,
  FreeTierUsedUp,
  secondsLeft,
} from '../../domain/free-tier/free-tier.ts';
import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';
import { FreeTierCounter } from './counter.ts';

/** Clients in memory; who was not seen for longest leaves, and is counted on by the store. */
const MOST_CLIENTS = 20_000;
/** How many are looked at to find one that may leave; so much the bound above may be overstepped for a while. */
const MOST_LOOKED_AT = 64;
/** A client not seen from one such look to the next has left. */
const IDLE_MS = 300_000;
/** Most rows one statement gives back or deletes: others write in between. */
const STEP = 500;
/** After a failure in the background was told, further ones are not for so long. */
const QUIET_MS = 10_000;
/** How long callers wait for the store before they are told that it does not answer. */
const ANSWER_MS = 5_000;
/** Keys no store knows that an address may try in a minute; after that its keys are not looked up. */
const MOST_MISSES = 20;
const MISSES_MS = 60_000;
const MOST_MISSING = 10_000;

/** A free tier that runs with the process. */
export interface RunningFreeTier extends FreeTier {
  /** Begins to look for clients that have left and for days that are over. */
  start(): void;
  /** Gives back what was reserved and not used. For when the last call is over. */
  stop(): Promise<void>;
  /** One look for clients that have left and days that are over, as `start` has it done by time. */
  sweep(): Promise<void>;
}

export interface FreeTierOptions {
  readonly store: FreeTierStore;
  readonly paidKeys: PaidKeys;
  /** Names a network without telling it. */
  readonly ipHash: (network: string) => string;
  /** Calls a client may make in a day. */
  readonly limit: number;
  /** Whether who has used theirs up can buy a key here. */
  readonly onSale: boolean;
  readonly clock: Clock;
  /** Told, now and then, of work in the background that failed: nobody waits for it, only allowance can be lost. */
  readonly failed: (error: unknown) => void;
  readonly mostClients?: number;
  readonly answerMs?: number;
}

/**
 * A free tier counted in blocks: of every client's day a twentieth at a time is reserved in the store and then
 * handed out of memory. ADR 0016.
 */
export function createFreeTier(options: FreeTierOptions): RunningFreeTier {
  const { store, paidKeys, ipHash, limit, onSale, clock, mostClients = MOST_CLIENTS, answerMs = ANSWER_MS } = options;
  let quietUntilMs = 0;
  /** A store that is away fails for every client. */
  function failed(error: unknown): void {
    const nowMs = clock.monotonicMs();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + QUIET_MS;
    options.failed(error);
  }
  const house = { store, limit, failed, answerMs, monotonicMs: () => clock.monotonicMs() };
  const counters = new Map<string, FreeTierCounter>();
  let hand = counters.entries();
  const misses = new Map<string, { count: number; readonly untilMs: number }>();
  const surrendered: FreeTierCalls[] = [];
  let returning: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let forgotten = '';

  const today = (): number => dayOf(clock.now().getTime());

  async function giveBackAll(): Promise<void> {
    // In the same turn of the loop many may leave.
    await Promise.resolve();
    while (surrendered.length > 0) {
      // What fails here stays counted as used.
      await store.giveBack(surrendered.splice(0, STEP)).catch(failed);
    }
  }

  function giveBack(): Promise<void> {
    returning ??= giveBackAll().finally(() => {
      returning = null;
    });
    return returning;
  }

  function release(network: string, counter: FreeTierCounter): void {
    counters.delete(network);
    const unused = counter.surrender();
    if (unused !== null) surrendered.push(unused);
  }

  /** Makes room for one more: goes round from where it last stopped, and lets the active have another round. */
  function makeRoom(): void {
    for (let looked = 0; looked < MOST_LOOKED_AT && counters.size >= mostClients; looked += 1) {
      const { done, value } = hand.next();
      if (done) hand = counters.entries();
      else leaveOrRest(...value);
    }
    if (surrendered.length > 0) void giveBack();
  }

  function leaveOrRest(network: string, counter: FreeTierCounter): void {
    if (!counter.active && !counter.busy) release(network, counter);
    counter.active = false;
  }

  function counterOf(network: string, day: number): FreeTierCounter {
    const known = counters.get(network);
    if (known !== undefined) return known;
    if (counters.size >= mostClients) makeRoom();
    const counter = new FreeTierCounter(ipHash(network), day, house);
    counters.set(network, counter);
    return counter;
  }

  function refusal(keyRefused: boolean): FreeTierUsedUp {
    return new FreeTierUsedUp(limit, secondsLeft(clock.now().getTime()), { keyRefused, onSale });
  }

  async function askAndCount(counter: FreeTierCounter, keyRefused: boolean): Promise<void> {
    const taken = await counter.takeAfterAsking(today).catch(unanswered);
    if (taken === 'none') throw refusal(keyRefused);
  }

  function unanswered(cause: unknown): never {
    throw new Unavailable('Free calls cannot be counted now: the store does not answer.', undefined, { cause });
  }

  function count(network: string, keyRefused: boolean): void | Promise<void> {
    if (limit === 0) throw refusal(keyRefused);
    const day = today();
    const counter = counterOf(network, day);
    const taken = counter.take(day);
    if (taken === 'taken') return undefined;
    if (taken === 'none') throw refusal(keyRefused);
    return askAndCount(counter, keyRefused);
  }

  function missed(network: string): void {
    const nowMs = clock.monotonicMs();
    const known = misses.get(network);
    if (known !== undefined && known.untilMs > nowMs) {
      known.count += 1;
      return;
    }
    misses.delete(network);
    const [oldest] = misses.keys();
    if (misses.size >= MOST_MISSING && oldest !== undefined) misses.delete(oldest);
    misses.set(network, { count: 1, untilMs: nowMs + MISSES_MS });
  }

  function triesTooMany(network: string): boolean {
    const known = misses.get(network);
    return known !== undefined && known.count >= MOST_MISSES && known.untilMs > clock.monotonicMs();
  }

  async function chargeUnlessPaid(network: string, held: Promise<boolean>): Promise<void> {
    if (await held) return;
    missed(network);
    await count(network, true);
  }

  async function forgetOldDays(): Promise<void> {
    // Yesterday stays: another process's clock may be behind.
    const before = dayText(today() - 1);
    if (forgotten === before) return;
    while ((await store.forgetBefore(before, STEP)) === STEP);
    forgotten = before;
  }

  async function sweep(): Promise<void> {
    for (const [network, counter] of counters) leaveOrRest(network, counter);
    await giveBack();
    await forgetOldDays().catch(failed);
  }

  return {
    charge({ network, credential }: Client) {
      if (credential === null) return count(network, false);
      if (triesTooMany(network)) return count(network, true);
      const held = paidKeys.holds(credential.reveal());
      if (held === true) return undefined;
      return held === false ? count(network, true) : chargeUnlessPaid(network, held);
    },
    usageOf: ({ network }) => counterOf(network, today()).usage(today).catch(unanswered),
    start() {
      timer ??= setInterval(() => void sweep(), IDLE_MS).unref();
      void forgetOldDays().catch(failed);
    },
    async stop() {
      if (timer) clearInterval(timer);
      timer = null;
      await Promise.all([...counters.values()].map((counter) => counter.settled()));
      for (const [network, counter] of counters) release(network, counter);
      await giveBack();
    },
    sweep,
  };
}
