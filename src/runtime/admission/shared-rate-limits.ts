import type {
  RateAdmission,
  RateLimit,
  RateLimits,
  RateRefusal,
  RateStanding,
  RateType,
} from '../../domain/admission/rate-limits.ts';
import type { Clock } from '../../domain/clock.ts';
import { OpenList, type Place } from '../../domain/open-list.ts';
import { RateShare } from './rate-share.ts';
import { amountOf, limitOf, SLOT_MS, STANDING_TYPES } from './rate-types.ts';
import type { Shares } from './shares.ts';

/** Number of shares in memory above which a new share evicts the oldest idle ones. */
const SHARES_LIMIT = 300_000;
/** Shares that one eviction examines. */
const EVICTION_TRIES = 8;
/**
 * Maximum time in ms for which a call asks the ledger again because other calls took the granted room. After that time,
 * a call without room is refused.
 */
const MAX_WAIT_MS = 2_000;

/** The phases of a check, in their order. */
const PHASES: readonly { readonly type: RateType; readonly kind: 'window' | 'slots' }[] = [
  { type: 'requests', kind: 'window' },
  { type: 'max_parallel_requests', kind: 'slots' },
  { type: 'tokens', kind: 'window' },
];

/** One number of a limit, for example its tokens, with its share and the amount of the call. */
interface CountedLimit {
  readonly limit: RateLimit;
  readonly type: RateType;
  /** Value of the limit for this type. */
  readonly max: number;
  readonly share: RateShare;
  readonly amount: number;
}

/** Limits that several processes count together, over shares of a ledger. */
export function createSharedRateLimits({
  shares,
  clock,
  sharesLimit = SHARES_LIMIT,
}: {
  readonly shares: Shares;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly sharesLimit?: number;
}): RateLimits {
  const nowMs = (): number => clock.monotonicMs();
  /** Oldest first. An eviction moves the shares in use to the end. */
  const known = new Map<string, RateShare>();
  const openCalls: OpenCalls = new OpenList();

  function shareOf(name: string, kind: 'window' | 'slots', limit: number): RateShare {
    const found = known.get(name);
    if (found !== undefined) {
      found.limit = limit;
      return found;
    }
    const fresh = new RateShare({ name, kind, limit }, shares, nowMs);
    known.set(name, fresh);
    if (known.size > sharesLimit) evict();
    return fresh;
  }

  function evict(): void {
    let tries = 0;
    for (const [name, share] of known) {
      if (tries === EVICTION_TRIES) return;
      tries += 1;
      known.delete(name);
      if (!share.isIdle()) known.set(name, share);
    }
  }

  /** The limits of a call in the order in which they are checked. */
  function countedOf(limits: readonly RateLimit[], expectedTokens: number): readonly CountedLimit[] {
    const counted: CountedLimit[] = [];
    for (const { type, kind } of PHASES)
      for (const limit of limits) {
        const max = limitOf(limit, type);
        if (max === undefined) continue;
        const share = shareOf(`rate:${type}:${limit.scope}:${limit.id}`, kind, max);
        counted.push({ limit, type, max, share, amount: amountOf(limit, type, expectedTokens) });
      }
    return counted;
  }

  /**
   * Admits the call when every limit has room, and otherwise refuses it. A request that a later phase refuses stays
   * counted.
   */
  function decide(counted: readonly CountedLimit[]): RateAdmission | RateRefusal {
    const refused = counted.find(lacksRoom);
    if (refused === undefined) return new SharedCall(counted, { nowMs, openCalls });
    if (refused.type !== 'requests')
      for (const { type, share, amount } of counted) if (type === 'requests') share.take(amount);
    return refusalOf(refused);
  }

  async function requestAndDecide(counted: readonly CountedLimit[]): Promise<RateAdmission | RateRefusal> {
    const deadlineMs = nowMs() + MAX_WAIT_MS;
    for (;;) {
      const lacking = counted.filter(lacksRoom);
      if (lacking.length === 0 || nowMs() >= deadlineMs) return decide(counted);
      // Shares that lack room send their requests in one round trip.
      await Promise.all(lacking.map(({ share, amount }) => share.request(amount)));
      const stillLacking = counted.find(lacksRoom);
      if (stillLacking === undefined || stillLacking.share.left < stillLacking.amount) return decide(counted);
    }
  }

  return {
    admit(limits, expectedTokens) {
      expire(openCalls, nowMs());
      const counted = countedOf(limits, expectedTokens);
      const lacking = counted.find(lacksRoom);
      if (lacking === undefined) return decide(counted);
      const isUsedUpHere = lacking.type === 'requests' && lacking.share.isUsedUp(lacking.amount);
      return isUsedUpHere ? decide(counted) : requestAndDecide(counted);
    },
    prepare(limits, expectedTokens) {
      for (const { share, amount } of countedOf(limits, expectedTokens).filter(lacksRoom)) void share.request(amount);
    },
  };
}

const lacksRoom = ({ share, amount }: CountedLimit): boolean => !share.hasRoom(amount);

function refusalOf({ limit: { scope, id }, type, max, share }: CountedLimit): RateRefusal {
  return { kind: 'refused', scope, id, type, limit: max, remaining: Math.max(0, share.left) };
}

/** Admitted calls that are neither settled nor expired, the oldest first. */
type OpenCalls = OpenList<SharedCall>;

/** Frees the slots that were not freed in time. */
function expire(openCalls: OpenCalls, nowMs: number): void {
  for (;;) {
    const { oldest } = openCalls;
    if (oldest === null || oldest.endMs > nowMs) return;
    oldest.free();
  }
}

/** One admitted call: it reserves its expected tokens and holds a slot of each limit of parallel calls. */
class SharedCall implements RateAdmission {
  readonly kind = 'admitted';
  readonly standings: readonly RateStanding[];
  /** Time at which its slots are freed, also when the call has not ended. */
  readonly endMs: number;
  /** Number of the window in which each counted limit took its amount, in the order of `#counted`. */
  readonly #windows: readonly number[];
  readonly #counted: readonly CountedLimit[];
  readonly #openCalls: OpenCalls;
  readonly #place: Place<SharedCall>;
  #isSettled = false;

  constructor(counted: readonly CountedLimit[], at: { readonly nowMs: () => number; readonly openCalls: OpenCalls }) {
    this.#counted = counted;
    this.#openCalls = at.openCalls;
    this.endMs = at.nowMs() + SLOT_MS;
    for (const { share, amount } of counted) share.take(amount);
    this.#windows = counted.map(({ share }) => share.window);
    this.#place = at.openCalls.add(this);
    this.standings = standingsOf(counted);
  }

  settle(tokens: number | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.free();
    for (const [position, { limit, type, share, amount }] of this.#counted.entries()) {
      if (type !== 'tokens') continue;
      const isSameWindow = share.window === this.#windows[position];
      const used = tokens === null ? 0 : amountOf(limit, 'tokens', tokens);
      share.take(used - (isSameWindow ? amount : 0));
    }
  }

  /** Frees its slots, once. */
  free(): void {
    if (!this.#openCalls.remove(this.#place)) return;
    for (const { type, share } of this.#counted) if (type === 'max_parallel_requests') share.take(-1);
  }
}

/** Standings in the order of the answer's headers: by limit, then by type. */
function standingsOf(counted: readonly CountedLimit[]): readonly RateStanding[] {
  const limits = new Set(counted.map(({ limit }) => limit));
  const standings: RateStanding[] = [];
  for (const limit of limits)
    for (const type of STANDING_TYPES) {
      const found = counted.find((one) => one.limit === limit && one.type === type);
      if (found === undefined) continue;
      const { max, share } = found;
      standings.push({ scope: limit.scope, type, limit: max, remaining: Math.max(0, share.left) });
    }
  return standings;
}
