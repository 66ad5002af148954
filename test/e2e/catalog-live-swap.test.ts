import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sharedData } from '../support/catalog-maps.ts';
import { startPriceMapUpstream, type Upstream } from '../support/price-map-upstream.ts';
import { readFileSync } from 'node:fs';
import { startApp, type TestApp } from '../support/start-app.ts';
import { POLLING } from '../support/polling.ts';

const FILES = ['model_prices_prev.json', 'model_prices.json'].map(sharedData);
const MAPS = FILES.flatMap((file) => (file === null ? [] : [readFileSync(file)]));
/** Number of models in each map. Six pages of 500 models hold a whole map. */
const MODEL_COUNTS = [2_982, 2_984];
const CLIENT_COUNT = 16;
/** Least number of times that each client reads a whole list. */
const MIN_PASSES = 4;

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly total_count: number;
  readonly has_more: boolean;
}

let upstream: Upstream;
let app: TestApp;
/** Number of maps that the upstream has sent. */
let sentMaps: number;

const start = async (options: Parameters<typeof startApp>[0] = {}): Promise<TestApp> =>
  startApp({
    ...options,
    env: {
      LITELLM_MODEL_COST_MAP_URL: upstream.url,
      LENSGATE_CATALOG_REFRESH_SECONDS: '1',
      LENSGATE_CATALOG_DAILY_LIMIT: '1000000',
    },
  });
/** Reads a page of the list. `snapshot` is the id of the snapshot that it is from. */
async function page(search: string): Promise<{ status: number; snapshot: string; list: List }> {
  const answer = await fetch(`${app.url}/model_catalog?page_size=500&${search}`);
  const snapshot = answer.headers.get('x-catalog-snapshot') ?? '';
  return { status: answer.status, snapshot, list: (await answer.json()) as List };
}
const source = async (): Promise<string> => {
  const { catalog } = (await (await app.call('GET', '/health/readiness/details')).json()) as {
    catalog: { source: string };
  };
  return catalog.source;
};

describe.skipIf(MAPS.length < 2)('two real maps, swapped live', () => {
  beforeEach(async () => {
    sentMaps = 0;
    // The two maps alternate, so that every refresh swaps.
    upstream = await startPriceMapUpstream((response) => {
      sentMaps += 1;
      response.end(MAPS[sentMaps % 2]);
    });
    app = await start();
    await vi.waitUntil(async () => (await source()) === 'upstream', POLLING);
  });
  afterEach(async () => {
    upstream.close();
    await app.stop();
  });

  it(`give each of ${CLIENT_COUNT} clients that name a snapshot the whole list of that snapshot`, async () => {
    /** The list of each snapshot, as the first client read it. */
    const lists = new Map<string, string>();

    async function readAll(): Promise<void> {
      const ids: string[] = [];
      const first = await page('page=1');
      for (let number = 1, hasMore = true; hasMore; number += 1) {
        const { status, snapshot, list } =
          number === 1 ? first : await page(`page=${number}&snapshot=${first.snapshot}`);
        expect([status, snapshot, list.total_count]).toEqual([200, first.snapshot, first.list.total_count]);
        ids.push(...list.data.map(({ id }) => id));
        hasMore = list.has_more;
      }
      expect([ids.length, new Set(ids).size]).toEqual([first.list.total_count, first.list.total_count]);
      const text = ids.join('\n');
      expect(lists.get(first.snapshot) ?? text).toBe(text);
      lists.set(first.snapshot, text);
    }

    const sentMapsBefore = sentMaps;
    await Promise.all(
      Array.from({ length: CLIENT_COUNT }, async () => {
        for (let pass = 0; pass < MIN_PASSES || sentMaps < sentMapsBefore + 3; pass += 1) await readAll();
      }),
    );
    expect(new Set([...lists.values()].map((text) => text.split('\n').length))).toEqual(new Set(MODEL_COUNTS));
  });

  it('give whole pages, each with the id of its snapshot, to a client that names no snapshot', async () => {
    /** The total counts that the pages of each snapshot state. */
    const totals = new Map<string, Set<number>>();
    const sentMapsBefore = sentMaps;
    // Repeats the reads of pages 1 to 6 until three more maps were sent and two snapshots were read.
    for (let number = 1; sentMaps < sentMapsBefore + 3 || totals.size < 2; number = number >= 6 ? 1 : number + 1) {
      const { snapshot, list } = await page(`page=${number}`);
      totals.set(snapshot, (totals.get(snapshot) ?? new Set()).add(list.total_count));
      expect([list.data.length, list.has_more]).toEqual([
        Math.max(0, Math.min(500, list.total_count - (number - 1) * 500)),
        number * 500 < list.total_count,
      ]);
    }
    // Each snapshot has one total count.
    expect([...totals.values()].map(({ size }) => size)).toEqual([...totals].map(() => 1));
  });

  it('survive a restart without a network; a new data folder has the built-in catalog', async () => {
    upstream.close();
    // A running refresh may still succeed. The next one fails.
    const lastError = async () =>
      (
        (await (await app.call('GET', '/health/readiness/details')).json()) as {
          catalog: { last_error: string | null };
        }
      ).catalog.last_error;
    await vi.waitUntil(async () => (await lastError()) !== null, POLLING);
    const before = await page('page=6');
    await app.stop({ keepData: true });
    app = await start({ dataDir: app.dataDir });
    const after = await page('page=6');
    expect([await source(), after]).toEqual(['upstream', before]);
    await app.stop();
    app = await start();
    const fresh = await page('page=1');
    expect([await source(), fresh.status, fresh.list.total_count >= 4_000]).toEqual(['embedded', 200, true]);
  });
});
