import type { ExecutionResult, GraphQLError } from 'graphql';

const DONE: IteratorResult<ExecutionResult> = { done: true, value: undefined };

/**
 * The results of one live subscription as its client may see them, with an end that always comes. A source that
 * throws yields one result with the error and is over; so does one that is stopped; one that is returned is over at
 * once, even while a result is awaited. Written by hand because an async generator's `return` waits for the event
 * that may never come.
 */
export class LiveResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #source: AsyncIterator<ExecutionResult>;
  readonly #ended: () => void;
  readonly #explain: (error: unknown) => GraphQLError;
  #over = false;
  #lastWords: ExecutionResult | null = null;
  #waiting: ((result: IteratorResult<ExecutionResult>) => void) | null = null;

  constructor(
    source: AsyncIterable<ExecutionResult>,
    hooks: {
      /** Told once, however it ended. */
      readonly ended: () => void;
      /** An error as the client sees it. */
      readonly explain: (error: unknown) => GraphQLError;
    },
  ) {
    this.#source = source[Symbol.asyncIterator]();
    this.#ended = hooks.ended;
    this.#explain = hooks.explain;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#lastWords) {
      const value = this.#lastWords;
      this.#lastWords = null;
      return Promise.resolve({ done: false, value });
    }
    if (this.#over) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#source.next().then(
        (result) => this.#arrived(result),
        (error: unknown) => this.stop(error),
      );
    });
  }

  return(): Promise<IteratorResult<ExecutionResult>> {
    this.#lastWords = null;
    this.#finish();
    this.#deliver(DONE);
    return Promise.resolve(DONE);
  }

  async throw(error: Error): Promise<IteratorResult<ExecutionResult>> {
    await this.return();
    throw error;
  }

  /** Ends it with one last result that says why. */
  stop(reason: unknown): void {
    if (this.#over) return;
    this.#finish();
    this.#lastWords = { errors: [this.#explain(reason)] };
    if (!this.#waiting) return;
    this.#deliver({ done: false, value: this.#lastWords });
    this.#lastWords = null;
  }

  #arrived(result: IteratorResult<ExecutionResult, undefined>): void {
    if (this.#over) return;
    if (result.done === true) {
      this.#finish();
      this.#deliver(DONE);
      return;
    }
    const { errors } = result.value;
    const shown = errors === undefined ? result.value : { ...result.value, errors: errors.map(this.#explain) };
    this.#deliver({ done: false, value: shown });
  }

  #deliver(result: IteratorResult<ExecutionResult>): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(result);
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
    // Not awaited: a source that is slow to close must not keep its reader.
    this.#source.return?.()?.catch(() => {});
  }
}
