import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CatalogChange, WatchedFields } from '../../src/domain/catalog/changes.ts';
import type { CatalogHistory } from '../../src/domain/catalog/history.ts';
import { Unavailable } from '../../src/domain/errors.ts';
import { openStores } from '../../src/persistence/database/orm.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { putMigratedDatabase } from '../support/migrated-databases.ts';
import {
  CatalogChangesDocument,
  CatalogChangeUpdatesDocument,
  EntriesWithPastDocument,
  PricesAtDocument,
  PriceHistoryDocument,
} from './generated/graphql.ts';
import { anEntry, eventually, openGraph } from './graph-server.ts';
import { TRANSPORTS, type Subscriber } from './subscribers.ts';

const INPUT = 'input_cost_per_token';
/** Start of a day of November 2023, UTC. The test server's clock is at 10:13:20 on the 15th. */
const day = (dayOfMonth: number): Date => new Date(Date.UTC(2023, 10, dayOfMonth));
const dayText = (dayOfMonth: number): string => day(dayOfMonth).toISOString();

const aChange = (dayOfMonth: number, fields: Partial<CatalogChange> = {}): CatalogChange => ({
  at: day(dayOfMonth),
  notBefore: null,
  entryId: 'm',
  provider: 'p',
  op: 'changed',
  field: INPUT,
  old: 1.4e-8,
  new: 7e-7,
  snapshotId: null,
  ...fields,
});

let dataDir: string;
let stores: Stores;
let graph: Awaited<ReturnType<typeof openGraph>>;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-history-'));
  await putMigratedDatabase(dataDir);
  stores = await openStores({ databaseUrl: null, dataDir, log: { warn() {} } });
});
afterEach(async () => {
  await graph.close();
  await stores.close();
  rmSync(dataDir, { recursive: true });
});

/**
 * Records a history: imported for the 1st to the 5th, recorded from the 10th. On the 12th the price of `m` changes, and
 * `gone` is removed.
 */
async function recordHistory(): Promise<CatalogHistory> {
  const history = stores.catalogHistory;
  await history.importChanges([aChange(2), aChange(4, { field: 'max_tokens', old: null, new: 5, provider: null })], 1);
  await history.importSpan(day(1), day(5));
  const head = (number: number) => ({
    snapshotId: `s${number}`,
    takenAt: day(number),
    seenAt: day(number),
    confirmedAt: day(number),
  });
  const entryOf = (entryId: string, fields: WatchedFields | null) => ({ entryId, fields });
  await history.record({
    from: null,
    head: head(10),
    changes: [],
    entries: [entryOf('m', { [INPUT]: 1e-6 }), entryOf('gone', { [INPUT]: 3e-6, tiered_pricing: [1] })],
  });
  await history.record({
    from: 's10',
    head: head(12),
    changes: [
      aChange(12, { old: 1e-6, new: 5e-7, snapshotId: 's12' }),
      aChange(12, {
        entryId: 'gone',
        op: 'removed',
        field: null,
        old: { [INPUT]: 3e-6, tiered_pricing: [1] },
        new: null,
        snapshotId: 's12',
      }),
    ],
    entries: [entryOf('m', { [INPUT]: 5e-7 }), entryOf('gone', null)],
  });
  return history;
}

describe('priceHistory', () => {
  it('has the steps of a price with exact amounts, and a gap for a time without records', async () => {
    graph = await openGraph({ history: await recordHistory() });
    expect(await graph.call(PriceHistoryDocument, { entryId: 'm' }, null)).toEqual({
      data: {
        priceHistory: [
          { field: INPUT, from: dayText(1), to: dayText(2), priceUsd: '0.000000014', value: 1.4e-8 },
          { field: INPUT, from: dayText(2), to: dayText(5), priceUsd: '0.0000007', value: 7e-7 },
          { field: INPUT, from: dayText(10), to: dayText(12), priceUsd: '0.000001', value: 1e-6 },
          { field: INPUT, from: dayText(12), to: null, priceUsd: '0.0000005', value: 5e-7 },
        ],
      },
    });
    const { data } = await graph.call(PriceHistoryDocument, { entryId: 'm', from: dayText(11), to: dayText(12) });
    expect(data.priceHistory).toEqual([
      { field: INPUT, from: dayText(11), to: dayText(12), priceUsd: '0.000001', value: 1e-6 },
    ]);
  });

  it('has the steps of a removed entry; is null for an unknown entry, and empty for an entry without history', async () => {
    graph = await openGraph({ history: await recordHistory(), entries: [anEntry('new')] });
    const gone = await graph.call(PriceHistoryDocument, { entryId: 'gone', from: dayText(11) });
    expect(gone.data.priceHistory).toEqual([
      { field: INPUT, from: dayText(11), to: dayText(12), priceUsd: '0.000003', value: 3e-6 },
      { field: INPUT, from: dayText(12), to: null, priceUsd: null, value: null },
      { field: 'tiered_pricing', from: dayText(11), to: dayText(12), priceUsd: null, value: [1] },
      { field: 'tiered_pricing', from: dayText(12), to: null, priceUsd: null, value: null },
    ]);
    for (const entryId of ['never', 'nev\0er', 'm\ud800', '', 'x'.repeat(10_000)])
      expect(await graph.call(PriceHistoryDocument, { entryId })).toEqual({ data: { priceHistory: null } });
    expect(await graph.call(PriceHistoryDocument, { entryId: 'new' })).toEqual({ data: { priceHistory: [] } });
  });

  it('refuses an empty period, and reports a history that cannot be read', async () => {
    graph = await openGraph({ history: stores.catalogHistory });
    expect(await graph.call(PriceHistoryDocument, { entryId: 'm', from: dayText(2), to: dayText(2) })).toMatchObject({
      data: { priceHistory: null },
      errors: [{ message: 'The period is empty: `from` must be before `to`.', extensions: { code: 'INVALID_INPUT' } }],
    });
    await graph.close();
    const unavailable = { ...stores.catalogHistory, ofEntries: () => Promise.reject(new Unavailable('Away.')) };
    graph = await openGraph({ history: unavailable, entries: [anEntry('m')] });
    const answer = await graph.call(EntriesWithPastDocument, { at: dayText(2) });
    expect(answer.data.catalogEntries).toEqual({ nodes: [{ entryId: 'm', priceHistory: null, pricesAt: null }] });
    expect(answer.errors?.map(({ extensions }) => extensions?.['code'])).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  });
});

describe('pricesAt', () => {
  // Day 0 is before the history, day 7 in its gap, and day 20 in the future.
  it.each([
    [0, null, { known: false, priceUsd: null, value: null }],
    [1, true, { known: true, priceUsd: '0.000000014', value: 1.4e-8 }],
    [3, true, { known: true, priceUsd: '0.0000007', value: 7e-7 }],
    [7, null, { known: false, priceUsd: null, value: null }],
    [11, true, { known: true, priceUsd: '0.000001', value: 1e-6 }],
    [13, true, { known: true, priceUsd: '0.0000005', value: 5e-7 }],
    [20, null, { known: false, priceUsd: null, value: null }],
  ])(
    'returns the recorded price of day %i, or marks it as unknown outside the history',
    async (dayOfMonth, listed, price) => {
      graph = await openGraph({ history: await recordHistory() });
      expect(await graph.call(PricesAtDocument, { entryId: 'm', at: dayText(dayOfMonth) }, null)).toEqual({
        data: {
          pricesAt: {
            entryId: 'm',
            at: dayText(dayOfMonth),
            listed,
            prices: [{ field: INPUT, ...price }],
          },
        },
      });
    },
  );

  it('has only the requested prices, and is null for an unknown id', async () => {
    graph = await openGraph({ history: await recordHistory() });
    const reading = { entryId: 'gone', at: dayText(13), fields: [INPUT, 'no_such_cost'] };
    expect((await graph.call(PricesAtDocument, reading)).data.pricesAt).toEqual({
      entryId: 'gone',
      at: dayText(13),
      listed: false,
      prices: [{ field: INPUT, known: true, priceUsd: null, value: null }],
    });
    expect((await graph.call(PricesAtDocument, { entryId: 'never', at: dayText(3) })).data.pricesAt).toBeNull();
  });

  it('reads the history of a whole page with one read', async () => {
    const past = await recordHistory();
    let reads = 0;
    const countingHistory = {
      ...past,
      ofEntries(ids: readonly string[]) {
        reads += 1;
        return past.ofEntries(ids);
      },
    };
    const entries = [anEntry('m'), ...Array.from({ length: 49 }, (_, index) => anEntry(`n${index}`))];
    graph = await openGraph({ history: countingHistory, entries });
    const { data } = await graph.call(EntriesWithPastDocument, { at: dayText(11) });
    expect(data.catalogEntries.nodes).toHaveLength(50);
    expect(data.catalogEntries.nodes[0]).toMatchObject({
      priceHistory: { length: 4 },
      pricesAt: { listed: true, prices: [{ known: true, priceUsd: '0.000001' }] },
    });
    expect(reads).toBe(1);
  });
});

describe('catalogChanges', () => {
  it('lists changes newest first, in pages, and the periods that the history covers', async () => {
    graph = await openGraph({ history: await recordHistory() });
    const firstPage = await graph.call(CatalogChangesDocument, { first: 3 }, null);
    expect(firstPage.data.catalogChanges.nodes).toMatchObject([
      {
        entryId: 'gone',
        operation: 'REMOVED',
        field: null,
        fieldKind: null,
        oldValue: { [INPUT]: 3e-6 },
        newValue: null,
        oldPriceUsd: null,
      },
      {
        entryId: 'm',
        operation: 'CHANGED',
        field: INPUT,
        fieldKind: 'PRICE',
        oldPriceUsd: '0.000001',
        newPriceUsd: '0.0000005',
      },
      {
        at: dayText(4),
        field: 'max_tokens',
        fieldKind: 'LIMIT',
        oldValue: null,
        newValue: 5,
        oldPriceUsd: null,
        snapshotId: null,
      },
    ]);
    expect(firstPage.data.catalogChanges.coverage).toEqual([
      { source: 'IMPORTED', from: dayText(1), to: dayText(5) },
      { source: 'RECORDED', from: dayText(10), to: null },
    ]);
    const { pageInfo } = firstPage.data.catalogChanges;
    expect([pageInfo.hasNextPage, pageInfo.hasPreviousPage]).toEqual([true, false]);
    const secondPage = await graph.call(CatalogChangesDocument, { first: 3, after: pageInfo.endCursor });
    expect(secondPage.data.catalogChanges.nodes.map(({ at }) => at)).toEqual([dayText(2)]);
    expect(secondPage.data.catalogChanges.pageInfo).toMatchObject({ hasNextPage: false });
  });

  it.each([
    [{ filter: { entryId: 'gone' } }, 1],
    [{ filter: { provider: 'P' } }, 3],
    [{ filter: { field: INPUT } }, 2],
    [{ filter: { fieldKind: 'LIMIT' as const } }, 1],
    [{ filter: { operation: 'CHANGED' as const } }, 3],
    [{ from: dayText(4), to: dayText(12) }, 1],
    [{ filter: { entryId: 'm', operation: 'ADDED' as const } }, 0],
    [{ filter: { entryId: 'x\0' } }, 0],
    [{ first: 0 }, 0],
  ])('%o finds %i changes', async (filters, count) => {
    graph = await openGraph({ history: await recordHistory() });
    const { data } = await graph.call(CatalogChangesDocument, filters);
    expect(data.catalogChanges.nodes).toHaveLength(count);
  });

  it.each([
    [{ first: -1 }, '`first` must be between 0 and 500.'],
    [{ first: 501 }, '`first` must be between 0 and 500.'],
    [{ after: 'bm9uc2Vuc2U' }, 'Invalid cursor.'],
    [{ after: '' }, 'Invalid cursor.'],
    [{ from: dayText(2), to: dayText(1) }, 'The period is empty: `from` must be before `to`.'],
  ])('refuses %o', async (variables, message) => {
    graph = await openGraph({ history: stores.catalogHistory });
    expect(await graph.call(CatalogChangesDocument, variables)).toMatchObject({
      errors: [{ message, extensions: { code: 'INVALID_INPUT' } }],
    });
  });
});

describe.each(TRANSPORTS)('catalogChangeUpdates over %s', (_name, subscribe) => {
  const subscribers: Subscriber[] = [];
  const follow = (variables: object): Subscriber => {
    const subscriber = subscribe(graph.url, CatalogChangeUpdatesDocument, variables);
    subscribers.push(subscriber);
    return subscriber;
  };
  afterEach(async () => {
    await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.leave()));
  });
  const untilSubscribers = (count: number) =>
    eventually(() => graph.bus.subscriberCount() === count, `${count} subscribers`);

  it('sends each subscriber the changes that match its filter', async () => {
    graph = await openGraph({ history: stores.catalogHistory });
    const [unfiltered, ofEntry, ofPrices] = [
      follow({}),
      follow({ filter: { entryId: 'other' } }),
      follow({ filter: { fieldKind: 'PRICE', provider: 'P' } }),
    ];
    await untilSubscribers(3);
    const flag = { entryId: 'other', field: 'supports_vision', old: null, new: true };
    graph.bus.publish('catalogChange', { at: day(1), snapshotId: 's1', changes: [aChange(1), aChange(1, flag)] });
    graph.bus.publish('catalogChange', { at: day(2), snapshotId: 's2', changes: [aChange(2)] });
    await eventually(() => unfiltered.received.length === 2 && ofPrices.received.length === 2, 'two updates');
    await eventually(() => ofEntry.received.length === 1, 'one update');
    const priceUpdate = { entryId: 'm', field: INPUT, oldPriceUsd: '0.000000014', newPriceUsd: '0.0000007' };
    const flagUpdate = { entryId: 'other', field: 'supports_vision', oldPriceUsd: null, newPriceUsd: null };
    const update = (number: number, ...changes: object[]) => ({
      data: { catalogChangeUpdates: { at: dayText(number), snapshotId: `s${number}`, droppedUpdates: 0, changes } },
    });
    expect(unfiltered.received).toEqual([update(1, priceUpdate, flagUpdate), update(2, priceUpdate)]);
    expect(ofPrices.received).toEqual([update(1, priceUpdate), update(2, priceUpdate)]);
    expect(ofEntry.received).toEqual([update(1, flagUpdate)]);
  });

  it('counts the dropped updates of a slow subscriber, and ends when the subscriber leaves', async () => {
    graph = await openGraph({ history: stores.catalogHistory, queueLimit: 4 });
    const subscriber = follow({});
    await untilSubscribers(1);
    for (let number = 0; number < 100; number += 1)
      graph.bus.publish('catalogChange', { at: day(1), snapshotId: `s${number}`, changes: [aChange(1)] });
    const receivedOrDropped = (): number =>
      (subscriber.received as { data: { catalogChangeUpdates: { droppedUpdates: number } } }[]).reduce(
        (total, { data }) => total + 1 + data.catalogChangeUpdates.droppedUpdates,
        0,
      );
    await eventually(() => receivedOrDropped() === 100, 'every update received or counted as dropped');
    expect(subscriber.received.length).toBeLessThan(100);
    await subscriber.leave();
    await untilSubscribers(0);
  });
});
