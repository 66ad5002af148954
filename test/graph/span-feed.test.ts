import { afterEach, describe, expect, it } from 'vitest';
import { aSpan, OTHER_TEAM_KEY, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { SpanUpdatesDocument } from './generated/graphql.ts';
import { eventually, openGraph } from './graph-server.ts';
import { TRANSPORTS, type Subscriber } from './subscribers.ts';

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
type Received = readonly {
  readonly data: {
    readonly spanUpdates: { readonly cursor: string; readonly spans: readonly { readonly spanId: string }[] };
  };
}[];
const spanIdsOf = ({ received }: Subscriber): readonly string[] =>
  (received as Received).flatMap(({ data }) => data.spanUpdates.spans.map((span) => span.spanId));

describe.each(TRANSPORTS)('spans over %s', (_name, subscribe) => {
  it('are sent to callers that may read them when they are stored; after an older cursor, all spans of the trace are sent', async () => {
    graph = await openGraph();
    // A cursor is the number of spans that were sent.
    const teamReader = track(
      subscribe(graph.url, SpanUpdatesDocument, { traceId: traceId(1), after: '0' }, 'sk-team-a'),
    );
    const adminReader = track(subscribe(graph.url, SpanUpdatesDocument, { traceId: traceId(1), after: '0' }));
    await eventually(() => graph.bus.subscriberCount() === 2, 'the readers');
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(1) }), aSpan({ spanId: spanId(2) }));
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ spanId: spanId(3) }));
    await graph.ingest(TEAM_KEY, aSpan({ traceId: traceId(2) }));
    // Span 2 is known already and is not sent again.
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }), aSpan({ spanId: spanId(4) }));
    await eventually(() => spanIdsOf(adminReader).length === 4 && spanIdsOf(teamReader).length === 3, 'every span');
    expect(spanIdsOf(teamReader)).toEqual([1, 2, 4].map(spanId));
    expect(spanIdsOf(adminReader).toSorted()).toEqual([1, 2, 3, 4].map(spanId));

    const after = (teamReader.received as Received).at(-1)?.data.spanUpdates.cursor ?? '';
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(5) }));
    const continued = track(subscribe(graph.url, SpanUpdatesDocument, { traceId: traceId(1), after }, 'sk-team-a'));
    await eventually(() => spanIdsOf(continued).length === 4, 'all spans of the trace');
    expect(spanIdsOf(continued)).toEqual([1, 2, 4, 5].map(spanId));
  });

  it.each([
    [{ traceId: 'nothing' }, 'A trace is named by 32 hex digits.'],
    [{ traceId: traceId(1), after: 'nothing' }, '`after` is not the id of an update.'],
  ])('are refused for the invalid arguments %j', async (variables, message) => {
    graph = await openGraph();
    const refused = track(subscribe(graph.url, SpanUpdatesDocument, variables));
    await refused.ended;
    expect(refused.received).toMatchObject([{ errors: [{ message, extensions: { code: 'INVALID_INPUT' } }] }]);
    expect(graph.bus.subscriberCount()).toBe(0);
  });
});
