import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCatalogSource, type RefreshingCatalog } from '../../src/runtime/catalog/source.ts';
import { mapOf, recordingLog } from '../support/price-map-upstream.ts';
import {
  CatalogStatusDocument,
  QuarantinedPricesDocument,
  ReleaseQuarantinedPriceDocument,
  TypedDocumentString,
} from './generated/graphql.ts';
import { openGraph } from './graph-server.ts';
import { aScheduler } from '../support/scheduler.ts';

const TAKEN_AT = new Date('2023-11-15T10:00:00.000Z');

interface Data {
  readonly quarantinedPrices: { readonly totalCount: number; readonly nodes: readonly { readonly entryId: string }[] };
}

let folder: string;
let catalog: RefreshingCatalog;
let graph: Awaited<ReturnType<typeof openGraph>>;

/** Price map with these input prices per token of `m0`, `m1` and so on. */
const mapWithPrices = (...prices: readonly number[]): string =>
  JSON.stringify({
    ...mapOf(3_000),
    ...Object.fromEntries(prices.map((price, index) => [`m${index}`, { mode: 'chat', input_cost_per_token: price }])),
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-catalog-'));
  const url = join(folder, 'map.json');
  const clock = { now: () => TAKEN_AT, monotonicMs: () => 0 };
  catalog = createCatalogSource({ url, refreshSeconds: 60, scheduler: aScheduler(), clock, log: recordingLog().log });
  for (const map of [mapWithPrices(1e-6, 2e-6), mapWithPrices(1e-3, 2e-5, 0.4)]) {
    writeFileSync(url, map);
    await catalog.refresh();
  }
  graph = await openGraph({ platform: { catalog } });
});
afterEach(async () => {
  await graph.close();
  rmSync(folder, { recursive: true });
});

const quarantined = async (key: string | null) => graph.call(QuarantinedPricesDocument, {}, key);

describe('quarantinedPrices', () => {
  it.each(['sk-admin', 'sk-viewer'])(
    'shows %s the quarantined prices, the reasons, and the prices that are served',
    async (key) => {
      const since = TAKEN_AT.toISOString();
      const quarantineId = expect.stringMatching(/^[\w-]{22}$/);
      const field = 'input_cost_per_token';
      const { data } = await quarantined(key);
      expect([data.quarantinedPrices.totalCount, data.quarantinedPrices.nodes]).toEqual([
        3,
        [
          { quarantineId, entryId: 'm0', field, quarantinedValue: 1e-3, servedValue: 1e-6, reason: 'TEN_FOLD', since },
          { quarantineId, entryId: 'm1', field, quarantinedValue: 2e-5, servedValue: 2e-6, reason: 'TEN_FOLD', since },
          { quarantineId, entryId: 'm2', field, quarantinedValue: 0.4, servedValue: null, reason: 'TOO_HIGH', since },
        ],
      ]);
    },
  );
  it('accepts a filter and an order', async () => {
    const list = async (args: string) => {
      const { data } = await graph.call<Data, object>(
        new TypedDocumentString(`{ quarantinedPrices(${args}) { totalCount nodes { entryId } } }`),
        {},
        'sk-admin',
      );
      return [data.quarantinedPrices.totalCount, ...data.quarantinedPrices.nodes.map(({ entryId }) => entryId)];
    };
    expect(await list('filter: { reason: TEN_FOLD }')).toEqual([2, 'm0', 'm1']);
    expect(await list('filter: { entryId: "M2" }')).toEqual([1, 'm2']);
    expect(await list('orderBy: { field: ENTRY_ID }')).toEqual([3, 'm2', 'm1', 'm0']);
    const [, ...oldestFirst] = await list('orderBy: { field: SINCE, direction: ASC }');
    const [, ...newestFirst] = await list('orderBy: { field: SINCE }');
    expect([oldestFirst.toReversed(), newestFirst.length]).toEqual([newestFirst, 3]);
  });
  it('is paged', async () => {
    const first = (await graph.call(QuarantinedPricesDocument, { first: 2 })).data.quarantinedPrices;
    const after = first.pageInfo.endCursor ?? null;
    const second = (await graph.call(QuarantinedPricesDocument, { first: 2, after })).data.quarantinedPrices;
    const idsOf = (page: typeof first) => page.nodes.map(({ entryId }) => entryId);
    expect([idsOf(first), first.pageInfo.hasNextPage, idsOf(second), second.pageInfo.hasNextPage]).toEqual([
      ['m0', 'm1'],
      true,
      ['m2'],
      false,
    ]);
  });
  it.each([
    [null, 'A key is needed: send it as `Authorization: Bearer sk-...`.', 'UNAUTHENTICATED'],
    ['sk-team-a', 'Only proxy admins can see this.', 'FORBIDDEN'],
  ])('is refused with the key %s', async (key, message, code) => {
    const { data, errors } = await quarantined(key);
    expect([data, errors?.[0]?.message, errors?.[0]?.extensions?.['code']]).toEqual([null, message, code]);
  });
});

describe('releaseQuarantinedPrice', () => {
  const firstId = async (): Promise<string> =>
    (await quarantined('sk-admin')).data.quarantinedPrices.nodes[0]?.quarantineId ?? '';

  it('serves the released price immediately, and releases no other', async () => {
    const id = await firstId();
    const { data } = await graph.call(ReleaseQuarantinedPriceDocument, { id });
    expect(data.releaseQuarantinedPrice).toEqual({
      __typename: 'ReleasedPrice',
      price: { field: 'input_cost_per_token', quarantinedValue: 1e-3 },
      entry: { entryId: 'm0', inputCostPerToken: '0.001' },
    });
    expect(catalog.quarantined().map(({ entryId }) => entryId)).toEqual(['m1', 'm2']);
    const again = await graph.call(ReleaseQuarantinedPriceDocument, { id });
    expect(again.data.releaseQuarantinedPrice).toEqual({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
      message: 'No quarantined price has this id. It may have been released or replaced.',
      kind: 'quarantined price',
      id,
    });
  });
  it.each([null, 'sk-team-a', 'sk-viewer'])('is refused with the key %s, and changes nothing', async (key) => {
    const snapshotBefore = catalog.current();
    const { errors } = await graph.call(ReleaseQuarantinedPriceDocument, { id: await firstId() }, key);
    expect([
      errors?.[0]?.extensions?.['code'],
      catalog.current() === snapshotBefore,
      catalog.quarantined().length,
    ]).toEqual([key === null ? 'UNAUTHENTICATED' : 'FORBIDDEN', true, 3]);
  });
});

describe('catalogStatus', () => {
  it('shows the age of the data and the number of quarantined prices to everyone', async () => {
    // The clock of the graph server is at 10:13:20.
    const { data } = await graph.call(CatalogStatusDocument, {}, null);
    expect(data.catalogStatus).toEqual({
      snapshotId: catalog.current().id,
      source: 'FILE',
      takenAt: TAKEN_AT.toISOString(),
      ageSeconds: 800,
      entryCount: 3_000,
      quarantinedPriceCount: 3,
      lastCheckedAt: TAKEN_AT.toISOString(),
      lastError: null,
    });
  });
});
