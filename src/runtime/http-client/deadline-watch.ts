import { OpenList, type Place } from '../../domain/open-list.ts';

/** Interval between checks, in ms. One timer for all calls and connections costs less than one for each. */
const CHECK_MS = 250;

/** Time source of the HTTP client, which tests replace. */
export interface TimeSource {
  /** Monotonic time in ms. */
  now(): number;
  /** Runs a function periodically until the returned function is called. */
  every(milliseconds: number, run: () => void): () => void;
}

const SYSTEM_TIME: TimeSource = {
  now: () => performance.now(),
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds).unref();
    return () => clearInterval(timer);
  },
};

/** A call or a connection with a deadline. */
export interface HasDeadline {
  /** On the clock of the watch; Infinity for none. */
  readonly deadlineMs: number;
  /** Its position in the list of the watch; null while it is not watched. Only the watch changes it. */
  place: Place<HasDeadline> | null;
  /** Called when the deadline has passed. Must remove the object from the watch, or set a later deadline. */
  expired(): void;
}

/** Checks the deadlines of every call and connection of one client. */
export class DeadlineWatch {
  readonly #time: TimeSource;
  readonly #all = new OpenList<HasDeadline>();
  #stop: (() => void) | null = null;

  constructor(time: TimeSource = SYSTEM_TIME) {
    this.#time = time;
  }

  /** Number of watched objects. */
  get size(): number {
    return this.#all.size;
  }

  now(): number {
    return this.#time.now();
  }

  add(watched: HasDeadline): void {
    watched.place ??= this.#all.add(watched);
    this.#stop ??= this.#time.every(CHECK_MS, () => this.#check());
  }

  remove(watched: HasDeadline): void {
    if (watched.place === null) return;
    this.#all.remove(watched.place);
    watched.place = null;
  }

  #check(): void {
    const nowMs = this.#time.now();
    for (const watched of this.#all) if (nowMs >= watched.deadlineMs) watched.expired();
    if (this.#all.size > 0) return;
    this.#stop?.();
    this.#stop = null;
  }
}
