import type { StoredTotals } from '../../src/domain/admission/stored-totals.ts';

/** Stored totals of several processes. Each process has its own queue of records. */
export class SharedTotals {
  readonly stored = new Map<string, bigint>();

  constructor(stored: Iterable<readonly [string, bigint]> = []) {
    for (const [counter, amount] of stored) this.stored.set(counter, amount);
  }

  /** The view of one process. */
  process(): ProcessTotals {
    return new ProcessTotals(this.stored);
  }
}

export class ProcessTotals implements StoredTotals {
  readonly #stored: Map<string, bigint>;
  #position = 0;
  #storedThrough = 0;
  #waiting: (readonly [string, bigint])[] = [];

  constructor(stored: Map<string, bigint>) {
    this.#stored = stored;
  }

  position = (): number => this.#position;
  storedThrough = (): number => this.#storedThrough;

  /** Records the use of a call. */
  record(amounts: Iterable<readonly [string, bigint]>): void {
    this.#position += 1;
    this.#waiting.push(...amounts);
  }

  /** Commits all records. */
  commit(): void {
    for (const [counter, amount] of this.#waiting)
      this.#stored.set(counter, (this.#stored.get(counter) ?? 0n) + amount);
    this.#waiting = [];
    this.#storedThrough = this.#position;
  }

  async read(counters: readonly string[]) {
    const through = this.#storedThrough;
    const totals = new Map(counters.map((counter) => [counter, this.#stored.get(counter) ?? 0n]));
    // The totals arrive a turn after the read, like those of a database.
    await new Promise((resolve) => void setImmediate(resolve));
    return { totals, through };
  }
}
