import {
  RATE_WINDOW_MS,
  type RateAdmission,
  type RateLimit,
  type RateRefusal,
  type RateStanding,
  type RateType,
} from '../../domain/admission/rate-limits.ts';
import type { RateScope } from '../../domain/admission/scopes.ts';
import type { Clock } from '../../domain/clock.ts';
import { OpenList, type Place } from '../../domain/open-list.ts';
import { amountOf, limitOf, SLOT_MS, STANDING_TYPES } from './rate-types.ts';

/** Number of counters of one scope in memory above which a new counter evicts the oldest idle ones. */
const COUNTERS_LIMIT = 100_000;
/** Counters that one eviction examines. */
const EVICTION_TRIES = 8;

/** Counts of one scope and id. */
class RateCounter {
  /** Start of the window, in ms of the monotonic clock. */
  windowStartMs = Number.NEGATIVE_INFINITY;
  requests = 0;
  tokens = 0;
  /** Slots of open calls. */
  parallel = 0;

  /** Begins a new window when the current one has ended. Returns this counter. */
  resetIfOver(nowMs: number): this {
    if (nowMs - this.windowStartMs >= RATE_WINDOW_MS) {
      this.windowStartMs = nowMs;
      this.requests = 0;
      this.tokens = 0;
    }
    return this;
  }

  /** Whether the window has ended and no call is open. */
  isIdle(nowMs: number): boolean {
    return this.parallel === 0 && nowMs - this.windowStartMs >= RATE_WINDOW_MS;
  }
}

/** A limit of a call, and its counter. */
interface CountedLimit {
  readonly limit: RateLimit;
  readonly counter: RateCounter;
  /** Start of the window in which the call is counted. */
  readonly windowStartMs: number;
}

function refusal({ limit }: CountedLimit, type: RateType, max: number, used: number): RateRefusal {
  const { scope, id } = limit;
  return { kind: 'refused', scope, id, type, limit: max, remaining: Math.max(0, max - used) };
}

/** Refusal by the first limit of a type that has no room for its amount; null when all have room. */
function refusedBy(counted: readonly CountedLimit[], type: RateType, expectedTokens: number): RateRefusal | null {
  for (const one of counted) {
    const max = limitOf(one.limit, type);
    if (max === undefined) continue;
    const used = usedOf(one.counter, type);
    if (used + amountOf(one.limit, type, expectedTokens) > max) return refusal(one, type, max, used);
  }
  return null;
}

function usedOf({ requests, tokens, parallel }: RateCounter, type: RateType): number {
  if (type === 'requests') return requests;
  return type === 'tokens' ? tokens : parallel;
}

function standingsOf(counted: readonly CountedLimit[]): readonly RateStanding[] {
  const standings: RateStanding[] = [];
  for (const { limit, counter } of counted)
    for (const type of STANDING_TYPES) {
      const max = limitOf(limit, type);
      if (max === undefined) continue;
      standings.push({ scope: limit.scope, type, limit: max, remaining: Math.max(0, max - usedOf(counter, type)) });
    }
  return standings;
}

/** Admitted calls that are neither settled nor expired, the oldest first. */
type OpenCalls = OpenList<AdmittedCall>;

/** Frees the slots that were not freed in time. */
function expire(openCalls: OpenCalls, nowMs: number): void {
  for (;;) {
    const { oldest } = openCalls;
    if (oldest === null || oldest.endMs > nowMs) return;
    oldest.free();
  }
}

/** One admitted call: it reserves its expected tokens and holds a slot of each limit of parallel calls. */
class AdmittedCall implements RateAdmission {
  readonly kind = 'admitted';
  readonly standings: readonly RateStanding[];
  /** Time at which its slots are freed, also when the call has not ended. */
  readonly endMs: number;
  readonly #counted: readonly CountedLimit[];
  readonly #expectedTokens: number;
  readonly #openCalls: OpenCalls;
  readonly #place: Place<AdmittedCall>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #isSettled = false;

  constructor(
    counted: readonly CountedLimit[],
    expectedTokens: number,
    at: { readonly nowMs: number; readonly clock: Pick<Clock, 'monotonicMs'>; readonly openCalls: OpenCalls },
  ) {
    this.#counted = counted;
    this.#expectedTokens = expectedTokens;
    this.#clock = at.clock;
    this.#openCalls = at.openCalls;
    this.endMs = at.nowMs + SLOT_MS;
    this.#place = at.openCalls.add(this);
    for (const { limit, counter } of counted) {
      if (limit.tokens !== undefined) counter.tokens += amountOf(limit, 'tokens', expectedTokens);
      if (limit.parallel !== undefined) counter.parallel += 1;
    }
    this.standings = standingsOf(counted);
  }

  settle(tokens: number | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.free();
    const nowMs = this.#clock.monotonicMs();
    for (const { limit, counter, windowStartMs } of this.#counted) {
      counter.resetIfOver(nowMs);
      if (limit.tokens === undefined) continue;
      const isSameWindow = counter.windowStartMs === windowStartMs;
      const reserved = isSameWindow ? amountOf(limit, 'tokens', this.#expectedTokens) : 0;
      const used = tokens === null ? 0 : amountOf(limit, 'tokens', tokens);
      counter.tokens += used - reserved;
    }
  }

  /** Frees its slots, once. */
  free(): void {
    if (!this.#openCalls.remove(this.#place)) return;
    for (const { limit, counter } of this.#counted) if (limit.parallel !== undefined) counter.parallel -= 1;
  }
}

/** Limits that this process counts for itself. All methods are synchronous. */
interface MemoryRateLimits {
  admit(limits: readonly RateLimit[], expectedTokens: number): RateAdmission | RateRefusal;
  /** Does nothing: there are no shares. */
  prepare(): void;
}

/** A `RateLimits` in the memory of this process. */
export function createMemoryRateLimits({
  clock,
  countersLimit = COUNTERS_LIMIT,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly countersLimit?: number;
}): MemoryRateLimits {
  /** Counters by id, for each scope. */
  const scopes = new Map<RateScope, Map<string, RateCounter>>();
  const openCalls: OpenCalls = new OpenList();

  function counterOf({ scope, id }: RateLimit, nowMs: number): RateCounter {
    const counters = scopes.get(scope) ?? new Map<string, RateCounter>();
    const known = counters.get(id);
    if (known !== undefined) return known.resetIfOver(nowMs);
    const fresh = new RateCounter().resetIfOver(nowMs);
    counters.set(id, fresh);
    scopes.set(scope, counters);
    if (counters.size > countersLimit) evict(counters, nowMs);
    return fresh;
  }

  /** Removes idle counters among the oldest. A counter in use becomes the most recent one. */
  function evict(counters: Map<string, RateCounter>, nowMs: number): void {
    let tries = 0;
    for (const [id, counter] of counters) {
      if (tries === EVICTION_TRIES) return;
      tries += 1;
      counters.delete(id);
      if (!counter.isIdle(nowMs)) counters.set(id, counter);
    }
  }

  return {
    admit(limits, expectedTokens) {
      const nowMs = clock.monotonicMs();
      expire(openCalls, nowMs);
      const counted = limits.map((limit) => {
        const counter = counterOf(limit, nowMs);
        return { limit, counter, windowStartMs: counter.windowStartMs };
      });
      const tooMany = refusedBy(counted, 'requests', expectedTokens);
      if (tooMany !== null) return tooMany;
      // A call that a later check refuses also counts as a request. Keys of a team share a counter for each model. When
      // a key has its own limit of requests for the model, its calls are no requests in the counter of the team.
      for (const { limit, counter } of counted)
        if (limit.requests !== undefined) counter.requests += amountOf(limit, 'requests', expectedTokens);
      return (
        refusedBy(counted, 'max_parallel_requests', expectedTokens) ??
        refusedBy(counted, 'tokens', expectedTokens) ??
        new AdmittedCall(counted, expectedTokens, { nowMs, clock, openCalls })
      );
    },
    prepare() {},
  };
}
