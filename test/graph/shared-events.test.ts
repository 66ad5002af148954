import { afterEach, expect, it } from 'vitest';
import { createMemoryTraceStore } from '../support/memory-trace-store.ts';
import { aSpan, aSpendRow, LONE_KEY, picos, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { TraceUpdatesWithSpendDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-house.ts';
import { overYoga, ROADS, type Subscriber } from './subscribers.ts';

let house: Awaited<ReturnType<typeof openGraph>>;
const subscribers: Subscriber[] = [];
afterEach(async () => {
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.leave()));
  await house.close();
});

const followed = (subscriber: Subscriber): Subscriber => {
  subscribers.push(subscriber);
  return subscriber;
};
const listening = (count: number) => eventually(() => house.bus.subscriberCount() === count, `${count} listeners`);
const received = (...each: readonly Subscriber[]) =>
  eventually(() => each.every((subscriber) => subscriber.received.length === 1), 'an update each');
const updateOf = (costUsd: string | null) => ({
  data: {
    traceUpdates: {
      trace: {
        traceId: traceId(1),
        spans: [{ spanId: spanId(1), spendRow: costUsd === null ? null : { costUsd } }],
      },
    },
  },
});
/** What a key without a team paid for a span that team-a sent: the team may read the span, not the books. */
const SPEND = [
  aSpendRow({
    traceId: traceId(1),
    spanId: spanId(1),
    teamId: null,
    keyHash: LONE_KEY.keyHash,
    cost: picos(1_250_000n),
  }),
];

it('executes an event once for all who ask the same, whatever road they came by', async () => {
  house = await openGraph({ spend: SPEND });
  const all = ROADS.flatMap(([, road]) =>
    Array.from({ length: 3 }, () => followed(road(house.url, TraceUpdatesWithSpendDocument, {}))),
  );
  await listening(9);
  await house.ingest(TEAM_KEY, aSpan());
  await received(...all);
  expect(all.map((subscriber) => subscriber.received)).toEqual(all.map(() => [updateOf('0.00000125')]));
  expect(house.reads).toMatchObject({ listSpans: 1, findBySpans: 1 });
});

it('never gives a caller what was made for one with other rights', async () => {
  house = await openGraph({ spend: SPEND });
  const admins = [1, 2].map(() => followed(overYoga(house.url, TraceUpdatesWithSpendDocument, {}, 'sk-admin')));
  const viewer = followed(overYoga(house.url, TraceUpdatesWithSpendDocument, {}, 'sk-viewer'));
  const team = [1, 2].map(() => followed(overYoga(house.url, TraceUpdatesWithSpendDocument, {}, 'sk-team-a')));
  await listening(5);
  await house.ingest(TEAM_KEY, aSpan());
  await received(...admins, viewer, ...team);
  for (const reader of [...admins, viewer]) expect(reader.received).toEqual([updateOf('0.00000125')]);
  for (const reader of team) expect(reader.received).toEqual([updateOf(null)]);
  expect(house.reads).toMatchObject({ listSpans: 3, findBySpans: 3 });
});

it('asks once for each set of variables', async () => {
  house = await openGraph({ spend: SPEND });
  const all = [undefined, traceId(1)].map((wanted) =>
    followed(overYoga(house.url, TraceUpdatesWithSpendDocument, { traceId: wanted })),
  );
  await listening(2);
  await house.ingest(TEAM_KEY, aSpan());
  await received(...all);
  for (const reader of all) expect(reader.received).toEqual([updateOf('0.00000125')]);
  expect(house.reads.listSpans).toBe(2);
});

it('keeps a failure to the one it happened to', async () => {
  const traces = createMemoryTraceStore();
  let reads = 0;
  house = await openGraph({
    traces: {
      ...traces,
      async listSpans(wanted) {
        reads += 1;
        if (reads === 1) throw new Error('The disk is away.');
        return traces.listSpans(wanted);
      },
    },
  });
  const all = [1, 2, 3].map(() => followed(overYoga(house.url, TraceUpdatesWithSpendDocument, {})));
  await listening(3);
  await house.ingest(TEAM_KEY, aSpan());
  await received(...all);
  const failed = all.filter((reader) => 'errors' in (reader.received[0] as object));
  expect(failed.map((reader) => reader.received)).toMatchObject([
    [{ data: { traceUpdates: { trace: { spans: null } } }, errors: [{ message: 'Unexpected error.' }] }],
  ]);
  expect(all.filter((reader) => !failed.includes(reader)).map((reader) => reader.received)).toEqual([
    [updateOf(null)],
    [updateOf(null)],
  ]);
});
