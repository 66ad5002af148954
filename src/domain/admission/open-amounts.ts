import type { Charge } from './admission.ts';

interface OpenAmount {
  readonly counters: readonly string[];
  readonly amount: bigint;
}

/**
 * Expected costs of objects that upstreams still work on, such as responses in the background, by counter. They reserve
 * a part of each budget that the later cost counts in. All processes hold the same amounts, so no ledger counts them.
 * Amounts are in the unit of the counters: picodollars.
 */
export class OpenAmounts {
  readonly #held = new Map<string, OpenAmount>();
  readonly #sums = new Map<string, bigint>();

  /** Whether no counter has an amount. */
  get isEmpty(): boolean {
    return this.#sums.size === 0;
  }

  /** Sum of the amounts of a counter; zero for none. */
  of(counter: string): bigint {
    return this.#sums.get(counter) ?? 0n;
  }

  /** Holds the amount of an object in each of the counters, in place of its earlier amount. */
  hold(id: string, { counters, amount }: OpenAmount): void {
    this.release(id);
    if (amount <= 0n) return;
    const held = { counters: [...new Set(counters)], amount };
    this.#held.set(id, held);
    for (const counter of held.counters) this.#sums.set(counter, this.of(counter) + amount);
  }

  /** Releases the amount of an object. */
  release(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    for (const counter of held.counters) {
      const rest = this.of(counter) - held.amount;
      if (rest > 0n) this.#sums.set(counter, rest);
      else this.#sums.delete(counter);
    }
  }

  /**
   * A charge whose limit is lowered by the amount that its counter holds. As for reservations of calls, a use that
   * reaches the lowered limit is refused. A charge of zero stays unchanged: only its use is checked.
   */
  lowered(charge: Charge): Charge {
    const held = charge.amount === 0n ? 0n : this.of(charge.counter);
    return held === 0n ? charge : { ...charge, limit: charge.limit - held, refused: 'at' };
  }
}
