import { afterEach, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/caller.ts';
import { Unauthenticated } from '../../src/domain/errors.ts';
import { createMemoryTraceStore } from '../support/memory-trace-store.ts';
import { aSpan, aSpendRow, LONE_KEY, picos, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { TraceNamesDocument, TraceUpdatesDocument, TraceUpdatesWithSpendDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';
import { aSummary } from '../support/trace-summary.ts';
import { overEventStream, TRANSPORTS, stall, type Subscriber } from './subscribers.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
const subscribers: Subscriber[] = [];
afterEach(async () => {
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.leave()));
  await graph.close();
});

const track = (subscriber: Subscriber): Subscriber => {
  subscribers.push(subscriber);
  return subscriber;
};
const untilSubscribers = (count: number) =>
  eventually(() => graph.bus.subscriberCount() === count, `${count} subscribers`);
const oneUpdateEach = (...receivers: readonly Subscriber[]) =>
  eventually(() => receivers.every((subscriber) => subscriber.received.length === 1), 'an update each');
const updateOf = (costUsd: string | null) => ({
  data: {
    traceUpdates: {
      trace: {
        traceId: traceId(1),
        spans: { nodes: [{ spanId: spanId(1), spendRow: costUsd === null ? null : { costUsd } }] },
      },
    },
  },
});
/** Spend row of a key without a team for a span of team-a. The team may read the span, but not the spend row. */
const SPEND = [
  aSpendRow({
    traceId: traceId(1),
    spanId: spanId(1),
    teamId: null,
    keyHash: LONE_KEY.keyHash,
    cost: picos(1_250_000n),
  }),
];

it('an event is executed once for all subscribers to the same operation, over every transport', async () => {
  graph = await openGraph({ spend: SPEND });
  const readers = TRANSPORTS.flatMap(([, subscribe]) =>
    Array.from({ length: 3 }, () => track(subscribe(graph.url, TraceUpdatesWithSpendDocument, {}))),
  );
  await untilSubscribers(readers.length);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...readers);
  expect(readers.map((subscriber) => subscriber.received)).toEqual(readers.map(() => [updateOf('0.00000125')]));
  expect(graph.reads).toMatchObject({ listSpans: 1, findBySpans: 1 });
});

it('an event is executed again for a caller with other rights, who never gets the result of another caller', async () => {
  graph = await openGraph({ spend: SPEND });
  const admins = [1, 2].map(() => track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, {}, 'sk-admin')));
  const viewer = track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, {}, 'sk-viewer'));
  const team = [1, 2].map(() => track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, {}, 'sk-team-a')));
  await untilSubscribers(5);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...admins, viewer, ...team);
  for (const reader of [...admins, viewer]) expect(reader.received).toEqual([updateOf('0.00000125')]);
  for (const reader of team) expect(reader.received).toEqual([updateOf(null)]);
  // Three executions: one for the administrators, one for the viewer and one for the team.
  expect(graph.reads).toMatchObject({ listSpans: 3, findBySpans: 3 });
});

it('an event is executed once for each set of variables', async () => {
  graph = await openGraph({ spend: SPEND });
  const readers = [undefined, traceId(1)].map((wanted) =>
    track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, { traceId: wanted })),
  );
  await untilSubscribers(2);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...readers);
  for (const reader of readers) expect(reader.received).toEqual([updateOf('0.00000125')]);
  expect(graph.reads.listSpans).toBe(2);
});

it('an event is executed once for subscribers without variables and with an empty set of variables', async () => {
  graph = await openGraph({ spend: SPEND });
  const readers = [undefined, {}].map((variables) =>
    track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, variables as Record<string, never>)),
  );
  await untilSubscribers(2);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...readers);
  for (const reader of readers) expect(reader.received).toEqual([updateOf('0.00000125')]);
  expect(graph.reads.listSpans).toBe(1);
});

it('a failure is reported only to the subscriber whose execution failed', async () => {
  const traces = createMemoryTraceStore();
  let reads = 0;
  graph = await openGraph({
    traces: {
      ...traces,
      async listSpans(wanted) {
        reads += 1;
        if (reads === 1) throw new Error('The disk failed.');
        return traces.listSpans(wanted);
      },
    },
  });
  const readers = [1, 2, 3].map(() => track(overEventStream(graph.url, TraceUpdatesWithSpendDocument, {})));
  await untilSubscribers(3);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...readers);
  // A result with errors is not shared: the other subscribers execute the event again.
  const failed = readers.filter((reader) => 'errors' in (reader.received[0] as object));
  expect(failed.map((reader) => reader.received)).toMatchObject([
    [{ data: { traceUpdates: { trace: { spans: null } } }, errors: [{ message: 'Unexpected error.' }] }],
  ]);
  expect(readers.filter((reader) => !failed.includes(reader)).map((reader) => reader.received)).toEqual([
    [updateOf(null)],
    [updateOf(null)],
  ]);
});

it('equal subscribers share one bus subscription, and all end when their key is blocked', async () => {
  const admin: Caller = { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null };
  let blocked = false;
  const current = (): Caller => {
    if (blocked) throw new Unauthenticated('Blocked Key.', 'blocked');
    return admin;
  };
  graph = await openGraph({
    platform: { keyRing: { identify: () => admin, current, markStale() {}, evict() {}, refresh: async () => {} } },
  });
  const readers = [1, 2, 3].map(() => track(overEventStream(graph.url, TraceUpdatesDocument, {})));
  await untilSubscribers(3);
  await graph.ingest(TEAM_KEY, aSpan());
  await oneUpdateEach(...readers);
  // Equal subscribers form a group when each has received an event.
  await untilSubscribers(1);
  await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }));
  await eventually(() => readers.every((subscriber) => subscriber.received.length === 2), 'a second update each');
  blocked = true;
  await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(3) }));
  await Promise.all(readers.map(({ ended }) => ended));
  const update = (spanCount: number) => ({
    data: { traceUpdates: { droppedUpdates: 0, trace: { traceId: traceId(1), spanCount } } },
  });
  for (const reader of readers)
    expect(reader.received).toMatchObject([update(1), update(2), { errors: [{ message: 'Blocked Key.' }] }]);
  await untilSubscribers(0);
});

it.each(['', '/stream'])('a stalled subscriber leaves its group, misses events and rejoins, on %s', async (path) => {
  graph = await openGraph({ queueLimit: 16 });
  const stalled = await stall(`${graph.url}${path}`, TraceNamesDocument);
  const reader = track(overEventStream(graph.url, TraceNamesDocument, {}));
  await untilSubscribers(2);
  const event = { summary: aSummary({ name: 'x'.repeat(32 * 1024) }) };
  let published = 0;
  async function publish(count: number): Promise<void> {
    published += count;
    for (let index = 0; index < count; index += 1) graph.bus.publish('trace', event);
    await eventually(() => reader.received.length === published, `event ${published}`);
  }
  await publish(1);
  // The two subscribers are now one group.
  await untilSubscribers(1);
  // Each batch has fewer events than a queue holds, so that the reader misses none.
  for (let batch = 0; batch < 100; batch += 1) await publish(10);
  await untilSubscribers(2);
  stalled.read();
  await eventually(() => stalled.receivedOrMissed() === published, 'every event received or counted as missed');
  expect(stalled.missed()).toBeGreaterThan(0);
  await publish(1);
  await eventually(() => stalled.receivedOrMissed() === published, 'the last event');
  await untilSubscribers(1);
  stalled.leave();
});
