import type { ExecutionResult, GraphQLError } from 'graphql';
import { ENDED, nextOf, type PollableStream, type Take } from '../domain/pollable-stream.ts';

type Step = IteratorResult<ExecutionResult>;

/**
 * The results of one live subscription as its client may see them, with an end that always comes. A source that
 * throws yields one result with the error and is over; so does one that is stopped; one that is returned is over at
 * once, even while a result is awaited. Written by hand because an async generator's `return` waits for the event
 * that may never come.
 */
export class LiveResults implements PollableStream<ExecutionResult> {
  readonly #source: PollableStream<ExecutionResult>;
  readonly #ended: () => void;
  readonly #explain: (error: unknown) => GraphQLError;
  #over = false;
  #failureEvent: ExecutionResult | null = null;
  #ready: (() => void) | null = null;

  constructor(
    source: PollableStream<ExecutionResult>,
    hooks: {
      /** Called once, at the end. */
      readonly ended: () => void;
      /** An error as the client sees it. */
      readonly explain: (error: unknown) => GraphQLError;
    },
  ) {
    this.#source = source;
    this.#ended = hooks.ended;
    this.#explain = hooks.explain;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  poll(): Step | null {
    if (this.#failureEvent !== null) {
      const value = this.#failureEvent;
      this.#failureEvent = null;
      return { done: false, value };
    }
    if (this.#over) return ENDED;
    try {
      const step = this.#source.poll();
      if (step === null) return null;
      if (step.done !== true) return this.#shown(step);
      this.#finish();
      return ENDED;
    } catch (error) {
      this.stop(error);
      return this.poll();
    }
  }

  /** What is given to `take` goes past here: there is nothing to explain in results that several are given. */
  whenReady(ready: () => void, take?: Take<ExecutionResult>): void {
    this.#ready = ready;
    if (this.#over) queueMicrotask(this.#wake);
    else this.#source.whenReady(this.#wake, take);
  }

  fork(): null {
    return null;
  }

  isDrained(): boolean {
    return false;
  }

  next(): Promise<Step> {
    return nextOf(this);
  }

  return(): Promise<Step> {
    this.#failureEvent = null;
    this.#finish();
    return Promise.resolve(ENDED);
  }

  async throw(error: Error): Promise<Step> {
    await this.return();
    throw error;
  }

  /** Ends it with one last result that says why. */
  stop(reason: unknown): void {
    if (this.#over) return;
    this.#failureEvent = { errors: [this.#explain(reason)] };
    this.#finish();
  }

  #shown(step: IteratorYieldResult<ExecutionResult>): Step {
    const { errors } = step.value;
    return errors === undefined ? step : { done: false, value: { ...step.value, errors: errors.map(this.#explain) } };
  }

  readonly #wake = (): void => {
    const ready = this.#ready;
    this.#ready = null;
    ready?.();
  };

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
    queueMicrotask(this.#wake);
    // Not awaited: a source that is slow to close must not keep its reader.
    this.#source.return().catch(() => {});
  }
}
