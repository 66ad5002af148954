import type { GraphQLError } from 'graphql';
import type { Turns } from '../../src/domain/event-loop-turns.ts';
import { tooLarge } from './too-large.ts';

/** Maximum number of fields in the lists of one answer. Static costs assume that a list without pages is short. */
const MAX_LISTED_FIELDS = 500_000;
/** Maximum number of root fields of one request that are resolved concurrently; others are queued. */
const MAX_RUNNING = 16;
/** Maximum number of concurrent expensive fields of one request: their processing does not yield to the event loop. */
const MAX_HEAVY_RUNNING = 1;

/**
 * Runs at most `maxRunning` operations, here the resolvers of fields, at the same time. Others wait in a FIFO queue.
 */
export class ConcurrencyLimit {
  readonly #maxRunning: number;
  readonly #turns: Turns;
  /** Created when the first operation has to wait. */
  #queue: (() => void)[] | null = null;
  #running = 0;

  constructor(maxRunning: number, turns: Turns) {
    this.#maxRunning = maxRunning;
    this.#turns = turns;
  }

  /** Starts an operation below the limit, in a turn of the event loop with time left. */
  start(operation: () => unknown): unknown {
    const ready = this.#enter();
    return ready === null ? this.#run(operation) : ready.then(() => this.#run(operation));
  }

  /** Null when the operation may start now; otherwise a promise that resolves when it may. */
  #enter(): Promise<void> | null {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
      return this.#turns.due();
    }
    // An operation that ends passes its slot to the next one in the queue.
    this.#queue ??= [];
    const queue = this.#queue;
    return new Promise<void>((resolve) => queue.push(resolve)).then(() => this.#turns.due() ?? undefined);
  }

  #run(operation: () => unknown): unknown {
    const leave = (): void => {
      const next = this.#queue?.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    };
    try {
      const result = operation();
      if (result instanceof Promise) result.then(leave, leave);
      else leave();
      return result;
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** The work of one request, or of one event of a subscription. */
export class Work {
  readonly turns: Turns;
  /** For root fields that are not expensive. */
  readonly ordinary: ConcurrencyLimit;
  /** For expensive fields at any depth. */
  readonly heavy: ConcurrencyLimit;
  #fields = 0;
  /** The refusal, once the lists have yielded too many fields. */
  refusal: GraphQLError | null = null;

  constructor(turns: Turns) {
    this.turns = turns;
    this.ordinary = new ConcurrencyLimit(MAX_RUNNING, turns);
    this.heavy = new ConcurrencyLimit(MAX_HEAVY_RUNNING, turns);
  }

  /** Counts fields that a list yields. Throws when there are too many. */
  count(fields: number): void {
    this.#fields += fields;
    if (this.#fields <= MAX_LISTED_FIELDS) return;
    this.refusal = tooLarge(
      `The lists of the answer yield more than ${MAX_LISTED_FIELDS} fields. Ask for less at once.`,
    );
    throw this.refusal;
  }
}
