import type { ExecutionResult, GraphQLError } from 'graphql';
import { ENDED, nextOf, type PollableStream, type Take } from '../domain/pollable-stream.ts';

type Step = IteratorResult<ExecutionResult>;

/**
 * The results of one live subscription with masked errors. A source that throws, and a call of `stop`, yield one result
 * with the error and end the stream. `return` ends the stream immediately, even while a result is pending. Not an async
 * generator: the `return` of a generator would wait for the next event.
 */
export class LiveResults implements PollableStream<ExecutionResult> {
  readonly #source: PollableStream<ExecutionResult>;
  readonly #onEnd: () => void;
  readonly #mask: (error: unknown) => GraphQLError;
  #isOver = false;
  #failureEvent: ExecutionResult | null = null;
  #ready: (() => void) | null = null;

  constructor(
    source: PollableStream<ExecutionResult>,
    hooks: {
      /** Called once, at the end. */
      readonly ended: () => void;
      /** An error as the client sees it. */
      readonly mask: (error: unknown) => GraphQLError;
    },
  ) {
    this.#source = source;
    this.#onEnd = hooks.ended;
    this.#mask = hooks.mask;
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
    if (this.#isOver) return ENDED;
    try {
      const step = this.#source.poll();
      if (step === null) return null;
      if (step.done !== true) return this.#masked(step);
      this.#finish();
      return ENDED;
    } catch (error) {
      this.stop(error);
      return this.poll();
    }
  }

  /** Results passed to `take` are shared and have no errors, so they are not masked. */
  whenReady(ready: () => void, take?: Take<ExecutionResult>): void {
    this.#ready = ready;
    if (this.#isOver) queueMicrotask(this.#wake);
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

  /** Ends the stream with one last result that has the error. */
  stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#failureEvent = { errors: [this.#mask(reason)] };
    this.#finish();
  }

  #masked(step: IteratorYieldResult<ExecutionResult>): Step {
    const { errors } = step.value;
    return errors === undefined ? step : { done: false, value: { ...step.value, errors: errors.map(this.#mask) } };
  }

  readonly #wake = (): void => {
    const ready = this.#ready;
    this.#ready = null;
    ready?.();
  };

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
    queueMicrotask(this.#wake);
    // Not awaited: a source that closes slowly must not block its reader.
    this.#source.return().catch(() => {});
  }
}
