import {
  RATE_WINDOW_MS,
  type RateAdmission,
  type RateLimit,
  type RateLimits,
  type RateRefusal,
  type RateStanding,
  type RateType,
} from '../../domain/admission/rate-limits.ts';
import type { Clock } from '../../domain/clock.ts';

/** A slot that was not freed after this long is free: one hour, as the reference's. */
const SLOT_MS = 3_600_000;
/** Counters in memory at once. Beyond that the oldest without a call under way and in no open window are removed. */
const COUNTERS_LIMIT = 100_000;
/** Counters tried for one eviction. */
const EVICTION_TRIES = 8;

/** Counts of one scope and id. */
class RateCounter {
  windowMs = Number.NEGATIVE_INFINITY;
  requests = 0;
  tokens = 0;
  /** Ends of the slots of calls under way, oldest first. */
  readonly slots = new Map<object, number>();

  /** Begins a new window where the last one has ended, and frees slots past their time. */
  at(nowMs: number): this {
    if (nowMs - this.windowMs >= RATE_WINDOW_MS) {
      this.windowMs = nowMs;
      this.requests = 0;
      this.tokens = 0;
    }
    for (const [slot, endMs] of this.slots) {
      if (endMs > nowMs) break;
      this.slots.delete(slot);
    }
    return this;
  }

  isIdle(nowMs: number): boolean {
    return this.slots.size === 0 && nowMs - this.windowMs >= RATE_WINDOW_MS;
  }
}

interface Counted {
  readonly limit: RateLimit;
  readonly counter: RateCounter;
}

const counterName = ({ scope, id }: RateLimit): string => `${scope}\n${id}`;

function refusal({ limit }: Counted, type: RateType, most: number, used: number): RateRefusal {
  const { scope, id } = limit;
  return { kind: 'refused', scope, id, type, limit: most, remaining: Math.max(0, most - used) };
}

/** The first of the counters whose limit of one type does not have room for an amount; null when all have. */
function refusedBy(counted: readonly Counted[], type: RateType, amount: number): RateRefusal | null {
  for (const one of counted) {
    const most = limitOf(one.limit, type);
    const used = usedOf(one.counter, type);
    if (most !== undefined && used + amount > most) return refusal(one, type, most, used);
  }
  return null;
}

const limitOf = ({ requests, tokens, parallel }: RateLimit, type: RateType): number | undefined =>
  type === 'requests' ? requests : type === 'tokens' ? tokens : parallel;

const usedOf = ({ requests, tokens, slots }: RateCounter, type: RateType): number =>
  type === 'requests' ? requests : type === 'tokens' ? tokens : slots.size;

const TYPES: readonly RateType[] = ['requests', 'tokens', 'max_parallel_requests'];

function standingsOf(counted: readonly Counted[]): readonly RateStanding[] {
  return counted.flatMap(({ limit, counter }) =>
    TYPES.flatMap((type) => {
      const most = limitOf(limit, type);
      if (most === undefined) return [];
      return [{ scope: limit.scope, type, limit: most, remaining: Math.max(0, most - usedOf(counter, type)) }];
    }),
  );
}

/** Limits that this process counts for itself. */
export function createMemoryRateLimits({
  clock,
  countersLimit = COUNTERS_LIMIT,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly countersLimit?: number;
}): RateLimits {
  const counters = new Map<string, RateCounter>();

  function counterOf(limit: RateLimit, nowMs: number): RateCounter {
    const name = counterName(limit);
    const known = counters.get(name);
    if (known !== undefined) return known.at(nowMs);
    const fresh = new RateCounter().at(nowMs);
    counters.set(name, fresh);
    if (counters.size > countersLimit) evict(nowMs);
    return fresh;
  }

  /** Removes idle counters among the oldest. One in use moves to the young end. */
  function evict(nowMs: number): void {
    let tries = 0;
    for (const [name, counter] of counters) {
      if (tries === EVICTION_TRIES) return;
      tries += 1;
      counters.delete(name);
      if (!counter.isIdle(nowMs)) counters.set(name, counter);
    }
  }

  return {
    admit(limits, expectedTokens) {
      const nowMs = clock.monotonicMs();
      const counted = limits.map((limit) => ({ limit, counter: counterOf(limit, nowMs) }));
      const tooMany = refusedBy(counted, 'requests', 1);
      if (tooMany !== null) return tooMany;
      for (const { counter } of counted) counter.requests += 1;
      const late = refusedBy(counted, 'max_parallel_requests', 1) ?? refusedBy(counted, 'tokens', expectedTokens);
      return late ?? admitted(counted, expectedTokens, clock);
    },
  };
}

function admitted(counted: readonly Counted[], expected: number, clock: Pick<Clock, 'monotonicMs'>): RateAdmission {
  const slot = {};
  const endMs = clock.monotonicMs() + SLOT_MS;
  const windows = counted.map(({ counter }) => counter.windowMs);
  for (const { counter, limit } of counted) {
    counter.tokens += expected;
    if (limit.parallel !== undefined) counter.slots.set(slot, endMs);
  }
  let open = true;
  return {
    kind: 'admitted',
    standings: standingsOf(counted),
    settle(tokens) {
      if (!open) return;
      open = false;
      const nowMs = clock.monotonicMs();
      for (const [position, { counter }] of counted.entries()) {
        counter.slots.delete(slot);
        counter.at(nowMs);
        const reserved = counter.windowMs === windows[position] ? expected : 0;
        counter.tokens += (tokens ?? 0) - reserved;
      }
    },
  };
}
