import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EventLinks, traceLinkRef } from '../../../src/domain/bus.ts';
import type { ProcessListener, ProcessMessages } from '../../../src/domain/process-messages.ts';
import type { TraceSummary } from '../../../src/domain/traces/trace.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { shareMessages } from '../../../src/runtime/process-messages.ts';
import { createSharedBus } from '../../../src/runtime/shared-bus.ts';
import { aSummary } from '../../support/trace-summary.ts';
import { aScheduler } from '../../support/scheduler.ts';

/** Processes over one channel and one store of traces. */
function processes() {
  const listeners = new Set<ProcessListener>();
  const stored = new Map<string, TraceSummary>();
  const sent: string[] = [];
  const messages: ProcessMessages = {
    mostBytes: 7_500,
    async send(text) {
      sent.push(text);
      for (const { message } of listeners) message(text);
    },
    listen(listener) {
      listeners.add(listener);
      return {
        async stop() {
          listeners.delete(listener);
        },
      };
    },
  };
  const links: EventLinks = {
    trace: {
      refOf: ({ summary }) => traceLinkRef(summary),
      read: async (refs) => refs.flatMap((ref) => stored.get(ref) ?? []).map((summary) => ({ summary })),
    },
  };
  function start() {
    const shared = createSharedBus(createBus(), messages, { links, scheduler: aScheduler() });
    shared.start(async () => {});
    return shared;
  }
  function store(traceId: string): TraceSummary {
    const summary = aSummary({ traceId, traceRef: `ref-${traceId}` });
    stored.set(traceLinkRef(summary), summary);
    return summary;
  }
  return { start, store, stored, sent, listeners };
}

const settle = (ms = 200) => vi.advanceTimersByTimeAsync(ms);

describe('a bus shared by processes', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('delivers events of all processes once, and counts remote subscribers', async () => {
    const { start, store } = processes();
    const [here, there] = [start(), start()];
    expect(here.bus.subscriberCount()).toBe(0);
    const feed = there.bus.subscribe('trace', {});
    await settle();
    expect([here.bus.subscriberCount(), there.bus.subscriberCount()]).toEqual([1, 1]);
    here.bus.publish('trace', { summary: store('a') });
    await settle();
    expect((await feed.next()).value.event.summary.traceId).toBe('a');
    expect(feed.poll()).toBeNull();
    there.bus.publish('trace', { summary: store('b') });
    await settle();
    expect((await feed.next()).value.event.summary.traceId).toBe('b');
    expect(feed.poll()).toBeNull();
  });

  it('sends nothing without a subscriber, and no events of topics without a link', async () => {
    const { start, store, sent } = processes();
    const [here, there] = [start(), start()];
    here.bus.publish('trace', { summary: store('a') });
    await settle(10_000);
    expect(sent).toEqual([]);
    const feed = there.bus.subscribe('trace', {});
    await settle();
    const before = sent.length;
    here.bus.publish('activity', { at: new Date(0), counts: [] });
    await settle();
    expect(sent).toHaveLength(before);
    await feed.return?.();
    await settle(10_000);
    expect(here.bus.subscriberCount()).toBe(0);
  });

  it('withdraws events in other processes, also those that have not been read yet', async () => {
    const { start, store, stored } = processes();
    const [here, there] = [start(), start()];
    const feed = there.bus.subscribe('trace', {});
    await settle();
    for (const id of ['a', 'b', 'c']) here.bus.publish('trace', { summary: store(id) });
    await settle();
    here.bus.publish('trace', { summary: store('d') });
    const withdrawn = ['a', 'd'].map((id) => traceLinkRef({ traceId: id, traceRef: `ref-${id}` }));
    for (const ref of withdrawn) stored.delete(ref);
    here.bus.withdraw('trace', ({ summary }) => withdrawn.includes(traceLinkRef(summary)), withdrawn);
    await settle();
    const feedEvents = [await feed.next(), await feed.next()];
    expect(feedEvents.map(({ value }) => value.event.summary.traceId)).toEqual(['b', 'c']);
    expect(feed.poll()).toBeNull();
  });

  it('sends at most 20 messages a second of at most 7,500 bytes, and drops the oldest of too many events', async () => {
    const { start, store, sent } = processes();
    const [here, there] = [start(), start()];
    there.bus.subscribe('trace', {});
    await settle();
    const before = sent.length;
    for (let index = 0; index < 1_500; index++)
      here.bus.publish('trace', { summary: store(`t${10_000 + index}-`.padEnd(200, '0')) });
    await settle(1_000);
    // The announcements of subscribers are sent in addition.
    expect(sent.length - before).toBeLessThanOrEqual(22);
    expect(Math.max(...sent.map((text) => Buffer.byteLength(text)))).toBeLessThan(7_500);
    // The latest 1,000 of the 1,500 events wait.
    expect(sent[before]).toContain('t10500-');
    expect(sent[before]).not.toContain('t10499-');
  });

  it('ignores texts that are not messages of feeds', async () => {
    const { start, listeners } = processes();
    const { bus } = start();
    const feed = bus.subscribe('trace', {});
    const texts = ['', 'null', '{"origin":"x"}', '{"origin":"x","events":[1,["trace"],["__proto__","a"]]}'];
    for (const { message } of listeners) for (const text of texts) message(text);
    await settle();
    expect(feed.poll()).toBeNull();
  });

  it('is the local bus where only one process uses the database', () => {
    const localBus = createBus();
    expect(createSharedBus(localBus, null, { links: {}, scheduler: aScheduler() }).bus).toBe(localBus);
  });
});

describe('shared messages', () => {
  it('use one connection for all listeners, and notify each one when listening begins', async () => {
    const connections: ProcessListener[] = [];
    let closed = 0;
    const messages = shareMessages({
      mostBytes: 1,
      send: async () => {},
      listen(listener) {
        connections.push(listener);
        return {
          async stop() {
            closed += 1;
          },
        };
      },
    });
    const received: string[] = [];
    const listen = (name: string) =>
      messages.listen({
        message: (text) => void received.push(`${name} ${text}`),
        joined: () => void received.push(`${name} joined`),
      });
    const firstListener = listen('first');
    connections[0]?.joined();
    const secondListener = listen('second');
    connections[0]?.message('hello');
    await firstListener.stop();
    connections[0]?.message('again');
    expect([connections.length, closed]).toEqual([1, 0]);
    await secondListener.stop();
    expect(closed).toBe(1);
    expect(received).toEqual(['first joined', 'second joined', 'first hello', 'second hello', 'second again']);
  });
});
