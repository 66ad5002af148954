import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/caller.ts';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import { Unauthenticated } from '../../src/domain/errors.ts';
import { aSpan, OTHER_TEAM_KEY, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import {
  ChatStreamDocument,
  type ChatInput,
  TraceUpdateIdsDocument,
  TraceUpdatesAfterDocument,
  TraceUpdatesDocument,
  TraceUpdatesWithSpansDocument,
} from './generated/graphql.ts';
import { eventually, openGraph, scriptedGateway } from './graph-server.ts';
import { HTTP_TRANSPORTS, TRANSPORTS, type Subscriber } from './subscribers.ts';

const HELLO: ChatInput = { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] };

const ADMIN: Caller = { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null };

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
const updateOf = (number: number, spanCount = 1) => ({
  data: { traceUpdates: { droppedUpdates: 0, trace: { traceId: traceId(number), spanCount } } },
});

async function* chatOf(...deltas: readonly ChatDelta[]): AsyncIterableIterator<ChatDelta> {
  yield* deltas;
}

async function* chatAfter(released: Promise<void>): AsyncIterableIterator<ChatDelta> {
  await released;
  yield { kind: 'text', text: 'Hello' };
}

describe.each(TRANSPORTS)('traceUpdates over %s', (_name, subscribe) => {
  it('sends each stored trace to callers that may read it', async () => {
    graph = await openGraph();
    const team = track(subscribe(graph.url, TraceUpdatesDocument, {}, 'sk-team-a'));
    const ofOneTrace = track(subscribe(graph.url, TraceUpdatesDocument, { traceId: traceId(2) }));
    await untilSubscribers(2);
    await graph.ingest(TEAM_KEY, aSpan());
    await graph.ingest(OTHER_TEAM_KEY, aSpan({ traceId: traceId(2) }));
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }));
    await eventually(() => team.received.length === 2 && ofOneTrace.received.length === 1, 'their updates');
    expect([team.received, ofOneTrace.received]).toEqual([[updateOf(1), updateOf(1, 2)], [updateOf(2)]]);
  });

  it('ends its bus subscription when the client leaves before any event', async () => {
    graph = await openGraph();
    const subscriber = subscribe(graph.url, TraceUpdatesDocument, {});
    await untilSubscribers(1);
    await subscriber.leave();
    await untilSubscribers(0);
    expect(subscriber.received).toEqual([]);
  });

  it('reads the spans of a trace again for every event', async () => {
    graph = await openGraph();
    const { received } = track(subscribe(graph.url, TraceUpdatesWithSpansDocument, {}));
    await untilSubscribers(1);
    await graph.ingest(TEAM_KEY, aSpan());
    await eventually(() => received.length === 1, 'the first event');
    await graph.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }));
    await eventually(() => received.length === 2, 'the second event');
    expect(received).toEqual(
      [[1], [1, 2]].map((ids) => ({
        data: {
          traceUpdates: { trace: { traceId: traceId(1), spans: { nodes: ids.map((id) => ({ spanId: spanId(id) })) } } },
        },
      })),
    );
  });

  it('continues after the cursor when it reconnects, and refuses an unknown cursor', async () => {
    graph = await openGraph();
    const firstSubscriber = track(subscribe(graph.url, TraceUpdateIdsDocument, {}));
    await untilSubscribers(1);
    await graph.ingest(TEAM_KEY, aSpan());
    await eventually(() => firstSubscriber.received.length === 1, 'the first event');
    const [first] = firstSubscriber.received as readonly {
      readonly data: { readonly traceUpdates: { readonly cursor: string } };
    }[];
    await firstSubscriber.leave();
    await graph.ingest(TEAM_KEY, aSpan({ traceId: traceId(2) }));
    const { cursor = '' } = first?.data.traceUpdates ?? {};
    const { received } = track(subscribe(graph.url, TraceUpdatesAfterDocument, { after: cursor }));
    await eventually(() => received.length === 1, 'the update sent meanwhile');
    expect(received).toMatchObject([{ data: { traceUpdates: { trace: { traceId: traceId(2) } } } }]);
    const unknownCursor = track(subscribe(graph.url, TraceUpdatesAfterDocument, { after: 'long-ago' }));
    await unknownCursor.ended;
    expect(unknownCursor.received).toMatchObject([{ errors: [{ extensions: { code: 'CONFLICT' } }] }]);
  });

  it('ends with a reason when the key becomes invalid', async () => {
    const current = (): never => {
      throw new Unauthenticated('Expired Key.', 'expired');
    };
    graph = await openGraph({
      platform: { keyRing: { identify: () => ADMIN, current, markStale() {}, evict() {}, refresh: async () => {} } },
    });
    const { received, ended } = track(subscribe(graph.url, TraceUpdatesDocument, {}));
    await untilSubscribers(1);
    await graph.ingest(TEAM_KEY, aSpan());
    await ended;
    expect(received).toMatchObject([
      { errors: [{ message: 'Expired Key.', extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
    await untilSubscribers(0);
  });

  it('ends with a reason when the key becomes invalid between events, and a running chat continues', async () => {
    let blocked = false;
    const current = (): Caller => {
      if (blocked) throw new Unauthenticated('Blocked Key.', 'blocked');
      return ADMIN;
    };
    const released = Promise.withResolvers<void>();
    graph = await openGraph({
      platform: { keyRing: { identify: () => ADMIN, current, markStale() {}, evict() {}, refresh: async () => {} } },
      gateway: scriptedGateway(() => chatAfter(released.promise)),
    });
    const readers = [1, 2, 3].map(() => track(subscribe(graph.url, TraceUpdatesDocument, {})));
    const chat = track(subscribe(graph.url, ChatStreamDocument, { input: HELLO }));
    await untilSubscribers(3);
    await graph.ingest(TEAM_KEY, aSpan());
    await eventually(() => readers.every(({ received }) => received.length === 1), 'an update each');
    // The check ends no subscription while the key is valid.
    graph.checkCallers();
    blocked = true;
    graph.checkCallers();
    await Promise.all(readers.map(({ ended }) => ended));
    for (const { received } of readers)
      expect(received).toEqual([
        updateOf(1),
        { errors: [{ message: 'Blocked Key.', extensions: { code: 'UNAUTHENTICATED' } }] },
      ]);
    await untilSubscribers(0);
    released.resolve();
    await chat.ended;
    expect(chat.received).toMatchObject([{ data: { chatStream: { __typename: 'ChatText', text: 'Hello' } } }]);
  });

  it('ends with a reason at shutdown', async () => {
    graph = await openGraph();
    const { received, ended } = track(subscribe(graph.url, TraceUpdatesDocument, {}));
    await untilSubscribers(1);
    graph.transport.close();
    await ended;
    expect(received).toEqual([
      {
        errors: [
          {
            message: 'The process is shutting down.',
            extensions: { code: 'UNAVAILABLE', retryAfterSeconds: 2 },
          },
        ],
      },
    ]);
    await untilSubscribers(0);
  });
});

describe.each(HTTP_TRANSPORTS)('an unknown key over %s', (_name, subscribe) => {
  it('gets an error result, and ends', async () => {
    graph = await openGraph();
    const { received, ended } = track(subscribe(graph.url, TraceUpdatesDocument, {}, 'sk-unknown'));
    await ended;
    expect(received).toMatchObject([
      { errors: [{ message: 'The key is not known.', extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
  });
});

describe.each(TRANSPORTS)('chatStream over %s', (_name, subscribe) => {
  it('sends each part of the answer and a failure, and ends', async () => {
    const deltas: ChatDelta[] = [
      { kind: 'text', text: 'Hel' },
      { kind: 'reasoning', text: 'Greet.' },
      { kind: 'text', text: 'lo' },
      { kind: 'failure', message: 'Overloaded.', code: '529' },
    ];
    graph = await openGraph({ gateway: scriptedGateway(() => chatOf(...deltas)) });
    const { received, ended } = track(subscribe(graph.url, ChatStreamDocument, { input: HELLO }));
    await ended;
    // The scripted gateway gives each call this trace id.
    const traceFields = { traceId: '1'.repeat(32) };
    expect(received).toEqual([
      { data: { chatStream: { __typename: 'ChatText', ...traceFields, text: 'Hel', textSoFar: 'Hel' } } },
      { data: { chatStream: { __typename: 'ChatReasoning', ...traceFields, textSoFar: 'Hel' } } },
      { data: { chatStream: { __typename: 'ChatText', ...traceFields, text: 'lo', textSoFar: 'Hello' } } },
      {
        data: {
          chatStream: {
            __typename: 'ChatFailure',
            ...traceFields,
            textSoFar: 'Hello',
            message: 'Overloaded.',
            code: '529',
          },
        },
      },
    ]);
  });

  it('cancels an upstream call without output when the client leaves', async () => {
    let cancelled = 0;
    const chatWithoutOutput = (): AsyncIterableIterator<ChatDelta> => ({
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => new Promise(() => {}),
      async return() {
        cancelled += 1;
        return { done: true, value: undefined };
      },
    });
    let calls = 0;
    graph = await openGraph({
      gateway: scriptedGateway(() => {
        calls += 1;
        return chatWithoutOutput();
      }),
    });
    const subscriber = subscribe(graph.url, ChatStreamDocument, { input: HELLO });
    await eventually(() => calls === 1, 'the call');
    await subscriber.leave();
    await eventually(() => cancelled > 0, 'the upstream call cancelled');
    expect([calls, cancelled]).toEqual([1, 1]);
  });
});
