import type { ExecutionResult } from 'graphql';
import { behind, ENDED, mapStream, nextOf, type PollableStream, type Take } from '../domain/pollable-stream.ts';

export type Answer = ExecutionResult | Promise<ExecutionResult>;

type Step = IteratorResult<ExecutionResult>;

/** Asks for what one subscriber is shown of an event. */
type Ask = (event: unknown) => Answer;

/**
 * Subscribers to one question with one credential who have read all there was. They follow the events by one stream:
 * what comes is asked for once, and given to each in one loop. Who cannot take it goes on alone, from the same place.
 */
export class InStep {
  readonly #question: { readonly prompt: boolean | null };
  readonly #members = new Set<Follower>();
  /** All who could be members. */
  followers = 0;
  #stream: PollableStream<unknown> | null = null;
  #giving = false;

  /** Answers of a question that is not prompt are waited for, which each does alone. */
  constructor(question: { readonly prompt: boolean | null }) {
    this.#question = question;
  }

  /** Takes in a subscriber who has read all of `own`; false when there is anything that they alone have yet to read. */
  admit(follower: Follower, own: PollableStream<unknown>): boolean {
    if (this.#question.prompt !== true || this.#giving || !own.isDrained()) return false;
    if (this.#stream === null) {
      this.#stream = own.fork();
      this.#stream?.whenReady(this.#give);
    } else this.#give();
    // What the others still wait for, this one has seen.
    if (this.#stream?.isDrained() !== true) return false;
    this.#members.add(follower);
    return true;
  }

  leave(follower: Follower): void {
    if (!this.#members.delete(follower) || this.#members.size > 0) return;
    const stream = this.#stream;
    this.#stream = null;
    stream?.return().catch(() => {});
  }

  /** A stream for a member who goes on alone, from where all stand. */
  apart(): PollableStream<unknown> | null {
    return this.#stream?.fork() ?? null;
  }

  readonly #give = (): void => {
    if (this.#giving) return;
    this.#giving = true;
    try {
      while (this.#stream !== null) {
        const step = this.#stream.poll();
        if (step === null) return this.#stream.whenReady(this.#give);
        if (step.done === true) return this.#end(() => ENDED);
        this.#giveEvent(step.value);
      }
    } catch (error) {
      this.#end(() => {
        throw error;
      });
    } finally {
      this.#giving = false;
    }
  };

  #giveEvent(event: unknown): void {
    const [first] = this.#members;
    const answer = first?.ask(event);
    if (answer === undefined) return;
    if (answer instanceof Promise || answer.errors !== undefined) {
      // Each waits for it, and has what went wrong, alone.
      for (const member of this.#members) member.part(event);
    } else for (const member of this.#members) member.give(answer);
  }

  #end(how: () => Step): void {
    this.#stream?.return().catch(() => {});
    this.#stream = null;
    for (const member of this.#members) member.end(how);
    this.#members.clear();
  }
}

/** One subscription: alone with a stream of its own, or in step with others once it has read all there was. */
export class Follower implements PollableStream<ExecutionResult> {
  readonly #inStep: InStep;
  readonly ask: Ask;
  /** Null while in step. */
  #alone: { readonly events: PollableStream<unknown>; readonly results: PollableStream<ExecutionResult> } | null = null;
  #ready: (() => void) | null = null;
  #take: Take<ExecutionResult> | null = null;
  #ended: (() => Step) | null = null;

  constructor(events: PollableStream<unknown>, ask: Ask, inStep: InStep) {
    this.ask = ask;
    this.#inStep = inStep;
    this.#goAlone(events);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  poll(): Step | null {
    const ended = this.#ended;
    if (ended === null) return this.#alone?.results.poll() ?? null;
    this.#ended = over;
    return ended();
  }

  whenReady(ready: () => void, take?: Take<ExecutionResult>): void {
    this.#ready = ready;
    if (this.#ended !== null) return this.#wake();
    if (take !== undefined) this.#join(take);
    this.#alone?.results.whenReady(ready);
  }

  /** Gives a member what all are shown; who can take no more stands there alone from now on. */
  give(answer: ExecutionResult): void {
    if (this.#take?.(answer) !== true) this.#leaveStep(this.#inStep.apart());
  }

  /** Has a member ask alone for what it is shown of an event that the others have read. */
  part(event: unknown): void {
    const events = this.#inStep.apart();
    this.#leaveStep(events === null ? null : behind(event, events));
    this.#wake();
  }

  /** Tells a member that the stream of all is over, and how. */
  end(how: () => Step): void {
    this.#ended = how;
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
    this.end(over);
    this.#inStep.leave(this);
    await this.#alone?.results.return();
    return ENDED;
  }

  #join(take: Take<ExecutionResult>): void {
    const alone = this.#alone;
    // What it waits for an answer to is still its own.
    if (alone === null || !alone.results.isDrained() || !this.#inStep.admit(this, alone.events)) return;
    this.#alone = null;
    this.#take = take;
    alone.results.return().catch(() => {});
  }

  #leaveStep(events: PollableStream<unknown> | null): void {
    this.#take = null;
    this.#inStep.leave(this);
    if (events !== null) this.#goAlone(events);
  }

  #goAlone(events: PollableStream<unknown>): void {
    this.#alone = { events, results: mapStream(events, this.ask) };
  }

  #wake(): void {
    const ready = this.#ready;
    this.#ready = null;
    if (ready !== null) queueMicrotask(ready);
  }
}

const over = (): Step => ENDED;
