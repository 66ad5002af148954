import { expect, it } from 'vitest';
import { createLoaders } from '../../../resolvers/loaders.ts';
import type { Platform, Scope } from '../../../resolvers/scope.ts';
import { ingestTraces, type TraceUpdate, watchTraces } from '../../../resolvers/traces.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { Conflict, Unauthenticated } from '../../../src/domain/errors.ts';
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

function aHouse() {
  const bus = createBus({ queueLimit: QUEUE_LIMIT });
  // The trace operations use nothing else of the platform.
  /** Who keys are by now, where that is not what they were. */
  const now = new Map<string, Caller | Promise<Caller> | Unauthenticated>();
  const keyRing = {
    current(who: Caller): Caller | Promise<Caller> {
      const current = now.get(who.keyHash) ?? who;
      if (current instanceof Unauthenticated) throw current;
      return current;
    },
  };
  const exports = aTracePacker();
  const stores = { traces: createMemoryTraceStore(exports) };
  const platform = { stores, exports, bus, keyRing, estimates: NO_ESTIMATES } as unknown as Platform;
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
  return { bus, now, scope, ingest };
}

const seen = ({ value }: IteratorResult<TraceUpdate>) => [
  value?.event.summary.traceId[0],
  value?.event.summary.spanCount,
  value?.missed,
];

it('tells of each trace as it stands once its spans are stored, to those who may read it', async () => {
  const { scope, ingest } = aHouse();
  const mine = caller('mine', 'team-1');
  const updates = watchTraces(scope(caller('another key', 'team-1')), {});
  await ingest(caller('other', 'team-2'), 'f');
  await ingest(caller('mine'), 'e');
  await ingest(mine, 'a');
  await ingest(mine, 'a', '2');
  expect([seen(await updates.next()), seen(await updates.next())]).toEqual([
    ['a', 1, 0],
    ['a', 2, 0],
  ]);
});

it('a resend is no news', async () => {
  const { scope, ingest } = aHouse();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  await ingest(me, 'a');
  await ingest(me, 'b');
  expect([seen(await updates.next()), seen(await updates.next())]).toEqual([
    ['a', 1, 0],
    ['b', 1, 0],
  ]);
});

it('can be asked for one trace', async () => {
  const { scope, ingest } = aHouse();
  const me = caller('me');
  const updates = watchTraces(scope(me), { traceId: 'B'.repeat(32) });
  await ingest(me, 'a');
  await ingest(me, 'b');
  expect(seen(await updates.next())).toEqual(['b', 1, 0]);
});

it('says how many a slow reader missed', async () => {
  const { scope, ingest } = aHouse();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  for (const digit of ['1', '2', '3', '4', '5']) await ingest(me, digit);
  expect(seen(await updates.next())).toEqual(['3', 1, 2]);
  expect(seen(await updates.next())).toEqual(['4', 1, 0]);
});

it('leaving while waiting takes effect at once', async () => {
  const { bus, scope } = aHouse();
  const updates = watchTraces(scope(caller('me')), {});
  const waiting = updates.next();
  expect(bus.subscriberCount()).toBe(1);
  expect(await updates.return?.()).toEqual({ done: true, value: undefined });
  expect(bus.subscriberCount()).toBe(0);
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await updates.next()).toEqual({ done: true, value: undefined });
});

it('ends when the caller is gone', async () => {
  const { bus, scope } = aHouse();
  const gone = new AbortController();
  const updates = watchTraces(scope(caller('me'), gone.signal), {});
  const waiting = updates.next();
  gone.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(bus.subscriberCount()).toBe(0);
});

it('is for those with a key', () => {
  const { scope } = aHouse();
  expect(() => watchTraces(scope(null), {})).toThrow(Unauthenticated);
});

it('a key that holds no more ends what it follows, at the next event', async () => {
  const { bus, now, scope, ingest } = aHouse();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  expect(seen(await updates.next())).toEqual(['a', 1, 0]);
  now.set('me', new Unauthenticated('Expired Key.', 'expired'));
  const next = updates.next();
  await ingest(me, 'b');
  await expect(next).rejects.toThrow('Expired Key.');
  expect([bus.subscriberCount(), await updates.next()]).toEqual([0, { done: true, value: undefined }]);
});

it('a key that has changed its team is told what its new team may see', async () => {
  const { now, scope, ingest } = aHouse();
  const mine = caller('mine', 'team-1');
  const updates = watchTraces(scope(mine), {});
  now.set('mine', caller('mine', 'team-2'));
  const next = updates.next();
  await ingest(caller('two', 'team-2'), 'a');
  expect(seen(await next)).toEqual(['a', 1, 0]);
  await ingest(caller('one', 'team-1'), 'b');
  await ingest(caller('two', 'team-2'), 'c');
  expect(seen(await updates.next())).toEqual(['c', 1, 0]);
});

it('a key that is not in memory is looked up before it is shown anything', async () => {
  const { now, scope, ingest } = aHouse();
  const updates = watchTraces(scope(caller('mine', 'team-1')), {});
  now.set('mine', Promise.resolve(caller('mine', 'team-2')));
  await ingest(caller('one', 'team-1'), 'a');
  await ingest(caller('two', 'team-2'), 'b');
  expect(seen(await updates.next())).toEqual(['b', 1, 0]);
  now.set('mine', Promise.reject(new Unauthenticated('Expired Key.', 'expired')));
  const next = updates.next();
  await ingest(caller('two', 'team-2'), 'c');
  await expect(next).rejects.toThrow('Expired Key.');
});

it('who comes back goes on behind the last update, and hears of nothing that is not theirs', async () => {
  const { scope, ingest } = aHouse();
  const me = caller('me');
  const updates = watchTraces(scope(me), {});
  await ingest(me, 'a');
  const { value: last } = await updates.next();
  await updates.return?.();
  await ingest(caller('other'), 'b');
  await ingest(me, 'c');
  const again = watchTraces(scope(me), { after: last.id });
  expect(seen(await again.next())).toEqual(['c', 1, 0]);
  expect(() => watchTraces(scope(me), { after: 'none of ours' })).toThrow(Conflict);
});
