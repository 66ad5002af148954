import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/caller.ts';
import type { ChatDelta } from '../../src/domain/chat/chat.ts';
import { Unauthenticated, UpstreamFailed } from '../../src/domain/errors.ts';
import { eachOf } from '../../src/domain/pollable-stream.ts';
import { createBus } from '../../src/runtime/bus.ts';
import { aSpan, OTHER_TEAM_KEY, spanId, TEAM_KEY, traceId } from '../ports/samples.ts';
import { aSummary } from '../support/seeds.ts';
import {
  ChatStreamDocument,
  type ChatInput,
  TraceNamesDocument,
  TraceUpdateIdsDocument,
  TraceUpdatesAfterDocument,
  TraceUpdatesDocument,
  TraceUpdatesWithSpansDocument,
} from './generated/graphql.ts';
import { eventually, openGraph, scriptedGateway } from './graph-house.ts';
import { overYoga, ROADS, stall, type Subscriber } from './subscribers.ts';

const HELLO: ChatInput = { model: 'demo', messages: [{ role: 'USER', content: 'Hello' }] };

const ADMIN: Caller = { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null };

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
const updateOf = (number: number, spanCount = 1) => ({
  data: { traceUpdates: { missed: 0, trace: { traceId: traceId(number), spanCount } } },
});

async function* chatOf(...deltas: readonly ChatDelta[]): AsyncIterableIterator<ChatDelta> {
  yield* deltas;
}

async function* chatAfter(said: Promise<void>): AsyncIterableIterator<ChatDelta> {
  await said;
  yield { kind: 'text', text: 'Hello' };
}

async function* breaking(error: Error): AsyncIterableIterator<ChatDelta> {
  yield { kind: 'text', text: 'Hel' };
  throw error;
}

describe.each(ROADS)('traceUpdates over %s', (_name, subscribe) => {
  it('tells each trace as it lands, to whom may see it', async () => {
    house = await openGraph();
    const team = followed(subscribe(house.url, TraceUpdatesDocument, {}, 'sk-team-a'));
    const one = followed(subscribe(house.url, TraceUpdatesDocument, { traceId: traceId(2) }));
    await listening(2);
    await house.ingest(TEAM_KEY, aSpan());
    await house.ingest(OTHER_TEAM_KEY, aSpan({ traceId: traceId(2) }));
    await house.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }));
    await eventually(() => team.received.length === 2 && one.received.length === 1, 'their updates');
    expect([team.received, one.received]).toEqual([[updateOf(1), updateOf(1, 2)], [updateOf(2)]]);
  });

  it('stops listening as soon as the client leaves, while nothing happens', async () => {
    house = await openGraph();
    const subscriber = subscribe(house.url, TraceUpdatesDocument, {});
    await listening(1);
    await subscriber.leave();
    await listening(0);
    expect(subscriber.received).toEqual([]);
  });

  it('reads the spans of a trace afresh for every event', async () => {
    house = await openGraph();
    const { received } = followed(subscribe(house.url, TraceUpdatesWithSpansDocument, {}));
    await listening(1);
    await house.ingest(TEAM_KEY, aSpan());
    await eventually(() => received.length === 1, 'the first event');
    await house.ingest(TEAM_KEY, aSpan({ spanId: spanId(2) }));
    await eventually(() => received.length === 2, 'the second event');
    expect(received).toEqual(
      [[1], [1, 2]].map((ids) => ({
        data: {
          traceUpdates: { trace: { traceId: traceId(1), spans: ids.map((id) => ({ spanId: spanId(id) })) } },
        },
      })),
    );
  });

  it('goes on behind the last update for who comes back', async () => {
    house = await openGraph();
    const before = followed(subscribe(house.url, TraceUpdateIdsDocument, {}));
    await listening(1);
    await house.ingest(TEAM_KEY, aSpan());
    await eventually(() => before.received.length === 1, 'the first event');
    const [first] = before.received as readonly { readonly data: { readonly traceUpdates: { readonly id: string } } }[];
    await before.leave();
    await house.ingest(TEAM_KEY, aSpan({ traceId: traceId(2) }));
    const { id = '' } = first?.data.traceUpdates ?? {};
    const { received } = followed(subscribe(house.url, TraceUpdatesAfterDocument, { after: id }));
    await eventually(() => received.length === 1, 'what came meanwhile');
    expect(received).toMatchObject([{ data: { traceUpdates: { trace: { traceId: traceId(2) } } } }]);
    const late = followed(subscribe(house.url, TraceUpdatesAfterDocument, { after: 'long-ago' }));
    await late.ended;
    expect(late.received).toMatchObject([{ errors: [{ extensions: { code: 'CONFLICT' } }] }]);
  });

  it('ends with a reason when the key holds no more', async () => {
    const current = (): never => {
      throw new Unauthenticated('Expired Key.', 'expired');
    };
    house = await openGraph({ platform: { keyRing: { identify: () => ADMIN, current, forget() {} } } });
    const { received, ended } = followed(subscribe(house.url, TraceUpdatesDocument, {}));
    await listening(1);
    await house.ingest(TEAM_KEY, aSpan());
    await ended;
    expect(received).toMatchObject([
      { errors: [{ message: 'Expired Key.', extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
    await listening(0);
  });

  it('ends with a reason when the key holds no more while nothing happens, and a chat of it goes on', async () => {
    let blocked = false;
    const current = (): Caller => {
      if (blocked) throw new Unauthenticated('Blocked Key.', 'blocked');
      return ADMIN;
    };
    const said = Promise.withResolvers<void>();
    house = await openGraph({
      platform: { keyRing: { identify: () => ADMIN, current, forget() {} } },
      gateway: scriptedGateway(() => chatAfter(said.promise)),
    });
    const readers = [1, 2, 3].map(() => followed(subscribe(house.url, TraceUpdatesDocument, {})));
    const chat = followed(subscribe(house.url, ChatStreamDocument, { input: HELLO }));
    await listening(3);
    await house.ingest(TEAM_KEY, aSpan());
    await eventually(() => readers.every(({ received }) => received.length === 1), 'an update each');
    house.tendFeeds();
    blocked = true;
    house.tendFeeds();
    await Promise.all(readers.map(({ ended }) => ended));
    for (const { received } of readers)
      expect(received).toEqual([
        updateOf(1),
        { errors: [{ message: 'Blocked Key.', extensions: { code: 'UNAUTHENTICATED' } }] },
      ]);
    await listening(0);
    said.resolve();
    await chat.ended;
    expect(chat.received).toMatchObject([{ data: { chatStream: { __typename: 'ChatText', text: 'Hello' } } }]);
  });

  it('is one line in the log with all others that end for the same reason, however different they are', async () => {
    let blocked = false;
    const current = (): Caller => {
      if (blocked) throw new Unauthenticated('Blocked Key.', 'blocked');
      return ADMIN;
    };
    house = await openGraph({ platform: { keyRing: { identify: () => ADMIN, current, forget() {} } } });
    const FEEDS = 30;
    const readers = Array.from({ length: FEEDS }, (_, number) =>
      followed(subscribe(house.url, TraceUpdatesDocument, { traceId: traceId(number + 1) })),
    );
    await listening(FEEDS);
    blocked = true;
    house.tendFeeds();
    await Promise.all(readers.map(({ ended }) => ended));
    await eventually(() => house.lines.length > 0, 'a line of it');
    expect(house.lines).toEqual([
      {
        level: 'warn',
        event: 'live feeds refused',
        facts: { requestId: expect.any(String), code: 'UNAUTHENTICATED', reason: 'Blocked Key.', count: FEEDS },
      },
    ]);
  });

  it('ends with a reason when the process drains', async () => {
    house = await openGraph();
    const { received, ended } = followed(subscribe(house.url, TraceUpdatesDocument, {}));
    await listening(1);
    house.door.close();
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
    await listening(0);
  });

  it('refuses who may not look, and ends', async () => {
    house = await openGraph();
    const { received, ended } = followed(subscribe(house.url, TraceUpdatesDocument, {}, 'sk-unknown'));
    await ended;
    expect(received).toMatchObject([
      { errors: [{ message: 'The key is not known.', extensions: { code: 'UNAUTHENTICATED' } }] },
    ]);
  });
});

describe.each(ROADS)('chatStream over %s', (_name, subscribe) => {
  it('hands the answer on step by step, a failure among them, and ends', async () => {
    const deltas: ChatDelta[] = [
      { kind: 'text', text: 'Hel' },
      { kind: 'failure', message: 'Overloaded.', code: '529' },
    ];
    house = await openGraph({ gateway: scriptedGateway(() => chatOf(...deltas)) });
    const { received, ended } = followed(subscribe(house.url, ChatStreamDocument, { input: HELLO }));
    await ended;
    const about = { traceId: '1'.repeat(32) };
    expect(received).toEqual([
      { data: { chatStream: { __typename: 'ChatText', ...about, text: 'Hel' } } },
      { data: { chatStream: { __typename: 'ChatFailure', ...about, message: 'Overloaded.', code: '529' } } },
    ]);
  });

  it.each([
    ['a bug', new Error('password is hunter2'), { message: 'Unexpected error.', extensions: { code: 'INTERNAL' } }],
    [
      'a failure that is meant',
      new UpstreamFailed('Overloaded.', { provider: 'openai', upstreamStatus: 529 }),
      { message: 'Overloaded.', extensions: { code: 'UPSTREAM_FAILED' } },
    ],
  ])('ends with one error when the source throws %s midway', async (_case, error, shown) => {
    house = await openGraph({ gateway: scriptedGateway(() => breaking(error)) });
    const { received, ended } = followed(subscribe(house.url, ChatStreamDocument, { input: HELLO }));
    await ended;
    expect(received).toHaveLength(2);
    expect(received[1]).toMatchObject({ errors: [shown] });
    expect(JSON.stringify(received)).not.toContain('hunter2');
    await eventually(() => house.lines.length === 1, 'a line of it');
  });

  it('gives the upstream up when the client leaves, while it says nothing', async () => {
    let left = 0;
    const silent = (): AsyncIterableIterator<ChatDelta> => ({
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => new Promise(() => {}),
      async return() {
        left += 1;
        return { done: true, value: undefined };
      },
    });
    let asked = 0;
    house = await openGraph({
      gateway: scriptedGateway(() => {
        asked += 1;
        return silent();
      }),
    });
    const subscriber = subscribe(house.url, ChatStreamDocument, { input: HELLO });
    await eventually(() => asked === 1, 'the call');
    await subscriber.leave();
    await eventually(() => left > 0, 'the upstream given up');
    expect([asked, left]).toEqual([1, 1]);
  });
});

/** A bus that counts what each of its subscribers has taken, in the order they came. */
function countingBus(queueLimit: number): { readonly bus: ReturnType<typeof createBus>; readonly taken: number[] } {
  const bus = createBus({ queueLimit });
  const taken: number[] = [];
  return {
    taken,
    bus: {
      ...bus,
      subscribe(topic, options) {
        const feed = bus.subscribe(topic, options);
        const index = taken.push(0) - 1;
        return eachOf(feed, (delivery) => {
          taken[index] = (taken[index] ?? 0) + 1;
          return delivery;
        });
      },
    },
  };
}

describe.each([
  ['/graphql', ''],
  ['/graphql/stream', '/stream'],
])('a subscriber that does not read, on %s', (_name, path) => {
  it('is given no more than the socket holds, and delays nobody, while 100,000 events pass', async () => {
    const { bus, taken } = countingBus(64);
    house = await openGraph({ platform: { bus } });
    const stalled = await stall(`${house.url}${path}`, TraceNamesDocument);
    await eventually(() => bus.subscriberCount() === 1, 'the stalled subscriber');
    const reader = followed(overYoga(house.url, TraceUpdatesDocument, {}));
    await eventually(() => bus.subscriberCount() === 2, 'the reading one');
    const event = { summary: aSummary({ name: 'x'.repeat(64 * 1024) }) };
    const before = heapInUse();

    // At the reader's own pace: were the stalled one served too, it would now hold 128 MB.
    for (let published = 50; published <= 2_000; published += 50) {
      for (let index = 0; index < 50; index += 1) bus.publish('trace', event);
      await eventually(() => reader.received.length === published, `event ${published}`);
    }
    expect(taken[0]).toBeLessThan(400);

    // And all at once: what is too fast for the reader is dropped, and counted.
    for (let batch = 0; batch < 98; batch += 1) {
      for (let index = 0; index < 1_000; index += 1) bus.publish('trace', event);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const heard = (): number =>
      (reader.received as { data: { traceUpdates: { missed: number } } }[]).reduce(
        (total, { data }) => total + 1 + data.traceUpdates.missed,
        0,
      );
    await eventually(() => heard() === 100_000, 'every event heard or counted as missed');
    reader.received.length = 0;
    expect(taken[0]).toBeLessThan(400);
    expect(heapInUse() - before).toBeLessThan(32 * 1024 * 1024);

    stalled.leave();
    await eventually(() => bus.subscriberCount() === 1, 'the stalled subscriber gone');
  });
});

/** Bytes of live objects, and of what they hold outside the heap. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
