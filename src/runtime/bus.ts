import type { Bus, Delivery, Topics } from '../domain/bus.ts';

/** Events a subscriber may leave unread before the oldest is dropped and counted. */
const QUEUE_LIMIT = 256;

/** One subscriber's queue: bounded, and an iterator whose `return` takes effect at once. */
class Feed<Event> implements AsyncIterableIterator<Delivery<Event>> {
  readonly #limit: number;
  readonly #closed: () => void;
  #queue: Event[] = [];
  #missed = 0;
  #open = true;
  #waiting: ((result: IteratorResult<Delivery<Event>>) => void) | null = null;

  constructor(limit: number, closed: () => void) {
    this.#limit = limit;
    this.#closed = closed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(event: Event): void {
    if (this.#waiting) {
      const deliver = this.#waiting;
      this.#waiting = null;
      deliver({ done: false, value: this.#delivery(event) });
      return;
    }
    if (this.#queue.length >= this.#limit) {
      this.#queue.shift();
      this.#missed += 1;
    }
    this.#queue.push(event);
  }

  next(): Promise<IteratorResult<Delivery<Event>>> {
    const event = this.#queue.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: this.#delivery(event) });
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

  #delivery(event: Event): Delivery<Event> {
    const missed = this.#missed;
    this.#missed = 0;
    return { event, missed };
  }
}

interface Subscription<Event> {
  readonly feed: Feed<Event>;
  readonly wanted: (event: Event) => boolean;
}

type Subscriptions = { readonly [Topic in keyof Topics]: Set<Subscription<Topics[Topic]>> };

/** A bus within this process. `close` ends every feed, for the drain. */
export function createBus({ queueLimit = QUEUE_LIMIT }: { readonly queueLimit?: number } = {}): Bus & {
  close(): void;
} {
  const subscriptions: Subscriptions = { catalogChange: new Set(), trace: new Set() };
  let closed = false;
  return {
    publish(topic, event) {
      for (const { feed, wanted } of subscriptions[topic]) if (wanted(event)) feed.push(event);
    },
    subscribe(topic, { wanted = () => true, signal }) {
      const abort = (): void => feed.close();
      const feed = new Feed<Topics[typeof topic]>(queueLimit, () => {
        signal?.removeEventListener('abort', abort);
        subscriptions[topic].delete(subscription);
      });
      const subscription = { feed, wanted };
      subscriptions[topic].add(subscription);
      if (closed || signal?.aborted) feed.close();
      else signal?.addEventListener('abort', abort, { once: true });
      return feed;
    },
    subscriberCount: () => Object.values(subscriptions).reduce((total, set) => total + set.size, 0),
    close() {
      closed = true;
      for (const set of Object.values(subscriptions)) for (const { feed } of set) feed.close();
    },
  };
}
