import { randomBytes } from 'node:crypto';
import type { Bus, Delivery, Topics } from '../domain/bus.ts';
import { Conflict } from '../domain/errors.ts';

/** Events a subscriber may leave unread before the oldest is dropped and counted. */
const QUEUE_LIMIT = 256;
/** Events of a topic that are kept for readers who come back. */
const KEPT_EVENTS = 512;

/** An event and its place among those of its topic. */
interface Told<Event> {
  readonly event: Event;
  readonly place: number;
  /** What all are given who missed nothing; null until the first is. */
  delivery: Delivery<Event> | null;
}

/** One subscriber's queue: bounded, and an iterator whose `return` takes effect at once. */
class Feed<Event> implements AsyncIterableIterator<Delivery<Event>> {
  readonly #limit: number;
  readonly #closed: () => void;
  readonly #idOf: (place: number) => string;
  #queue: Told<Event>[] = [];
  #missed = 0;
  #open = true;
  #waiting: ((result: IteratorResult<Delivery<Event>>) => void) | null = null;

  constructor(limit: number, idOf: (place: number) => string, closed: () => void) {
    this.#limit = limit;
    this.#idOf = idOf;
    this.#closed = closed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(told: Told<Event>): void {
    if (this.#waiting) {
      const deliver = this.#waiting;
      this.#waiting = null;
      deliver({ done: false, value: this.#delivery(told) });
      return;
    }
    if (this.#queue.length >= this.#limit) {
      this.#queue.shift();
      this.#missed += 1;
    }
    this.#queue.push(told);
  }

  drop(unwanted: (event: Event) => boolean): void {
    this.#queue = this.#queue.filter(({ event }) => !unwanted(event));
  }

  next(): Promise<IteratorResult<Delivery<Event>>> {
    const told = this.#queue.shift();
    if (told !== undefined) return Promise.resolve({ done: false, value: this.#delivery(told) });
    if (!this.#open) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<Delivery<Event>>> {
    this.close();
    this.#queue = [];
    return Promise.resolve({ done: true, value: undefined });
  }

  /** No further events; those already queued can still be read. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#waiting?.({ done: true, value: undefined });
    this.#waiting = null;
    this.#closed();
  }

  #delivery(told: Told<Event>): Delivery<Event> {
    const { event, place } = told;
    const missed = this.#missed;
    this.#missed = 0;
    if (missed > 0) return { event, id: this.#idOf(place), missed };
    told.delivery ??= { event, id: this.#idOf(place), missed };
    return told.delivery;
  }
}

interface Subscription<Event> {
  readonly feed: Feed<Event>;
  readonly wanted: (event: Event) => boolean;
}

/** One topic: who follows it, and the latest of what was told. */
class Channel<Event> {
  readonly subscriptions = new Set<Subscription<Event>>();
  /** The latest events; each stands where its place, modulo their number, says. */
  readonly #kept: (Told<Event> | undefined)[] = [];
  #told = 0;

  publish(event: Event): void {
    const told: Told<Event> = { event, place: this.#told++, delivery: null };
    this.#kept[told.place % KEPT_EVENTS] = told;
    for (const { feed, wanted } of this.subscriptions) if (wanted(event)) feed.push(told);
  }

  withdraw(unwanted: (event: Event) => boolean): void {
    for (const [at, told] of this.#kept.entries())
      if (told !== undefined && unwanted(told.event)) this.#kept[at] = undefined;
    for (const { feed } of this.subscriptions) feed.drop(unwanted);
  }

  /** Delivers again what came behind a place; false when that is not kept. */
  replay({ feed, wanted }: Subscription<Event>, behind: number): boolean {
    if (behind >= this.#told || behind + 1 < this.#told - KEPT_EVENTS) return false;
    for (let place = behind + 1; place < this.#told; place++) {
      const told = this.#kept[place % KEPT_EVENTS];
      if (told !== undefined && wanted(told.event)) feed.push(told);
    }
    return true;
  }
}

type Channels = { readonly [Topic in keyof Topics]: Channel<Topics[Topic]> };

/** A bus within this process. `close` ends every feed, for the drain. */
export function createBus({ queueLimit = QUEUE_LIMIT }: { readonly queueLimit?: number } = {}): Bus & {
  close(): void;
} {
  // Another process, or this one started again, has other events at the same places.
  const run = randomBytes(6).toString('base64url');
  const idOf = (place: number): string => `${run}.${place.toString(36)}`;
  const channels: Channels = { catalogChange: new Channel(), trace: new Channel() };
  let closed = false;

  /** The place an id of ours names; -1 for any other. */
  function placeOf(id: string): number {
    const [of, place = ''] = id.split('.');
    return of === run && /^[0-9a-z]{1,10}$/.test(place) ? Number.parseInt(place, 36) : -1;
  }

  return {
    publish: (topic, event) => channels[topic].publish(event),
    withdraw: (topic, unwanted) => channels[topic].withdraw(unwanted),
    subscribe(topic, { wanted = () => true, after = null, signal }) {
      const channel = channels[topic];
      const abort = (): void => feed.close();
      const feed = new Feed<Topics[typeof topic]>(queueLimit, idOf, () => {
        signal?.removeEventListener('abort', abort);
        channel.subscriptions.delete(subscription);
      });
      const subscription = { feed, wanted };
      if (after !== null) {
        const behind = placeOf(after);
        if (behind < 0 || !channel.replay(subscription, behind))
          throw new Conflict(
            'What came after this event is no longer kept. Read the list again and follow from now on.',
          );
      }
      channel.subscriptions.add(subscription);
      if (closed || signal?.aborted) feed.close();
      else signal?.addEventListener('abort', abort, { once: true });
      return feed;
    },
    subscriberCount: () => Object.values(channels).reduce((total, { subscriptions }) => total + subscriptions.size, 0),
    close() {
      closed = true;
      for (const { subscriptions } of Object.values(channels)) for (const { feed } of subscriptions) feed.close();
    },
  };
}
