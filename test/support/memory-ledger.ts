import {
  type ShareRequest,
  type Ledger,
  LEDGER_LEASE_MS,
  type LedgerAnswer,
  type LedgerSnapshot,
  type ShareAnswer,
  spareDivisor,
} from '../../src/domain/admission/ledger.ts';
import { RATE_WINDOW_MS } from '../../src/domain/admission/rate-limits.ts';

interface Member {
  /** Use and grants of the process. */
  share: bigint;
  /** Part of the share that the database has stored. */
  stored: bigint;
}

class Counter {
  members = new Map<string, Member>();
  /** Stored total without the parts of the members. */
  base = 0n;
  /** Rises when a member joins or leaves. */
  version = 0;
  /** Start of the window. */
  windowMs = Number.NEGATIVE_INFINITY;
}

const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right);
const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right);

/** Ledger in memory: the reference model for the real ledgers, and the ledger of unit tests. */
export class MemoryLedger implements Ledger {
  nowMs = 1_000;
  /** While true, `requestShares` and `snapshot` fail. */
  isUnavailable = false;
  /** Number of `requestShares` calls so far. */
  trips = 0;
  #counters = new Map<string, Counter>();
  #leases = new Map<string, number>();

  /** Removes all data, like a restart of a server without persistence. */
  clear(): void {
    this.#counters.clear();
    this.#leases.clear();
  }

  /** Share of a process in a counter. */
  shareOf(process: string, counter: string): bigint {
    return this.#counters.get(counter)?.members.get(process)?.share ?? 0n;
  }

  requestShares(process: string, asks: readonly ShareRequest[]): Promise<LedgerAnswer> {
    this.trips += 1;
    if (this.isUnavailable) return Promise.reject(new Error('The ledger is unavailable.'));
    for (const [name, endMs] of this.#leases) if (endMs <= this.nowMs) this.#leases.delete(name);
    const isNew = !this.#leases.has(process);
    this.#leases.set(process, this.nowMs + LEDGER_LEASE_MS);
    return Promise.resolve({ shares: asks.map((ask) => this.#answer(process, ask)), isNew });
  }

  snapshot(process: string, counters: readonly string[]): Promise<readonly LedgerSnapshot[]> {
    if (this.isUnavailable) return Promise.reject(new Error('The ledger is unavailable.'));
    return Promise.resolve(
      counters.map((name) => {
        const counter = this.#counters.get(name);
        const others = [...(counter?.members ?? [])].filter(([member]) => member !== process);
        return { version: counter?.version ?? 0, stored: others.reduce((sum, [, { stored }]) => sum + stored, 0n) };
      }),
    );
  }

  leave(process: string): Promise<void> {
    this.#leases.delete(process);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #answer(process: string, ask: ShareRequest): ShareAnswer {
    const counter = this.#counters.get(ask.counter) ?? new Counter();
    this.#counters.set(ask.counter, counter);
    let { held } = ask;
    if (ask.kind === 'window') {
      if (this.nowMs - counter.windowMs >= RATE_WINDOW_MS) {
        counter.windowMs = this.nowMs;
        counter.members.clear();
      }
      // A request without a window keeps the earlier share. An amount of another window does not count.
      if (ask.window === null) held += counter.members.get(process)?.share ?? 0n;
      else if (ask.window !== counter.windowMs) held = 0n;
    } else {
      // Removes members whose lease has ended, and the earlier share of a process that joins again.
      for (const [name, { stored }] of counter.members) {
        if (this.#leases.has(name) && !(ask.joins && name === process)) continue;
        counter.members.delete(name);
        if (ask.kind === 'slots') continue;
        counter.base += stored;
        counter.version += 1;
      }
      if (ask.kind === 'spend' && !this.#isKnown(process, ask, counter))
        return { known: false, granted: 0n, left: 0n, window: 0, windowLeftMs: 0 };
    }
    const others = [...counter.members].filter(([name]) => name !== process).map(([, member]) => member);
    const left = ask.limit - counter.base - held - others.reduce((sum, { share }) => sum + share, 0n);
    const othersReserveNothing = others.every(({ share, stored }) => share === stored);
    const granted = grantOf(ask, { left, othersReserveNothing, divisor: BigInt(spareDivisor(this.#leases.size)) });
    if (ask.kind === 'slots' && held + granted === 0n) counter.members.delete(process);
    else counter.members.set(process, { share: held + granted, stored: ask.stored });
    const isWindow = ask.kind === 'window';
    return {
      known: true,
      granted,
      left,
      window: isWindow ? counter.windowMs : 0,
      windowLeftMs: isWindow ? counter.windowMs + RATE_WINDOW_MS - this.nowMs : 0,
    };
  }

  /** Whether the use of a budget is known. If so, applies the base of the request, and counts a new member. */
  #isKnown(process: string, { base, stored }: ShareRequest, counter: Counter): boolean {
    const isMember = counter.members.has(process);
    const fits = base !== null && base.version === counter.version;
    const needsBase = counter.version === 0 || (!isMember && stored > 0n);
    if (needsBase && !fits) return false;
    if (fits) counter.base = base.value;
    if (!isMember) counter.version += 1;
    return true;
  }
}

function grantOf(
  { kind, need, largest, atLimit, spare }: ShareRequest,
  {
    left,
    othersReserveNothing,
    divisor,
  }: { readonly left: bigint; readonly othersReserveNothing: boolean; readonly divisor: bigint },
): bigint {
  let granted = 0n;
  if (left >= need) granted = need;
  else if (kind !== 'spend') granted = larger(0n, left);
  // While anything is left of a budget, a call that is larger than the rest is admitted.
  else if (left > 0n) granted = larger(left, largest);
  if (left === 0n && othersReserveNothing && atLimit) granted = largest;
  return left > need ? granted + smaller(spare, (left - need) / divisor) : granted;
}
