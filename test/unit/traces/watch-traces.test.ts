import { describe, expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/operation/loaders.ts';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import { ingestTraces, type TraceUpdate, watchTraces } from '../../../resolvers/traces.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { Conflict, Unauthenticated, Unavailable } from '../../../src/domain/errors.ts';
import { createCallerWatch } from '../../../src/gateway/keys/caller-watch.ts';
import { createBus } from '../../../src/runtime/bus.ts';
import { NO_ESTIMATES } from '../../support/no-estimates.ts';
import { aTracePacker } from '../../support/trace-packer.ts';
import { aClient } from '../../support/free-tier.ts';
import { createMemoryTraceStore } from '../../support/memory-trace-store.ts';

const QUEUE_LIMIT = 3;
const caller = (keyHash: string, teamId: string | null = null): Caller => ({
  role: 'internal_user',
  keyHash,
  key: null,
  teamId,
  userId: null,
});

const anExport = (traceId: string, spanId: string): unknown => ({
  resourceSpans: [
    { scopeSpans: [{ spans: [{ traceId, spanId, name: 'step', startTimeUnixNano: '1', endTimeUnixNano: '2' }] }] },
  ],
});

function createFixture() {
  const bus = createBus({ queueLimit: QUEUE_LIMIT });
  /** Result of a look-up by key hash, for keys that have changed. */
  const changedKeys = new Map<string, Caller | Promise<Caller> | Unauthenticated>();
  let reads = 0;
  const keyRing = {
    current(who: Caller): Caller | Promise<Caller> {
      reads += 1;
      const current = changedKeys.get(who.keyHash) ?? who;
      if (current instanceof Unauthenticated) throw current;
      return current;
    },
  };
  const exports = aTracePacker();
  const stores = { traces: createMemoryTraceStore(exports) };
  const callerWatch = createCallerWatch(keyRing);
  // The trace operations use nothing else of the platform.
  const platform = { stores, exports, bus, keyRing, callerWatch, estimates: NO_ESTIMATES } as unknown as Platform;
  const scope = (who: Caller | null, signal = new AbortController().signal): Scope => ({
    platform,
    caller: who,
    client: aClient(),
    signal,
    loaders: createLoaders(platform.stores, who),
  });
  const ingest = (who: Caller, digit: string, spanDigit = '1') =>
    ingestTraces(scope(who), {
      bytes: Buffer.from(JSON.stringify(anExport(digit.repeat(32), spanDigit.repeat(16)))),
      contentType: 'application/json',
      contentEncoding: undefined,
    });
  return { bus, changedKeys, scope, ingest, runChecks: callerWatch.runChecks, reads: () => reads };
}

/** First digit of the trace id, number of spans, and number of missed updates. */
const factsOf = ({ value }: IteratorResult<TraceUpdate>) => [
  value?.event.summary.traceId[0],
  value?.event.summary.spanCount,
  value?.missed,
];

it('a feed of traces sends each trace after its spans are stored, to callers that may read it', async () => {
  const { scope, ingest } = createFixture();
  const mine = caller('mine', 'team-1');
  const updates = watchTraces(scope(caller('another key', 'team-1')), {});
  await ingest(caller('other', 'team-2'), 'f');
  await ingest(caller('mine'), 'e');
  await ingest(mine, 'a');
  await ingest(mine, 'a', '2');
  expect([factsOf(await updates.next()), factsOf(await updates.next())]).toEqual([
    ['a', 1, 0],
    ['a', 2, 0],
  ]);
});

it('a feed of traces sends no update for spans that are already stored', async () => {
  const { scope, ingest } = createFixture();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  await ingest(me, 'a');
  await ingest(me, 'b');
  expect([factsOf(await updates.next()), factsOf(await updates.next())]).toEqual([
    ['a', 1, 0],
    ['b', 1, 0],
  ]);
});

it('a feed of traces can be limited to one trace, with its id in any letter case', async () => {
  const { scope, ingest } = createFixture();
  const me = caller('me');
  const updates = watchTraces(scope(me), { traceId: 'B'.repeat(32) });
  await ingest(me, 'a');
  await ingest(me, 'b');
  expect(factsOf(await updates.next())).toEqual(['b', 1, 0]);
});

it('a feed of traces reports the number of updates that a slow reader missed', async () => {
  const { scope, ingest } = createFixture();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  for (const digit of ['1', '2', '3', '4', '5']) await ingest(me, digit);
  expect(factsOf(await updates.next())).toEqual(['3', 1, 2]);
  expect(factsOf(await updates.next())).toEqual(['4', 1, 0]);
});

it('a reader that closes its feed while it waits is removed immediately', async () => {
  const { bus, scope } = createFixture();
  const updates = watchTraces(scope(caller('me')), {});
  const waiting = updates.next();
  expect(bus.subscriberCount()).toBe(1);
  expect(await updates.return?.()).toEqual({ done: true, value: undefined });
  expect(bus.subscriberCount()).toBe(0);
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await updates.next()).toEqual({ done: true, value: undefined });
});

it('a feed of traces ends when the caller disconnects', async () => {
  const { bus, scope } = createFixture();
  const clientLeft = new AbortController();
  const updates = watchTraces(scope(caller('me'), clientLeft.signal), {});
  const waiting = updates.next();
  clientLeft.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(bus.subscriberCount()).toBe(0);
});

it('a feed of traces requires a key', () => {
  const { scope } = createFixture();
  expect(() => watchTraces(scope(null), {})).toThrow(Unauthenticated);
});

it('a key that is no longer valid ends its subscriptions at the next event', async () => {
  const { bus, changedKeys, scope, ingest } = createFixture();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  expect(factsOf(await updates.next())).toEqual(['a', 1, 0]);
  changedKeys.set('me', new Unauthenticated('Expired Key.', 'expired'));
  const next = updates.next();
  await ingest(me, 'b');
  await expect(next).rejects.toThrow('Expired Key.');
  expect([bus.subscriberCount(), await updates.next()]).toEqual([0, { done: true, value: undefined }]);
});

it.each([
  ['team', caller('mine', 'team-2')],
  ['role', { ...caller('mine', 'team-1'), role: 'proxy_admin' as const }],
])(
  'a key with a changed %s ends its subscriptions before they show newly visible data',
  async (_what, changedCaller) => {
    const { bus, changedKeys, scope, ingest } = createFixture();
    const updates = watchTraces(scope(caller('mine', 'team-1')), {});
    changedKeys.set('mine', changedCaller);
    const next = updates.next();
    await ingest(caller('two', 'team-2'), 'a');
    await expect(next).rejects.toThrow(Conflict);
    expect(bus.subscriberCount()).toBe(0);
  },
);

it('a key that is not in memory is looked up before its first event', async () => {
  const { changedKeys, scope, ingest } = createFixture();
  const updates = watchTraces(scope(caller('mine', 'team-1')), {});
  changedKeys.set('mine', Promise.resolve(caller('mine', 'team-1')));
  await ingest(caller('two', 'team-2'), 'a');
  await ingest(caller('one', 'team-1'), 'b');
  expect(factsOf(await updates.next())).toEqual(['b', 1, 0]);
  changedKeys.set('mine', Promise.reject(new Unauthenticated('Expired Key.', 'expired')));
  const next = updates.next();
  await ingest(caller('one', 'team-1'), 'c');
  await expect(next).rejects.toThrow('Expired Key.');
});

describe('at a check without an event', () => {
  const expired = new Unauthenticated('Expired Key.', 'expired');
  const checkedAfterChange = (how: () => Caller | Promise<Caller> | Unauthenticated) => {
    const fixture = createFixture();
    const waiting = watchTraces(fixture.scope(caller('mine', 'team-1')), {}).next();
    fixture.changedKeys.set('mine', how());
    fixture.runChecks();
    return { ...fixture, waiting };
  };

  it.each([
    ['has expired', () => expired, 'Expired Key.'],
    ['is found to be expired', () => Promise.reject(expired), 'Expired Key.'],
    ['has lost its team', () => caller('mine'), 'The rights of this key have changed.'],
    [
      'is found in another team',
      () => Promise.resolve(caller('mine', 'team-2')),
      'The rights of this key have changed.',
    ],
  ])('a key that %s ends its subscriptions', async (_what, how, message) => {
    const { bus, waiting } = checkedAfterChange(how);
    await expect(waiting).rejects.toThrow(message);
    expect(bus.subscriberCount()).toBe(0);
  });

  it.each([
    ['that is still valid', () => caller('mine', 'team-1')],
    ['of a store that does not answer', () => Promise.reject(new Unavailable('The key store does not answer.'))],
  ])('a key %s keeps its subscriptions', async (_what, how) => {
    const { bus, changedKeys, waiting, ingest } = checkedAfterChange(how);
    await new Promise((resolve) => setImmediate(resolve));
    expect(bus.subscriberCount()).toBe(1);
    changedKeys.delete('mine');
    await ingest(caller('one', 'team-1'), 'a');
    expect(factsOf(await waiting)).toEqual(['a', 1, 0]);
  });

  it('a key is read once for all its feeds, and not read without feeds', async () => {
    const { scope, runChecks, reads } = createFixture();
    const feeds = Array.from({ length: 1_000 }, () => watchTraces(scope(caller('mine')), {}));
    const otherFeed = watchTraces(scope(caller('other')), {});
    runChecks();
    expect(reads()).toBe(2);
    for (const feed of [...feeds, otherFeed]) await feed.return();
    runChecks();
    expect(reads()).toBe(2);
  });

  it('a key whose read is running is not read again', async () => {
    const { changedKeys, scope, runChecks, reads } = createFixture();
    const waiting = watchTraces(scope(caller('mine')), {}).next();
    const answer = Promise.withResolvers<Caller>();
    changedKeys.set('mine', answer.promise);
    for (let round = 0; round < 3; round += 1) runChecks();
    expect(reads()).toBe(1);
    answer.reject(expired);
    await expect(waiting).rejects.toThrow('Expired Key.');
  });
});

it('a returning reader continues after its last update, and gets no traces of others', async () => {
  const { scope, ingest } = createFixture();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  const { value: lastUpdate } = await updates.next();
  await updates.return?.();
  await ingest(caller('other'), 'b');
  await ingest(me, 'c');
  const resumed = watchTraces(scope(me), { after: lastUpdate.id });
  expect(factsOf(await resumed.next())).toEqual(['c', 1, 0]);
  expect(() => watchTraces(scope(me), { after: 'none of ours' })).toThrow(Conflict);
});
