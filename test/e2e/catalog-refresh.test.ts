import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCatalogSource, type RefreshingCatalog } from '../../src/runtime/catalog/source.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  type Answer,
  mapOf,
  startPriceMapUpstream,
  recordingLog,
  sendMap,
  type Upstream,
} from '../support/price-map-upstream.ts';
import { aScheduler } from '../support/scheduler.ts';

let upstream: Upstream;
let catalog: RefreshingCatalog | null = null;

beforeEach(async () => {
  upstream = await startPriceMapUpstream((response) => void response.end());
});
afterEach(() => {
  catalog?.stop();
  upstream.close();
});

function aSource(url = upstream.url, log = recordingLog().log): RefreshingCatalog {
  catalog = createCatalogSource({ url, refreshSeconds: 60, scheduler: aScheduler(), clock: systemClock, log });
  return catalog;
}

describe('following a live price map', () => {
  it('serves the built-in catalog first, then the whole live one', async () => {
    const source = aSource();
    const before = source.current();
    // `sample_spec` and `last_updated` are no models.
    upstream.setAnswer(sendMap({ sample_spec: { mode: 'one of' }, ...mapOf(3_000), last_updated: 'today' }));
    await source.refresh();
    const after = source.current();
    expect([before.source, before.entries.length >= 4_000, before.find('m0')]).toEqual(['embedded', true, null]);
    expect([after.source, after.entries.length, after.find('sample_spec'), after.entries[2]]).toEqual([
      'upstream',
      3_000,
      null,
      { id: 'm2', provider: 'p', mode: 'chat', row: { litellm_provider: 'p', mode: 'chat', version: 1 } },
    ]);
    expect(source.status()).toEqual({
      source: 'upstream',
      takenAt: after.takenAt,
      count: 3_000,
      lastCheckedAt: expect.any(Date),
      lastError: null,
      quarantined: 0,
      checks: { taken: 1, unchanged: 0, refused: 0, failed: 0 },
    });
  });

  it('sends its own user agent, and an ETag once it has one', async () => {
    const source = aSource();
    upstream.setAnswer(sendMap(mapOf(3_000), { etag: '"one"' }));
    await source.refresh();
    const first = source.current();
    upstream.setAnswer((response) => void response.writeHead(304).end());
    await source.refresh();
    expect(upstream.requests.map((headers) => [headers['user-agent'], headers['if-none-match']])).toEqual([
      ['lensgate-catalog/1', undefined],
      ['lensgate-catalog/1', '"one"'],
    ]);
    expect([source.current() === first, source.status().lastError]).toEqual([true, null]);
  });

  it('keeps the snapshot when the data is unchanged', async () => {
    const source = aSource();
    upstream.setAnswer(sendMap(mapOf(3_000)));
    await source.refresh();
    const first = source.current();
    await source.refresh();
    expect(source.current()).toBe(first);
  });

  it('publishes every swap to different data, and continues when a listener fails', async () => {
    const swaps: [string, string][] = [];
    const { log, lines } = recordingLog();
    catalog = createCatalogSource({
      url: upstream.url,
      refreshSeconds: 60,
      scheduler: aScheduler(),
      clock: systemClock,
      log,
      swapped(from, to) {
        swaps.push([from.id, to.id]);
        if (swaps.length === 1) throw new Error('not listening');
      },
    });
    const ids = [catalog.current().id];
    for (const version of [1, 1, 2]) {
      upstream.setAnswer(sendMap(mapOf(3_000, version)));
      await catalog.refresh();
      ids.push(catalog.current().id);
    }
    const [builtIn, version1, version1Again, version2] = ids;
    expect([swaps, version1 === version1Again]).toEqual([
      [
        [builtIn, version1],
        [version1, version2],
      ],
      true,
    ]);
    expect(lines).toEqual(['info catalog refreshed', 'error a catalog subscriber failed', 'info catalog refreshed']);
  });

  it.each<[string, Answer, string]>([
    ['is not JSON', (response) => void response.end('<html>'), 'the price map is not valid JSON; it may be truncated'],
    [
      'is JSON cut short',
      (response) => void response.end(JSON.stringify(mapOf(3_000)).slice(0, -100)),
      'the price map is not valid JSON; it may be truncated',
    ],
    [
      'breaks off half-way',
      (response) => {
        const body = JSON.stringify(mapOf(3_000));
        response.writeHead(200, { 'content-length': body.length });
        response.write(body.slice(0, body.length / 2), () => response.destroy());
      },
      'the source cannot be read: UND_ERR_SOCKET',
    ],
    ['is a list', sendMap([]), 'the price map is not a JSON object'],
    ['has no models', sendMap({ sample_spec: {} }), 'the price map has 0 models, fewer than 50'],
    ['has too few models', sendMap(mapOf(49)), 'the price map has 49 models, fewer than 50'],
    ['shrank by more than half', sendMap(mapOf(1_000)), 'the price map shrank from 3000 to 1000 models'],
    [
      'has a text for a number',
      sendMap({ ...mapOf(3_000), bad: { input_cost_per_token: 'free' } }),
      "entry 'bad': input_cost_per_token is not of type price",
    ],
    [
      'cannot be downloaded because of a 429',
      (response) => void response.writeHead(429).end('slow down'),
      'the source answered 429',
    ],
  ])('keeps the last good data when the map %s', async (_what, bad, reason) => {
    const source = aSource();
    upstream.setAnswer(sendMap(mapOf(3_000)));
    await source.refresh();
    const good = source.current();
    upstream.setAnswer(bad);
    await source.refresh();
    expect([source.current() === good, source.status().lastError]).toEqual([true, reason]);
    upstream.setAnswer(sendMap(mapOf(3_000, 2)));
    await source.refresh();
    expect([source.current().find('m0')?.row['version'], source.status().lastError]).toEqual([2, null]);
  });

  it('does not download a refused map again, and keeps reporting the refusal', async () => {
    const source = aSource();
    upstream.setAnswer(sendMap({}, { etag: '"bad"' }));
    await source.refresh();
    await source.refresh();
    // The second request has the ETag of the refused map, and is answered with 304.
    expect([upstream.requests.length, source.status().lastError, source.current().source]).toEqual([
      2,
      'the price map has 0 models, fewer than 50',
      'embedded',
    ]);
  });

  it('warns once per reason, and logs the recovery', async () => {
    const { log, lines } = recordingLog();
    const source = aSource(upstream.url, log);
    for (const answer of [
      sendMap(mapOf(3_000), { etag: '"one"' }),
      (response) => void response.writeHead(500).end(),
      (response) => void response.writeHead(500).end(),
      sendMap({}),
    ] satisfies readonly Answer[]) {
      upstream.setAnswer(answer);
      await source.refresh();
    }
    expect(lines).toEqual([
      'info catalog refreshed',
      'warn the catalog was not refreshed; the current one stays in use',
      'debug the catalog was not refreshed',
      'warn the catalog was not refreshed; the current one stays in use',
    ]);
    upstream.setAnswer(sendMap(mapOf(3_000)));
    await source.refresh();
    expect(lines.slice(4)).toEqual(['info the catalog source is available again']);
  });

  it('warns about an unreachable source once', async () => {
    const { log, lines } = recordingLog();
    upstream.close();
    const source = aSource(upstream.url, log);
    await source.refresh();
    await source.refresh();
    expect(lines).toEqual([
      'warn the catalog was not refreshed; the current one stays in use',
      'debug the catalog was not refreshed',
    ]);
    expect([source.status().lastError, source.current().source]).toEqual([
      'the source cannot be read: ECONNREFUSED',
      'embedded',
    ]);
  });
});

describe('following a file', () => {
  it.each([
    ['a path', (path: string) => path],
    ['a file: address', (path: string) => pathToFileURL(path).href],
  ])('reads it again when it changes, given as %s', async (_what, addressOf) => {
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-catalog-'));
    const path = join(folder, 'map.json');
    const source = aSource(addressOf(path));
    await source.refresh();
    expect(source.status().lastError).toBe('the file cannot be read: ENOENT');
    writeFileSync(path, JSON.stringify(mapOf(3_000)));
    await source.refresh();
    const first = source.current();
    await source.refresh();
    expect([first.source, first.entries.length, source.current() === first]).toEqual(['file', 3_000, true]);
    writeFileSync(path, JSON.stringify(mapOf(3_000, 2)));
    // A changed file has another size or modification time. Both maps have the same size.
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    await source.refresh();
    expect(source.current().find('m0')?.row['version']).toBe(2);
    rmSync(folder, { recursive: true });
  });
});
