import { expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import { type SpanUpdate, watchSpans } from '../../../resolvers/spans.ts';
import { publishChanges } from '../../../src/domain/traces/publish-changes.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import { createCallerWatch } from '../../../src/gateway/keys/caller-watch.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { aSpan, LONE_KEY, spanId, traceId } from '../../ports/samples.ts';
import { aClient } from '../../support/free-tier.ts';
import { createMemoryTraceStore } from '../../support/memory-trace-store.ts';

const ME: Caller = { role: 'internal_user', keyHash: LONE_KEY.keyHash, key: null, teamId: null, userId: null };

function createFixture() {
  const bus = createBus();
  const stores = { traces: createMemoryTraceStore() };
  let reads = 0;
  const traces: typeof stores.traces = {
    ...stores.traces,
    listSpans(keys) {
      reads += 1;
      return stores.traces.listSpans(keys);
    },
  };
  /** The caller of the key; null while the key is expired. */
  const keyState = { caller: ME as Caller | null };
  const keyRing = {
    current(): Caller {
      if (keyState.caller === null) throw new Unauthenticated('Expired Key.', 'expired');
      return keyState.caller;
    },
  };
  const callerWatch = createCallerWatch(keyRing);
  const platform = {
    stores: { traces },
    bus,
    keyRing,
    callerWatch,
    records: { readable: async () => true, newestStartMs: async () => Infinity },
  } as unknown as Platform;
  const scope = (signal = new AbortController().signal): Scope => ({
    platform,
    caller: ME,
    client: aClient(),
    signal,
    loaders: createLoaders(platform.stores, ME),
  });
  /** Stores spans of trace 1 by number. */
  const store = async (...numbers: readonly number[]) =>
    publishChanges(
      bus,
      await traces.ingest([{ owner: LONE_KEY, spans: numbers.map((number) => aSpan({ spanId: spanId(number) })) }]),
    );
  const watch = (after: string | null = null) => watchSpans(scope(), { traceId: traceId(1), after });
  return { bus, keyState, store, watch, reads: () => reads, runChecks: callerWatch.runChecks };
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, place) => from + place);
/** Event id and span ids of an update. The event id is the number of spans of the trace up to this update. */
const idsOf = ({ value }: IteratorResult<SpanUpdate>) => [
  value?.id,
  value?.spans.map((span: { spanId: string }) => span.spanId),
];
const update = (id: string, numbers: readonly number[]) => [id, numbers.map(spanId)];

it('a feed of spans sends new spans in parts of five hundred, with one read for both parts', async () => {
  const { store, watch, reads } = createFixture();
  await store(1, 2);
  const feed = await watch();
  await store(2, 3);
  await store(3);
  await store(...range(4, 604));
  await store(604);
  expect(idsOf(await feed.next())).toEqual(update('502', range(3, 503)));
  expect(idsOf(await feed.next())).toEqual(update('604', range(503, 605)));
  // The first read is that of the two earlier spans.
  expect(reads()).toBe(2);
  await store(605);
  expect(idsOf(await feed.next())).toEqual(update('605', [605]));
});

it('a feed of spans sends a returning reader all spans of the trace, unless the reader has received all of them', async () => {
  const { store, watch } = createFixture();
  await store(1, 2);
  const upToDate = await watch('2');
  const behind = await watch('1');
  await store(3);
  expect(idsOf(await upToDate.next())).toEqual(update('3', [3]));
  expect(idsOf(await behind.next())).toEqual(update('2', [1, 2]));
  expect(idsOf(await behind.next())).toEqual(update('3', [3]));
});

it('a feed of spans stops when its reader closes it, and ends with a reason at an event with an invalid key', async () => {
  const { bus, keyState, store, watch } = createFixture();
  const cancelled = await watch();
  const waiting = cancelled.next();
  await cancelled.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  const feed = await watch();
  keyState.caller = null;
  await store(1);
  await expect(feed.next()).rejects.toThrow('Expired Key.');
  expect(bus.subscriberCount()).toBe(0);
});

it('a feed of spans ends with a reason when the key becomes invalid without an event', async () => {
  const { bus, keyState, store, watch, runChecks } = createFixture();
  await store(1);
  const waiting = (await watch()).next();
  keyState.caller = null;
  runChecks();
  await expect(waiting).rejects.toThrow('Expired Key.');
  expect(bus.subscriberCount()).toBe(0);
});
