import { randomBytes } from 'node:crypto';
import type { Bus, Delivery, Topics } from '../domain/bus.ts';
import { Conflict } from '../domain/errors.ts';
import { ENDED, nextOf, type PollableStream } from '../domain/pollable-stream.ts';

/** Capacity of a subscriber's queue. Beyond it the oldest event is dropped and counted. */
const QUEUE_CAPACITY = 256;
/** Events kept per topic for subscribers that reconnect. */
const KEPT_EVENTS = 512;

/** An event with its sequence number in its topic. */
interface NumberedEvent<Event> {
  readonly event: Event;
  readonly sequence: number;
  /** Delivery shared by all subscribers that missed nothing; null until one of them reads the event. */
  delivery: Delivery<Event> | null;
}

/** Callbacks of a feed. */
interface FeedHooks<Event> {
  readonly idOf: (sequence: number) => string;
  /** Creates a feed of the same events with an empty queue. */
  readonly another: () => Feed<Event>;
  /** Calls the reader asynchronously. */
  readonly wake: (ready: () => void) => void;
  readonly closed: () => void;
}

/** Bounded queue of one subscriber, as a stream whose `return` takes effect immediately. */
class Feed<Event> implements PollableStream<Delivery<Event>> {
  readonly #limit: number;
  readonly #hooks: FeedHooks<Event>;
  #queue: NumberedEvent<Event>[] = [];
  #missed = 0;
  #open = true;
  #ready: (() => void) | null = null;

  constructor(limit: number, hooks: FeedHooks<Event>) {
    this.#limit = limit;
    this.#hooks = hooks;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(entry: NumberedEvent<Event>): void {
    if (this.#queue.length >= this.#limit) {
      this.#queue.shift();
      this.#missed += 1;
    }
    this.#queue.push(entry);
    this.#wake();
  }

  drop(unwanted: (event: Event) => boolean): void {
    this.#queue = this.#queue.filter(({ event }) => !unwanted(event));
  }

  poll(): IteratorResult<Delivery<Event>> | null {
    const entry = this.#queue.shift();
    if (entry !== undefined) return { done: false, value: this.#delivery(entry) };
    return this.#open ? null : ENDED;
  }

  whenReady(ready: () => void): void {
    this.#ready = ready;
    if (this.#queue.length > 0 || !this.#open) this.#wake();
  }

  fork(): PollableStream<Delivery<Event>> {
    const other = this.#hooks.another();
    other.#queue = [...this.#queue];
    other.#missed = this.#missed;
    if (!this.#open) other.close();
    return other;
  }

  /** False for a closed feed: its reader still has to read the end. */
  isDrained(): boolean {
    return this.#open && this.#queue.length === 0;
  }

  next(): Promise<IteratorResult<Delivery<Event>>> {
    return nextOf(this);
  }

  return(): Promise<IteratorResult<Delivery<Event>>> {
    this.close();
    this.#queue = [];
    return Promise.resolve(ENDED);
  }

  /** No further events; those already queued can still be read. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#wake();
    this.#hooks.closed();
  }

  #wake(): void {
    if (this.#ready === null) return;
    this.#hooks.wake(this.#ready);
    this.#ready = null;
  }

  #delivery(entry: NumberedEvent<Event>): Delivery<Event> {
    const { event, sequence } = entry;
    const missed = this.#missed;
    this.#missed = 0;
    if (missed > 0) return { event, id: this.#hooks.idOf(sequence), missed };
    entry.delivery ??= { event, id: this.#hooks.idOf(sequence), missed };
    return entry.delivery;
  }
}

interface Subscription<Event> {
  readonly feed: Feed<Event>;
  readonly wanted: (event: Event) => boolean;
}

/** One topic: its subscribers and its latest events. */
class Channel<Event> {
  readonly subscriptions = new Set<Subscription<Event>>();
  /** Ring buffer of the latest events: the index is the sequence number modulo the size. */
  readonly #recent: (NumberedEvent<Event> | undefined)[] = [];
  #nextSequence = 0;

  publish(event: Event): void {
    const sequence = this.#nextSequence;
    this.#nextSequence += 1;
    const entry: NumberedEvent<Event> = { event, sequence, delivery: null };
    this.#recent[sequence % KEPT_EVENTS] = entry;
    for (const { feed, wanted } of this.subscriptions) if (wanted(event)) feed.push(entry);
  }

  withdraw(unwanted: (event: Event) => boolean): void {
    for (const [at, entry] of this.#recent.entries())
      if (entry !== undefined && unwanted(entry.event)) this.#recent[at] = undefined;
    for (const { feed } of this.subscriptions) feed.drop(unwanted);
  }

  /**
   * Replays the events after a sequence number. False when some of these events are no longer kept, or when no event
   * has this number yet.
   */
  replay({ feed, wanted }: Subscription<Event>, after: number): boolean {
    if (after >= this.#nextSequence || after + 1 < this.#nextSequence - KEPT_EVENTS) return false;
    for (let sequence = after + 1; sequence < this.#nextSequence; sequence++) {
      const entry = this.#recent[sequence % KEPT_EVENTS];
      if (entry !== undefined && wanted(entry.event)) feed.push(entry);
    }
    return true;
  }
}

type Channels = { readonly [Topic in keyof Topics]: Channel<Topics[Topic]> };

/** A bus within this process. `close` ends every feed, for the drain. */
export function createBus({ queueLimit = QUEUE_CAPACITY }: { readonly queueLimit?: number } = {}): Bus & {
  close(): void;
} {
  // Part of the event ids, because each process numbers its own events, and a restart begins again at zero.
  const busId = randomBytes(6).toString('base64url');
  const idOf = (sequence: number): string => `${busId}.${sequence.toString(36)}`;
  const channels: Channels = {
    catalogChange: new Channel(),
    trace: new Channel(),
    settingsChange: new Channel(),
    activity: new Channel(),
    lensRun: new Channel(),
    job: new Channel(),
    codingAgent: new Channel(),
    finding: new Channel(),
    spend: new Channel(),
    budgetAlert: new Channel(),
  };
  let subscribers = 0;
  let closed = false;
  let readersToWake: (() => void)[] = [];

  /** All subscribers of an event are woken together, after it was added to all queues. */
  function wake(ready: () => void): void {
    if (readersToWake.push(ready) > 1) return;
    queueMicrotask(() => {
      const readers = readersToWake;
      readersToWake = [];
      for (const wakeReader of readers) wakeReader();
    });
  }

  /** Sequence number of an event id of this bus; null for any other id. */
  function sequenceOf(id: string): number | null {
    const [origin, sequence = ''] = id.split('.');
    return origin === busId && /^[0-9a-z]{1,10}$/.test(sequence) ? Number.parseInt(sequence, 36) : null;
  }

  function addSubscription<Event>(
    channel: Channel<Event>,
    wanted: (event: Event) => boolean,
    onClose: () => void,
  ): Subscription<Event> {
    const subscription: Subscription<Event> = {
      wanted,
      feed: new Feed(queueLimit, {
        idOf,
        // A fork has no signal: it may outlive the signal of the original subscription.
        another: () => addSubscription(channel, wanted, () => {}).feed,
        wake,
        closed() {
          onClose();
          channel.subscriptions.delete(subscription);
          subscribers -= 1;
        },
      }),
    };
    channel.subscriptions.add(subscription);
    subscribers += 1;
    return subscription;
  }

  return {
    publish: (topic, event) => channels[topic].publish(event),
    withdraw: (topic, unwanted) => channels[topic].withdraw(unwanted),
    subscribe(topic, { wanted = () => true, after = null, signal }) {
      const channel = channels[topic];
      const abort = (): void => subscription.feed.close();
      const subscription = addSubscription(channel, wanted, () => signal?.removeEventListener('abort', abort));
      const { feed } = subscription;
      if (after !== null) {
        const sequence = sequenceOf(after);
        if (sequence === null || !channel.replay(subscription, sequence)) {
          feed.close();
          throw new Conflict(
            'The events after this one are no longer in memory. Read the list again, and subscribe without an event id.',
          );
        }
      }
      if (closed || signal?.aborted) feed.close();
      else signal?.addEventListener('abort', abort, { once: true });
      return feed;
    },
    subscriberCount: () => subscribers,
    close() {
      closed = true;
      for (const { subscriptions } of Object.values(channels)) for (const { feed } of subscriptions) feed.close();
    },
  };
}
