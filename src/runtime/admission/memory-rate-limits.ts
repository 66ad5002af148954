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

/** Time after which a slot is freed also when its call has not ended, in ms: one hour, as in the reference. */
const SLOT_MS = 3_600_000;
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

  /** Begins a new window when the last one has ended. Returns this counter. */
  resetIfOver(nowMs: number): this {
    if (nowMs - this.windowStartMs >= RATE_WINDOW_MS) {
      this.windowStartMs = nowMs;
      this.requests = 0;
      this.tokens = 0;
    }
    return this;
  }

  /** Whether its window has ended and no call is open. */
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
function refusedBy(counted: readonly CountedLimit[], type: RateType, expected: number): RateRefusal | null {
  for (const one of counted) {
    const max = limitOf(one.limit, type);
    if (max === undefined) continue;
    const used = usedOf(one.counter, type);
    if (used + amountOf(one.limit, type, expected) > max) return refusal(one, type, max, used);
  }
  return null;
}

/** Amount of a call: what its limit sets, else one request, the expected tokens, or one slot. */
const amountOf = ({ amounts }: RateLimit, type: RateType, expected: number): number =>
  type === 'requests' ? (amounts?.requests ?? 1) : type === 'tokens' ? (amounts?.tokens ?? expected) : 1;

const limitOf = ({ requests, tokens, parallel }: RateLimit, type: RateType): number | undefined =>
  type === 'requests' ? requests : type === 'tokens' ? tokens : parallel;

const usedOf = ({ requests, tokens, parallel }: RateCounter, type: RateType): number =>
  type === 'requests' ? requests : type === 'tokens' ? tokens : parallel;

const TYPES: readonly RateType[] = ['requests', 'tokens', 'max_parallel_requests'];

function standingsOf(counted: readonly CountedLimit[]): readonly RateStanding[] {
  const standings: RateStanding[] = [];
  for (const { limit, counter } of counted)
    for (const type of TYPES) {
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
  for (let { oldest } = openCalls; oldest !== null && oldest.endMs <= nowMs; { oldest } = openCalls) oldest.free();
}

/** One admitted call: it reserves its expected tokens and holds a slot of each limit of parallel calls. */
class AdmittedCall implements RateAdmission {
  readonly kind = 'admitted';
  readonly standings: readonly RateStanding[];
  readonly endMs: number;
  readonly #counted: readonly CountedLimit[];
  readonly #expected: number;
  readonly #openCalls: OpenCalls;
  readonly #place: Place<AdmittedCall>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #open = true;

  constructor(
    counted: readonly CountedLimit[],
    expected: number,
    at: { readonly nowMs: number; readonly clock: Pick<Clock, 'monotonicMs'>; readonly openCalls: OpenCalls },
  ) {
    this.#counted = counted;
    this.#expected = expected;
    this.#clock = at.clock;
    this.#openCalls = at.openCalls;
    this.endMs = at.nowMs + SLOT_MS;
    this.#place = at.openCalls.add(this);
    for (const { limit, counter } of counted) {
      if (limit.tokens !== undefined) counter.tokens += amountOf(limit, 'tokens', expected);
      if (limit.parallel !== undefined) counter.parallel += 1;
    }
    this.standings = standingsOf(counted);
  }

  settle(tokens: number | null): void {
    if (!this.#open) return;
    this.#open = false;
    this.free();
    const nowMs = this.#clock.monotonicMs();
    for (const { limit, counter, windowStartMs } of this.#counted) {
      counter.resetIfOver(nowMs);
      if (limit.tokens === undefined) continue;
      const reserved = counter.windowStartMs === windowStartMs ? amountOf(limit, 'tokens', this.#expected) : 0;
      counter.tokens += (tokens === null ? 0 : amountOf(limit, 'tokens', tokens)) - reserved;
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
    scopes.set(scope, counters.set(id, fresh));
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
    admit(limits, expected) {
      const nowMs = clock.monotonicMs();
      expire(openCalls, nowMs);
      const counted = limits.map((limit) => {
        const counter = counterOf(limit, nowMs);
        return { limit, counter, windowStartMs: counter.windowStartMs };
      });
      const tooMany = refusedBy(counted, 'requests', expected);
      if (tooMany !== null) return tooMany;
      // The call counts as a request, also when a later check refuses it. Keys of a team share a counter for each
      // model. A key with its own limit of requests for the model has no such limit there, so its calls do not count
      // there as requests.
      for (const { limit, counter } of counted)
        if (limit.requests !== undefined) counter.requests += amountOf(limit, 'requests', expected);
      return (
        refusedBy(counted, 'max_parallel_requests', expected) ??
        refusedBy(counted, 'tokens', expected) ??
        new AdmittedCall(counted, expected, { nowMs, clock, openCalls })
      );
    },
    prepare() {},
  };
}
