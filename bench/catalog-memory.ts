// Memory of the catalog: before loading, after loading, and after a replacement of every row. Every entry and page is
// served before and after the replacement. Prints one line of JSON. A price map is read and dropped first, so that all
// three figures include the memory that the engine retains after a read. `replaced` covers two catalogs and the cached
// JSON of both. bench/catalog.ts reports its growth over `without`.
//   node --expose-gc bench/catalog-memory.ts FOLDER
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Scope } from '../resolvers/operation/scope.ts';
import { catalogRoutes } from '../rest-shims/catalog.ts';
import { createCatalogResultCache } from '../src/domain/catalog/result-cache.ts';
import { createPatternCompiler } from '../src/runtime/catalog/pattern.ts';
import { parsePriceMap } from '../src/runtime/catalog/parse.ts';
import { loadEmbeddedMap } from '../src/runtime/catalog/snapshot.ts';
import { createCatalogSource } from '../src/runtime/catalog/source.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { createScheduler } from '../src/runtime/tasks/scheduler.ts';

const folder = process.argv[2] ?? '.';
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const [list, get] = catalogRoutes();

async function memoryAfterGc(): Promise<{ readonly heapMiB: number; readonly rssMiB: number }> {
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await after(50);
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMiB: (heapUsed + external) / 2 ** 20, rssMiB: rss / 2 ** 20 };
}

const url = join(folder, 'map.json');
const source = createCatalogSource({
  url,
  refreshSeconds: 60,
  scheduler: createScheduler(quiet),
  clock: systemClock,
  log: quiet,
});
const platform = {
  catalog: source,
  catalogResults: createCatalogResultCache(source),
  patterns: createPatternCompiler(),
};
// Calls with a key are not counted for the free tier, so only the catalog is used.
const scope = { platform, caller: { role: 'proxy_admin' } } as unknown as Scope;
const request = { method: 'GET', params: {}, headers: {}, body: new Uint8Array() };

/** Serializes every entry and every page of the usual sizes once. */
async function serveAll(): Promise<void> {
  const { entries } = source.current();
  for (const { id } of entries)
    await get?.handle({ ...request, path: `/model_catalog/${encodeURIComponent(id)}`, search: '' }, scope);
  for (const size of [500, 50])
    for (let page = 1; (page - 1) * size < entries.length; page += 1)
      await list?.handle({ ...request, path: '/model_catalog', search: `page=${page}&page_size=${size}` }, scope);
}

/** Parses a price map and gzips its models, as the catalog does at a refresh, and drops both. */
async function readAndDrop(): Promise<void> {
  const map = Object.fromEntries(loadEmbeddedMap().models);
  await parsePriceMap(Buffer.from(JSON.stringify(map)), { currentCount: 0, wantsPacked: true });
}

await readAndDrop();
const without = await memoryAfterGc();
source.current();
const loaded = await memoryAfterGc();
await serveAll();
const rows = source.current().entries.map(({ id, row }) => [id, { ...row, replaced: true }] as const);
writeFileSync(url, JSON.stringify(Object.fromEntries(rows)));
await source.refresh();
if (source.current().source !== 'file') throw new Error(`Not replaced: ${source.status().lastError}`);
await serveAll();
const replaced = await memoryAfterGc();
rmSync(url);
console.log(JSON.stringify({ entries: rows.length, without, loaded, replaced }));
