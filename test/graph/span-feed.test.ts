import { afterEach, describe, expect, it } from 'vitest';
import { aSpan, OTHER_TEAM_KEY, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SpanUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';
import { TRANSPORTS, type Subscriber } from './subscribers.ts';

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
type Received = readonly {
  readonly data: {
    readonly spanUpdates: { readonly cursor: string; readonly spans: readonly { readonly spanId: string }[] };
  };
}[];
const spanIdsOf = ({ received }: Subscriber): readonly string[] =>
  (received as Received).flatMap(({ data }) => data.spanUpdates.spans.map((span) => span.spanId));

describe.each(TRANSPORTS)('spans over %s', (_name, subscribe) => {
  it('are sent when they are stored, to callers that may read them, and continue after a cursor', async () => {
    house = await openGraph();
    const team = followed(subscribe(house.url, SpanUpdatesDocument, { traceId: traceId(1), after: '0' }, 'sk-team-a'));
    const all = followed(subscribe(house.url, SpanUpdatesDocument, { traceId: traceId(1), after: '0' }));
    await eventually(() => house.bus.subscriberCount() === 2, 'the readers');
    await house.ingest(TEAM_KEY, aSpan({ spanId: spanId(1) }), aSpan({ spanId: spanId(2) }));
    await house.ingest(OTHER_TEAM_KEY, aSpan({ spanId: spanId(3) }));
    await house.ingest(TEAM_KEY, aSpan({ traceId: traceId(2) }));
    await house.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }), aSpan({ spanId: spanId(4) }));
    await eventually(() => spanIdsOf(all).length === 4 && spanIdsOf(team).length === 3, 'every span');
    expect(spanIdsOf(team)).toEqual([1, 2, 4].map(spanId));
    expect(spanIdsOf(all).toSorted()).toEqual([1, 2, 3, 4].map(spanId));

    const after = (team.received as Received).at(-1)?.data.spanUpdates.cursor ?? '';
    await house.ingest(TEAM_KEY, aSpan({ spanId: spanId(5) }));
    const back = followed(subscribe(house.url, SpanUpdatesDocument, { traceId: traceId(1), after }, 'sk-team-a'));
    await eventually(() => spanIdsOf(back).length === 4, 'what the trace has');
    expect(spanIdsOf(back)).toEqual([1, 2, 4, 5].map(spanId));
  });

  it.each([
    [{ traceId: 'nothing' }, 'A trace is named by 32 hex digits.'],
    [{ traceId: traceId(1), after: 'nothing' }, 'No update of spans is named so.'],
  ])('of %j are refused', async (variables, message) => {
    house = await openGraph();
    const refused = followed(subscribe(house.url, SpanUpdatesDocument, variables));
    await refused.ended;
    expect(refused.received).toMatchObject([{ errors: [{ message, extensions: { code: 'INVALID_INPUT' } }] }]);
    expect(house.bus.subscriberCount()).toBe(0);
  });
});
