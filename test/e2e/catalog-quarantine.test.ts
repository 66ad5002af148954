import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QuarantinedPrice } from '../../src/domain/catalog/quarantine.ts';
import type { CatalogSnapshot } from '../../src/domain/catalog/catalog.ts';
import type { Release, ReleaseStore } from '../../src/domain/catalog/releases.ts';
import { usdText } from '../../src/domain/money.ts';
import { createPricer } from '../../src/gateway/accounting/price.ts';
import { createCatalogSource, type RefreshingCatalog } from '../../src/runtime/catalog/source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { aDeployment } from '../support/chat.ts';
import {
  mapOf,
  startPriceMapUpstream,
  recordingLog,
  type Rows,
  sendMap,
  type Upstream,
} from '../support/price-map-upstream.ts';
import { aScheduler } from '../support/scheduler.ts';

let folder: string;
let upstream: Upstream;
let storedReleases: Release[];
let swaps: [CatalogSnapshot, CatalogSnapshot][];
const sources: RefreshingCatalog[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-catalog-'));
  upstream = await startPriceMapUpstream(sendMap({}));
  storedReleases = [];
  swaps = [];
});
afterEach(() => {
  for (const source of sources) source.stop();
  upstream.close();
  rmSync(folder, { recursive: true });
});

/** Store of releases, shared by all sources of a test. */
const store: ReleaseStore = {
  all: async () => [...storedReleases],
  async put(release) {
    storedReleases = [
      ...storedReleases.filter(({ entryId, field }) => entryId !== release.entryId || field !== release.field),
      release,
    ];
  },
  async remove(releases) {
    storedReleases = storedReleases.filter((release) => !releases.includes(release));
  },
};

/** Creates a catalog source and restores the last good map from its file, as a start does. */
async function restoredSource(): Promise<RefreshingCatalog> {
  const source = createCatalogSource({
    url: upstream.url,
    refreshSeconds: 60,
    scheduler: aScheduler(),
    clock: systemClock,
    log: recordingLog().log,
    lastGoodFile: join(folder, 'price-map'),
    releases: store,
    swapped: (from, to) => void swaps.push([from, to]),
  });
  sources.push(source);
  await source.restore();
  return source;
}

/** A map in which `m0` has this input price. */
const priced = (price: unknown, version = 1): Rows => ({
  ...mapOf(3_000),
  m0: { litellm_provider: 'p', mode: 'chat', version, input_cost_per_token: price },
});
const priceIn = (source: RefreshingCatalog): unknown => source.current().find('m0')?.row['input_cost_per_token'];
const shownPrice = ({ entryId, field, value, served, reason }: QuarantinedPrice) => [
  entryId,
  field,
  value,
  served,
  reason,
];
/** Creates a catalog source that has read these maps in order. */
async function sourceWithMaps(...maps: readonly Rows[]): Promise<RefreshingCatalog> {
  const source = await restoredSource();
  for (const map of maps) await readMap(source, map);
  return source;
}
async function readMap(source: RefreshingCatalog, map: Rows): Promise<void> {
  upstream.setAnswer(sendMap(map));
  await source.refresh();
}
const firstQuarantined = (source: RefreshingCatalog): QuarantinedPrice => {
  const [quarantined] = source.quarantined();
  if (quarantined === undefined) throw new Error('Nothing is quarantined.');
  return quarantined;
};

describe('prices with unit mistakes', () => {
  it('are not in the built-in catalog', async () => {
    const source = await restoredSource();
    const entry = source.current().find('azure_ai/jais-30b-chat');
    expect([entry?.row['input_cost_per_token'], entry?.row['output_cost_per_token'], entry?.mode]).toEqual([
      undefined,
      undefined,
      'chat',
    ]);
    expect(source.quarantined().map(shownPrice)).toContainEqual([
      'azure_ai/jais-30b-chat',
      'input_cost_per_token',
      0.0032,
      undefined,
      'absurd',
    ]);
    expect(source.quarantined().every(({ since }) => since.getTime() === source.current().takenAt.getTime())).toBe(
      true,
    );
    expect(source.status().quarantined).toBe(source.quarantined().length);
  });

  it('leave the last accepted price served, and publish no swap if nothing else has changed', async () => {
    const source = await sourceWithMaps(priced(1e-6));
    const [good, swapCount] = [source.current(), swaps.length];
    await readMap(source, priced(1e-3));
    expect([source.current() === good, swaps.length - swapCount, source.quarantined().map(shownPrice)]).toEqual([
      true,
      0,
      [['m0', 'input_cost_per_token', 1e-3, 1e-6, 'ten_fold']],
    ]);
    await readMap(source, priced(1e-3, 2));
    expect([source.current().find('m0')?.row, source.current().find('m1') === good.find('m1')]).toEqual([
      { litellm_provider: 'p', mode: 'chat', version: 2, input_cost_per_token: 1e-6 },
      true,
    ]);
  });

  it('have one id for each value, and are dropped for an accepted value', async () => {
    const source = await sourceWithMaps(priced(1e-6), priced(1e-3));
    const first = firstQuarantined(source);
    await readMap(source, priced(1e-3, 2));
    const same = firstQuarantined(source);
    await readMap(source, priced(5e-4));
    const other = firstQuarantined(source);
    await readMap(source, priced(2e-6));
    expect([same.id === first.id, same.since, other.id === first.id]).toEqual([true, first.since, false]);
    expect([source.quarantined(), priceIn(source)]).toEqual([[], 2e-6]);
  });

  it('do not change the id of a snapshot, which depends on the served values only', async () => {
    const source = await sourceWithMaps(priced(1e-6));
    const ids = [source.current().id];
    for (const map of [priced(1e-3), priced(1e-6), priced(1e-3, 2), priced(1e-6, 2)]) {
      await readMap(source, map);
      ids.push(source.current().id);
    }
    const [good, quarantined, goodAgain, quarantinedInVersion2, goodInVersion2] = ids;
    expect([quarantined, goodAgain]).toEqual([good, good]);
    expect(new Set([good, quarantinedInVersion2])).toHaveProperty('size', 2);
    expect(goodInVersion2).toBe(quarantinedInVersion2);
  });
});

it('a quarantined price bills no call', async () => {
  const source = await sourceWithMaps(priced(1e-6));
  const costOf = createPricer(source.current);
  const usage = { inputTokens: 1_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const costNow = (): string | null => {
    const cost = costOf(aDeployment({ upstreamModel: 'm0' }), { usage });
    return cost === null ? null : usdText(cost);
  };
  const costs = [costNow()];
  await readMap(source, priced(1e-3));
  costs.push(costNow());
  await source.release(firstQuarantined(source).id, 'admin-hash');
  costs.push(costNow());
  await readMap(source, { ...mapOf(3_000), m0: {} });
  await readMap(source, priced(0.5));
  costs.push(costNow());
  // 1,000 tokens at 1e-6, still at 1e-6 while 1e-3 is quarantined, and at the released 1e-3.
  // The map before that with 0.5 has no price, so that none is served for the quarantined 0.5.
  expect(costs).toEqual(['0.001', '0.001', '1', null]);
});

describe('the release of a quarantined price', () => {
  it('serves the price immediately, publishes the swap, and survives refreshes and restarts', async () => {
    const source = await sourceWithMaps(priced(1e-6), priced(1e-3));
    const before = source.current();
    const quarantined = firstQuarantined(source);
    expect(await source.release(quarantined.id, 'admin-hash')).toEqual(quarantined);
    expect([priceIn(source), source.quarantined(), swaps.at(-1)]).toEqual([1e-3, [], [before, source.current()]]);
    expect([source.findSnapshot(before.id) === before, source.findSnapshot('never')]).toEqual([true, null]);
    await readMap(source, priced(1e-3, 2));
    const second = await restoredSource();
    await readMap(second, priced(1e-3, 3));
    expect([priceIn(source), priceIn(second), source.quarantined(), second.quarantined()]).toEqual([
      1e-3,
      1e-3,
      [],
      [],
    ]);
    expect(storedReleases).toEqual([
      {
        entryId: 'm0',
        field: 'input_cost_per_token',
        value: 1e-3,
        releasedAt: expect.any(Date),
        releasedBy: 'admin-hash',
      },
    ]);
  });

  it('holds until upstream changes the price again', async () => {
    const source = await sourceWithMaps(priced(1e-6), priced(1e-3));
    await source.release(firstQuarantined(source).id, 'admin-hash');
    await readMap(source, priced(2e-3));
    // The new price is quarantined as absurd. The last accepted price, 1e-3, stays served.
    expect([priceIn(source), storedReleases]).toEqual([1e-3, []]);
    await readMap(source, priced(1e-6));
    expect(source.quarantined().map(shownPrice)).toEqual([['m0', 'input_cost_per_token', 1e-6, 1e-3, 'ten_fold']]);
  });

  it('reaches another process at its next refresh, also when upstream has no change', async () => {
    const [here, there] = [
      await sourceWithMaps(priced(1e-6), priced(1e-3)),
      await sourceWithMaps(priced(1e-6), priced(1e-3)),
    ];
    await here.release(firstQuarantined(here).id, 'admin-hash');
    upstream.setAnswer((response) => void response.writeHead(503).end());
    await there.refresh();
    expect([priceIn(there), there.quarantined(), there.status().lastError]).toEqual([
      1e-3,
      [],
      'the source answered 503',
    ]);
  });

  it('changes nothing if the value is no longer quarantined', async () => {
    const source = await sourceWithMaps(priced(1e-6), priced(1e-3));
    const { id } = firstQuarantined(source);
    await readMap(source, priced(2e-3));
    const before = source.current();
    expect([await source.release(id, 'admin-hash'), source.current() === before, storedReleases]).toEqual([
      null,
      true,
      [],
    ]);
  });

  it('that cannot be stored does not take effect', async () => {
    const source = await sourceWithMaps(priced(1e-6), priced(1e-3));
    const { put } = store;
    store.put = () => Promise.reject(new Error('store unavailable'));
    await expect(source.release(firstQuarantined(source).id, 'admin-hash')).rejects.toThrow('store unavailable');
    store.put = put;
    expect([priceIn(source), source.quarantined().length]).toEqual([1e-6, 1]);
  });
});
