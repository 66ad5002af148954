import { randomBytes } from 'node:crypto';
import type { Bus, EventLink, EventLinks, Topics } from '../domain/bus.ts';
import { evictOldest } from '../domain/evict-oldest.ts';
import type { ProcessMessages } from '../domain/process-messages.ts';
import type { ScheduledTask, Scheduler } from '../domain/scheduler.ts';

/**
 * Time for which events are collected before a message with events is sent, in ms: at most 20 such messages a second.
 */
const MIN_MESSAGE_INTERVAL_MS = 50;
/** Interval at which a process with subscribers announces that it has subscribers, in ms. */
const ANNOUNCEMENT_MS = 2_000;
/** How long an announcement is valid, in ms. */
const ANNOUNCEMENT_VALID_MS = 6_000;
/** Capacity of each queue of events. Beyond it, the oldest events are dropped. */
const QUEUE_CAPACITY = 1_000;
/** Bytes that are reserved in a message for everything but its lists of events. */
const FRAME_BYTES = 200;
/** Maximum number of events of one read. */
const READ_BATCH = 20;

/** Topic of an event, and the reference with which other processes read it. */
type EventRef = readonly [topic: string, ref: string];

/** Message between processes. */
interface FeedMessage {
  readonly origin: string;
  /** Whether the sender has subscribers. */
  readonly follows: boolean;
  /** Withdrawn events, which no reader may receive any more. Receivers drop them before they read `events`. */
  readonly gone: readonly EventRef[];
  readonly events: readonly EventRef[];
}

/** A bus that also delivers the events of some topics, those in `links`, to the subscribers of other processes. */
export interface SharedBus<LocalBus extends Bus> {
  readonly bus: LocalBus;
  /** Begins to listen. `stored` resolves when other processes can read the events published so far. */
  start(stored: () => Promise<unknown>): void;
  stop(): Promise<void>;
}

/** `messages` null: no other process uses the database. */
export function createSharedBus<LocalBus extends Bus>(
  localBus: LocalBus,
  messages: ProcessMessages | null,
  { links, scheduler }: { readonly links: EventLinks; readonly scheduler: Scheduler },
): SharedBus<LocalBus> {
  if (messages === null) return { bus: localBus, start() {}, stop: () => Promise.resolve() };
  const origin = randomBytes(9).toString('base64url');
  const outgoing = { gone: createQueue(), events: createQueue() };
  const incoming = createQueue();
  /** Events that other processes have withdrawn during the running read. */
  let withdrawnDuringRead: EventRef[] = [];
  let storedSoFar: () => Promise<unknown> = () => Promise.resolve();
  let otherSubscribersUntilMs = Number.NEGATIVE_INFINITY;
  let announcedMs = Number.NEGATIVE_INFINITY;
  let isSending = false;
  let isReading = false;
  let announcing: ScheduledTask | null = null;
  let listening: { stop(): Promise<void> } | null = null;

  const hasOtherSubscribers = (): boolean => performance.now() < otherSubscribersUntilMs;
  const linkOf = <Topic extends keyof Topics>(topic: Topic): EventLink<Topics[Topic]> | undefined => links[topic];

  async function send(body: Omit<FeedMessage, 'origin'>): Promise<void> {
    // When a message is lost, subscribers miss its events until they reconnect and query the current state again.
    await messages?.send(JSON.stringify({ origin, ...body })).catch(() => {});
  }

  /** Announces that this process has subscribers, at most once a second. */
  function announceSubscribers(): void {
    const nowMs = performance.now();
    if (nowMs - announcedMs < ANNOUNCEMENT_MS / 2 || localBus.subscriberCount() === 0) return;
    announcedMs = nowMs;
    void send({ follows: true, gone: [], events: [] });
  }

  async function sendWaiting(): Promise<void> {
    isSending = true;
    while (!outgoing.gone.isEmpty() || !outgoing.events.isEmpty()) {
      await new Promise((resolve) => setTimeout(resolve, MIN_MESSAGE_INTERVAL_MS).unref());
      const bytesPerList = ((messages?.mostBytes ?? 0) - FRAME_BYTES) / 2;
      const events = outgoing.events.take({ bytes: bytesPerList });
      // Spend is published before it is stored, but other processes read it from the store.
      if (events.some(([topic]) => topic === 'spend')) await storedSoFar().catch(() => {});
      const gone = outgoing.gone.take({ bytes: bytesPerList });
      await send({ follows: localBus.subscriberCount() > 0, gone, events });
    }
    isSending = false;
  }

  function startSending(): void {
    if (!isSending) void sendWaiting();
  }

  function receive(text: string): void {
    const message = decodeMessage(text);
    if (message === null || message.origin === origin) return;
    if (message.follows) otherSubscribersUntilMs = performance.now() + ANNOUNCEMENT_VALID_MS;
    if (isReading) withdrawnDuringRead.push(...message.gone);
    for (const [topic, refs] of byTopic(message.gone)) drop(topic, refs);
    if (localBus.subscriberCount() > 0) for (const eventRef of message.events) incoming.add(eventRef);
    if (!isReading) void readWaiting();
  }

  async function readWaiting(): Promise<void> {
    isReading = true;
    while (!incoming.isEmpty()) {
      for (const [topic, refs] of byTopic(incoming.take({ count: READ_BATCH })))
        await deliver(topic, refs).catch(() => {});
    }
    isReading = false;
  }

  function drop(topic: keyof Topics, refs: readonly string[]): void {
    const gone = new Set(refs);
    localBus.withdraw(topic, (event) => gone.has(linkOf(topic)?.refOf(event) ?? ''), refs);
  }

  async function deliver(topic: keyof Topics, refs: readonly string[]): Promise<void> {
    withdrawnDuringRead = [];
    const events = await linkOf(topic)?.read(refs);
    const gone = new Set(withdrawnDuringRead.flatMap(([eventTopic, ref]) => (eventTopic === topic ? [ref] : [])));
    for (const event of events ?? []) if (!gone.has(linkOf(topic)?.refOf(event) ?? '')) localBus.publish(topic, event);
  }

  /** Refs of linked topics, each once. */
  function byTopic(eventRefs: readonly EventRef[]): readonly (readonly [keyof Topics, readonly string[]])[] {
    return [...Map.groupBy(eventRefs, ([topic]) => topic)]
      .filter(([topic]) => Object.hasOwn(links, topic))
      .map(([topic, all]) => [topic as keyof Topics, [...new Set(all.map(([, ref]) => ref))]] as const);
  }

  const shared: Bus = {
    publish(topic, event) {
      localBus.publish(topic, event);
      const link = linkOf(topic);
      if (link === undefined || !hasOtherSubscribers()) return;
      outgoing.events.add([topic, link.refOf(event)]);
      startSending();
    },
    withdraw(topic, unwanted, refs) {
      localBus.withdraw(topic, unwanted, refs);
      if (linkOf(topic) === undefined) return;
      // Also without subscribers elsewhere, because replay buffers may contain the events.
      for (const ref of refs) outgoing.gone.add([topic, ref]);
      startSending();
    },
    subscribe(topic, options) {
      const feed = localBus.subscribe(topic, options);
      announceSubscribers();
      return feed;
    },
    // The number of subscribers of other processes is not known: they count as one.
    subscriberCount: () => localBus.subscriberCount() + (hasOtherSubscribers() ? 1 : 0),
  };
  return {
    bus: { ...localBus, ...shared },
    start(stored) {
      storedSoFar = stored;
      announcing = scheduler.every({
        name: 'subscriber-announcement',
        everyMs: ANNOUNCEMENT_MS,
        run: announceSubscribers,
      });
      // `joined` is called whenever this process begins to listen.
      listening = messages.listen({ message: receive, joined: announceSubscribers });
    },
    async stop() {
      await Promise.all([announcing?.stop(), listening?.stop()]);
    },
  };
}

/** Events that wait, each once, the oldest first. */
function createQueue() {
  const waiting = new Map<string, EventRef>();
  return {
    isEmpty: () => waiting.size === 0,
    add(eventRef: EventRef) {
      waiting.set(JSON.stringify(eventRef), eventRef);
      evictOldest(waiting, QUEUE_CAPACITY);
    },
    /** Takes the oldest events, up to a number and a size in bytes; at least one if any waits. */
    take({ count = QUEUE_CAPACITY, bytes = Infinity }: { readonly count?: number; readonly bytes?: number }) {
      const taken: EventRef[] = [];
      let left = bytes;
      for (const [text, eventRef] of waiting) {
        left -= Buffer.byteLength(text) + 1;
        if (taken.length > 0 && (left < 0 || taken.length >= count)) break;
        waiting.delete(text);
        taken.push(eventRef);
      }
      return taken;
    },
  };
}

/** The message in a text; null for a text of another kind. */
function decodeMessage(text: string): FeedMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || !('origin' in message) || !('events' in message)) return null;
  const { origin, events } = message;
  if (typeof origin !== 'string') return null;
  return {
    origin,
    follows: 'follows' in message && message.follows === true,
    gone: 'gone' in message ? eventRefsOf(message.gone) : [],
    events: eventRefsOf(events),
  };
}

const eventRefsOf = (list: unknown): readonly EventRef[] =>
  Array.isArray(list)
    ? list.flatMap((entry: unknown): readonly EventRef[] => {
        if (!Array.isArray(entry)) return [];
        const [topic, ref] = entry as readonly unknown[];
        return typeof topic === 'string' && typeof ref === 'string' ? [[topic, ref]] : [];
      })
    : [];
