import { describe, expect, it } from 'vitest';
import type { TraceChange } from '../../../src/domain/traces/trace.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { aSummary } from '../../support/seeds.ts';

const change = (traceId: string): TraceChange => ({ summary: aSummary({ traceId }) });
const idOf = ({ summary }: TraceChange): string => summary.traceId;

describe('the bus', () => {
  it('delivers each event to every subscriber that wants it', async () => {
    const bus = createBus();
    const all = bus.subscribe('trace', {});
    const some = bus.subscribe('trace', { wanted: (event) => idOf(event) === 'b' });
    bus.publish('trace', change('a'));
    bus.publish('trace', change('b'));
    expect(idOf((await all.next()).value.event)).toBe('a');
    expect(idOf((await all.next()).value.event)).toBe('b');
    expect(idOf((await some.next()).value.event)).toBe('b');
  });

  it('drops the oldest events of a reader that stalls, tells it how many, and spares the others', async () => {
    const bus = createBus({ queueLimit: 3 });
    const stalled = bus.subscribe('trace', {});
    const lively = bus.subscribe('trace', {});
    const seen: string[] = [];
    for (let index = 0; index < 100_000; index += 1) {
      const next = lively.next();
      bus.publish('trace', change(String(index)));
      seen.push(idOf((await next).value.event));
    }
    expect(seen).toHaveLength(100_000);
    const first = await stalled.next();
    expect([idOf(first.value.event), first.value.missed]).toEqual(['99997', 99_997]);
    const second = await stalled.next();
    expect([idOf(second.value.event), second.value.missed]).toEqual(['99998', 0]);
  });

  it('forgets a subscriber that returns while it waits', async () => {
    const bus = createBus();
    const feed = bus.subscribe('trace', {});
    const pending = feed.next();
    await feed.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(bus.subscriberCount()).toBe(0);
  });

  it('forgets a subscriber whose signal fires', async () => {
    const bus = createBus();
    const controller = new AbortController();
    const feed = bus.subscribe('trace', { signal: controller.signal });
    controller.abort();
    expect(await feed.next()).toEqual({ done: true, value: undefined });
    expect(bus.subscriberCount()).toBe(0);
  });

  it('ends every feed when it closes, after what is queued was read', async () => {
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
