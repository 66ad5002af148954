import { describe, expect, it } from 'vitest';
import { Conflict } from '../../../src/domain/errors.ts';
import type { TraceChange } from '../../../src/domain/traces/trace.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { aSummary } from '../../support/trace-summary.ts';

const change = (traceId: string): TraceChange => ({ summary: aSummary({ traceId }) });
const idOf = ({ summary }: TraceChange): string => summary.traceId;

/** Feed of a separate bus, with one published event. */
function feedOfOtherBus() {
  const bus = createBus();
  const feed = bus.subscribe('trace', {});
  bus.publish('trace', change('z'));
  return feed;
}

describe('the bus', () => {
  it('delivers each event to every subscriber whose filter matches', async () => {
    const bus = createBus();
    const unfiltered = bus.subscribe('trace', {});
    const filtered = bus.subscribe('trace', { wanted: (event) => idOf(event) === 'b' });
    bus.publish('trace', change('a'));
    bus.publish('trace', change('b'));
    expect(idOf((await unfiltered.next()).value.event)).toBe('a');
    expect(idOf((await unfiltered.next()).value.event)).toBe('b');
    expect(idOf((await filtered.next()).value.event)).toBe('b');
  });

  it('delivers no withdrawn event', async () => {
    const bus = createBus();
    const live = bus.subscribe('trace', {});
    for (const id of ['a', 'b', 'a', 'c']) bus.publish('trace', change(id));
    const first = await live.next();
    bus.withdraw('trace', (event) => idOf(event) === 'a', []);
    bus.publish('trace', change('a'));
    const resumed = bus.subscribe('trace', { after: first.value.id });
    for (const feed of [live, resumed]) {
      const feedEvents = [await feed.next(), await feed.next(), await feed.next()];
      expect(feedEvents.map(({ value }) => idOf(value.event))).toEqual(['b', 'c', 'a']);
    }
  });

  it('drops the oldest events of a stalled reader only, and reports how many', async () => {
    const bus = createBus({ queueLimit: 3 });
    const stalled = bus.subscribe('trace', {});
    const active = bus.subscribe('trace', {});
    const received: string[] = [];
    for (let index = 0; index < 100_000; index += 1) {
      const next = active.next();
      bus.publish('trace', change(String(index)));
      received.push(idOf((await next).value.event));
    }
    expect(received).toHaveLength(100_000);
    const first = await stalled.next();
    expect([idOf(first.value.event), first.value.missed]).toEqual(['99997', 99_997]);
    const second = await stalled.next();
    expect([idOf(second.value.event), second.value.missed]).toEqual(['99998', 0]);
  });

  it('delivers one object to readers that missed no event, and to others a copy with `missed`', async () => {
    const bus = createBus({ queueLimit: 1 });
    const [fast, alsoFast, slow] = [bus.subscribe('trace', {}), bus.subscribe('trace', {}), bus.subscribe('trace', {})];
    const early = [fast.next(), alsoFast.next()];
    bus.publish('trace', change('a'));
    await Promise.all(early);
    bus.publish('trace', change('b'));
    const [{ value: first }, { value: second }, { value: late }] = await Promise.all([
      fast.next(),
      alsoFast.next(),
      slow.next(),
    ]);
    expect(first).toBe(second);
    expect(late).toEqual({ ...first, missed: 1 });
    expect(first.missed).toBe(0);
  });

  it('lets a reader continue after its last event', async () => {
    const bus = createBus();
    const interrupted = bus.subscribe('trace', {});
    for (const traceId of ['a', 'b', 'c', 'd']) bus.publish('trace', change(traceId));
    const { value: received } = await interrupted.next();
    const resumed = bus.subscribe('trace', { after: received.id, wanted: (event) => idOf(event) !== 'c' });
    bus.publish('trace', change('e'));
    const feedEvents = [await resumed.next(), await resumed.next(), await resumed.next()].map(({ value }) => value);
    expect(feedEvents.map(({ event, missed }) => [idOf(event), missed])).toEqual([
      ['b', 0],
      ['d', 0],
      ['e', 0],
    ]);
    expect(feedEvents[0]?.id).toBe((await interrupted.next()).value.id);
    // No event follows the last one yet; the next event is delivered.
    const upToDate = bus.subscribe('trace', { after: feedEvents[2]?.id ?? '' });
    bus.publish('trace', change('f'));
    expect(idOf((await upToDate.next()).value.event)).toBe('f');
  });

  it('keeps the latest 512 events, and refuses an event id that is older, malformed or from another process', async () => {
    const bus = createBus({ queueLimit: 1_000 });
    const feed = bus.subscribe('trace', {});
    for (let index = 0; index < 514; index++) bus.publish('trace', change(String(index)));
    const ids: string[] = [];
    for (let index = 0; index < 514; index++) ids.push((await feed.next()).value.id);
    expect(idOf((await bus.subscribe('trace', { after: ids[1] ?? '' }).next()).value.event)).toBe('2');
    const { value: elsewhere } = await feedOfOtherBus().next();
    for (const after of [ids[0], elsewhere.id, '', 'x', `${ids[513]}z`, ids[0]?.replace('.', '.-')])
      expect(() => bus.subscribe('trace', { after: after ?? '' })).toThrow(Conflict);
    expect(bus.subscriberCount()).toBe(2);
  });

  it('drops and counts events above the queue limit of a reader that continues', async () => {
    const bus = createBus({ queueLimit: 2 });
    const feed = bus.subscribe('trace', {});
    for (const traceId of ['a', 'b']) bus.publish('trace', change(traceId));
    const { value: received } = await feed.next();
    for (const traceId of ['c', 'd']) bus.publish('trace', change(traceId));
    const { value: feedEvent } = await bus.subscribe('trace', { after: received.id }).next();
    expect([idOf(feedEvent.event), feedEvent.missed]).toEqual(['c', 1]);
  });

  it('removes a subscriber that closes its feed while it waits', async () => {
    const bus = createBus();
    const feed = bus.subscribe('trace', {});
    const pending = feed.next();
    await feed.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(bus.subscriberCount()).toBe(0);
  });

  it('removes a subscriber whose signal aborts', async () => {
    const bus = createBus();
    const controller = new AbortController();
    const feed = bus.subscribe('trace', { signal: controller.signal });
    controller.abort();
    expect(await feed.next()).toEqual({ done: true, value: undefined });
    expect(bus.subscriberCount()).toBe(0);
  });

  it('ends every feed after its queued events when it closes', async () => {
    const bus = createBus();
    const feed = bus.subscribe('trace', {});
    bus.publish('trace', change('last'));
    bus.close();
    expect(idOf((await feed.next()).value.event)).toBe('last');
    expect((await feed.next()).done).toBe(true);
    expect((await bus.subscribe('trace', {}).next()).done).toBe(true);
    expect(bus.subscriberCount()).toBe(0);
  });
});
