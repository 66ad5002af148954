import type { GraphQLError } from 'graphql';
import type { Turns } from '../src/domain/event-loop-turns.ts';
import { tooLarge } from './too-large.ts';

/** Most fields that the lists of one answer yield. Static costs take a list without pages for short; this counts it. */
const MAX_LISTED_FIELDS = 500_000;
/** Operations of one request that wait for their result at the same time; others start when one has it. */
const MOST_RUNNING = 16;
/** The same for expensive fields: what they do with what they read is not cut into slices. */
const MOST_HEAVY_RUNNING = 1;

/** Runs so many at the same time; others wait, first in, first out. */
export class Lane {
  readonly #most: number;
  readonly #turns: Turns;
  /** None until someone has to wait. */
  #queue: (() => void)[] | null = null;
  #running = 0;

  constructor(most: number, turns: Turns) {
    this.#most = most;
    this.#turns = turns;
  }

  /** Starts an operation when there is room, in a turn with time left. */
  start(operation: () => unknown): unknown {
    const ready = this.#enter();
    return ready === null ? this.#run(operation) : ready.then(() => this.#run(operation));
  }

  #enter(): Promise<void> | null {
    if (this.#running < this.#most) {
      this.#running += 1;
      return this.#turns.due();
    }
    // An operation that ends passes its place to the next one in the queue.
    return new Promise<void>((resolve) => (this.#queue ??= []).push(resolve)).then(
      () => this.#turns.due() ?? undefined,
    );
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
  readonly ordinary: Lane;
  readonly heavy: Lane;
  #fields = 0;
  /** The refusal, once the lists have yielded too many fields. */
  refusal: GraphQLError | null = null;

  constructor(turns: Turns) {
    this.turns = turns;
    this.ordinary = new Lane(MOST_RUNNING, turns);
    this.heavy = new Lane(MOST_HEAVY_RUNNING, turns);
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
