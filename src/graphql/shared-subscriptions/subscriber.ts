import type { ExecutionResult } from 'graphql';
import { prepend, ENDED, mapStream, nextOf, type PollableStream, type Take } from '../../domain/pollable-stream.ts';

/** The result of one event; a promise when a resolver is asynchronous. */
export type EventResult = ExecutionResult | Promise<ExecutionResult>;

type Step = IteratorResult<ExecutionResult>;

type Execute = (event: unknown) => EventResult;

/**
 * Subscribers of one operation and one credential that have read every event so far. The group reads one stream,
 * executes each event once and passes the result to all members in one loop. A member that cannot accept a result
 * leaves the group and reads its own copy of the stream from the same position.
 */
export class SubscriberGroup {
  readonly #operation: { readonly synchronous: boolean | null };
  readonly #members = new Set<Subscriber>();
  /** Number of members, and of subscribers that read on their own. */
  subscribers = 0;
  #stream: PollableStream<unknown> | null = null;
  #delivering = false;

  /**
   * A group admits members only while results are synchronous. Outside of the group, each subscriber awaits the
   * promises of its results itself.
   */
  constructor(operation: { readonly synchronous: boolean | null }) {
    this.#operation = operation;
  }

  /**
   * Admits a subscriber. Returns false unless results are synchronous and the subscriber has read exactly as far as the
   * group.
   */
  admit(subscriber: Subscriber, own: PollableStream<unknown>): boolean {
    if (this.#operation.synchronous !== true || this.#delivering || !own.isDrained()) return false;
    if (this.#stream === null) {
      this.#stream = own.fork();
      this.#stream?.whenReady(this.#deliver);
    } else this.#deliver();
    // The subscriber has already received events that are still pending for the group.
    if (this.#stream?.isDrained() !== true) return false;
    this.#members.add(subscriber);
    return true;
  }

  leave(subscriber: Subscriber): void {
    if (!this.#members.delete(subscriber) || this.#members.size > 0) return;
    const stream = this.#stream;
    this.#stream = null;
    stream?.return().catch(() => {});
  }

  /** A copy of the stream at the position of the group; null when the stream has ended or cannot be copied. */
  fork(): PollableStream<unknown> | null {
    return this.#stream?.fork() ?? null;
  }

  readonly #deliver = (): void => {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      while (this.#stream !== null) {
        const step = this.#stream.poll();
        if (step === null) return this.#stream.whenReady(this.#deliver);
        if (step.done === true) return this.#end(() => ENDED);
        this.#deliverEvent(step.value);
      }
    } catch (error) {
      this.#end(() => {
        throw error;
      });
    } finally {
      this.#delivering = false;
    }
  };

  #deliverEvent(event: unknown): void {
    const [first] = this.#members;
    const result = first?.execute(event);
    if (result === undefined) return;
    if (result instanceof Promise || result.errors !== undefined) {
      // Each member awaits the promise, or gets the errors, on its own.
      for (const member of this.#members) member.leaveWith(event);
    } else for (const member of this.#members) member.receive(result);
  }

  #end(lastStep: () => Step): void {
    this.#stream?.return().catch(() => {});
    this.#stream = null;
    for (const member of this.#members) member.end(lastStep);
    this.#members.clear();
  }
}

/** One subscription. It reads its own stream until it has drained it, then joins the group. */
export class Subscriber implements PollableStream<ExecutionResult> {
  readonly #group: SubscriberGroup;
  readonly execute: Execute;
  /** The own stream of the subscriber; null while it is a member of the group. */
  #own: { readonly events: PollableStream<unknown>; readonly results: PollableStream<ExecutionResult> } | null = null;
  #ready: (() => void) | null = null;
  #take: Take<ExecutionResult> | null = null;
  /** The last step: the end, or the error that ended the stream. */
  #lastStep: (() => Step) | null = null;

  constructor(events: PollableStream<unknown>, execute: Execute, group: SubscriberGroup) {
    this.execute = execute;
    this.#group = group;
    this.#readOwn(events);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  poll(): Step | null {
    const lastStep = this.#lastStep;
    if (lastStep === null) return this.#own?.results.poll() ?? null;
    // An error is thrown once.
    this.#lastStep = endedStep;
    return lastStep();
  }

  whenReady(ready: () => void, take?: Take<ExecutionResult>): void {
    this.#ready = ready;
    if (this.#lastStep !== null) return this.#wake();
    if (take !== undefined) this.#join(take);
    this.#own?.results.whenReady(ready);
  }

  /** Passes a result of the group to the reader. Leaves the group if the reader accepts no further result. */
  receive(result: ExecutionResult): void {
    if (this.#take?.(result) !== true) this.#leaveGroup(this.#group.fork());
  }

  /** Leaves the group before `event`, which the subscriber then executes on its own. */
  leaveWith(event: unknown): void {
    const events = this.#group.fork();
    this.#leaveGroup(events === null ? null : prepend(event, events));
    this.#wake();
  }

  /** Ends the subscription with a last step, which may throw. */
  end(lastStep: () => Step): void {
    this.#lastStep = lastStep;
    this.#wake();
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

  async return(): Promise<Step> {
    this.end(endedStep);
    this.#group.leave(this);
    await this.#own?.results.return();
    return ENDED;
  }

  #join(take: Take<ExecutionResult>): void {
    const own = this.#own;
    // A pending result is still read from its own stream.
    if (own === null || !own.results.isDrained() || !this.#group.admit(this, own.events)) return;
    this.#own = null;
    this.#take = take;
    own.results.return().catch(() => {});
  }

  #leaveGroup(events: PollableStream<unknown> | null): void {
    this.#take = null;
    this.#group.leave(this);
    if (events !== null) this.#readOwn(events);
  }

  #readOwn(events: PollableStream<unknown>): void {
    this.#own = { events, results: mapStream(events, this.execute) };
  }

  #wake(): void {
    const ready = this.#ready;
    this.#ready = null;
    if (ready !== null) queueMicrotask(ready);
  }
}

const endedStep = (): Step => ENDED;
