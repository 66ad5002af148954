import { findCatalogEntries, getCatalogEntry, listCatalogEntries, type PageRequest } from '../resolvers/catalog.ts';
import { getCatalogSchedule, refreshCatalog } from '../resolvers/catalog-status.ts';
import type { CatalogPage } from '../src/domain/catalog/result-cache.ts';
import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import { declaredFieldsOf, extraFieldsOf } from '../src/domain/catalog/declared-fields.ts';
import { NO_ENTRY_FILTERS } from '../src/domain/catalog/find-entries.ts';
import { createWeightedCache } from '../src/domain/catalog/weighted-cache.ts';
import type { CatalogHealth } from '../resolvers/operation/catalog-health.ts';
import type { SnapshotPin } from '../resolvers/operation/catalog-search.ts';
import { flag, integer, query, text } from './helpers/http/query.ts';
import { type HttpAnswer, json, type RouteRow, route } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const LIST_PATH = '/model_catalog';

/** Parameters in the order of the reference: invalid ones are reported in this order. */
const readQuery = query({
  provider: text,
  mode: text,
  model: text,
  supports_vision: flag,
  supports_function_calling: flag,
  supports_reasoning: flag,
  supports_audio_input: flag,
  supports_audio_output: flag,
  supports_prompt_caching: flag,
  supports_response_schema: flag,
  page: integer({ min: 1, defaultValue: 1 }),
  page_size: integer({ min: 1, max: 500, defaultValue: 50 }),
  // Not in the reference, which ignores unknown parameters.
  snapshot: text,
});

const readSnapshot = query({ snapshot: text });

/** The snapshot that the parameter `snapshot` names; null when absent. */
const pinOf = (id: string | null): SnapshotPin | null => (id === null ? null : { id, path: ['query', 'snapshot'] });

/** The requested page. Throws InvalidInput. */
function readList(search: string): PageRequest {
  const { provider, mode, model, page, page_size: pageSize, snapshot, ...flags } = readQuery(search);
  const capabilities = Object.fromEntries(Object.entries(flags).filter(([, wanted]) => wanted !== undefined));
  return { filters: { provider, mode, model, capabilities }, page, pageSize: Number(pageSize), pin: pinOf(snapshot) };
}

/** Decodes percent-encoding as UTF-8; invalid bytes become U+FFFD. A plus stays a plus. */
const decodePath = (path: string): string =>
  !path.includes('%')
    ? path
    : path.replace(/(?:%[\da-fA-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));

/** Capacity of the cache of parsed queries, in characters. Clients that page or poll repeat their queries. */
const MAX_CACHED_CHARACTERS = 100_000;
/** Estimated size of a parsed query beside its text, in characters. */
const PARSED_CHARACTERS = 100;

type Write<Source extends object> = (source: Source) => Uint8Array;

/**
 * Cache of parsed queries, and of the JSON of entries, pages and price maps. The JSON of an object is released with the
 * object.
 */
interface CatalogCache {
  parse(search: string): PageRequest;
  bytesOf<Source extends object>(source: Source, write: Write<Source>): Uint8Array;
}

function createCatalogCache(): CatalogCache {
  const requests = createWeightedCache<{ readonly search: string; readonly request: PageRequest }>(
    MAX_CACHED_CHARACTERS,
    ({ search }) => search.length + PARSED_CHARACTERS,
  );
  const bodies = new WeakMap<object, Uint8Array>();
  return {
    parse: (search) => requests.get(search, () => ({ search, request: readList(search) })).request,
    bytesOf(source, write) {
      const cached = bodies.get(source);
      if (cached !== undefined) return cached;
      const bytes = write(source);
      bodies.set(source, bytes);
      return bytes;
    },
  };
}

function writeEntry(entry: CatalogEntry): Uint8Array {
  const fields = { id: entry.id, object: 'model_catalog.entry', ...declaredFieldsOf(entry) };
  return Buffer.from(JSON.stringify({ ...fields, ...Object.fromEntries(extraFieldsOf(entry)) }));
}

const HEAD = Buffer.from('{"object":"list","data":[');
const COMMA = Buffer.from(',');

const writePage =
  (cache: CatalogCache): Write<CatalogPage> =>
  ({ items, totalCount, hasMore, page, pageSize }) => {
    const data = items.flatMap((entry, index) => {
      const bytes = cache.bytesOf(entry, writeEntry);
      return index === 0 ? [bytes] : [COMMA, bytes];
    });
    // `page` is a bigint that may exceed the safe integers, so its digits are written as they are.
    const tail = `],"total_count":${totalCount},"has_more":${hasMore},"page":${page},"page_size":${pageSize}}`;
    return Buffer.concat([HEAD, ...data, Buffer.from(tail)]);
  };

/** JSON of the price map of a snapshot: the rows of the price source, unchanged, by the id of their entry. */
const writePriceMap = ({ entries }: CatalogSnapshot): Uint8Array =>
  Buffer.from(JSON.stringify(Object.fromEntries(entries.map(({ id, row }) => [id, row]))));

/**
 * Header with the id of the catalog snapshot of an answer. Requests with this id as `snapshot` read the same snapshot.
 */
const SNAPSHOT_HEADER = 'x-catalog-snapshot';

const snapshotAnswer = (bytes: Uint8Array, snapshot: CatalogSnapshot): HttpAnswer => ({
  headers: { [SNAPSHOT_HEADER]: snapshot.id },
  body: { kind: 'bytes', bytes, contentType: 'application/json' },
});

const MANAGED = {
  ...MANAGEMENT,
  failureForm: { body: 'detail' },
  bodyLimit: 0,
  parse: () => undefined,
} as const;

const SECONDS_PER_HOUR = 3_600;

const renderRefresh = ({ count, lastCheckedAt }: CatalogHealth) => ({
  message: `The price map was reloaded: ${count} models.`,
  status: 'success',
  models_count: count,
  timestamp: lastCheckedAt?.toISOString() ?? null,
});

const renderSchedule = ({ refreshSeconds: seconds, lastCheckedAt, nextCheckAt }: CatalogHealth) => ({
  scheduled: seconds !== null,
  interval_hours: seconds === null ? null : seconds / SECONDS_PER_HOUR,
  last_run: lastCheckedAt?.toISOString() ?? null,
  next_run: nextCheckAt?.toISOString() ?? null,
});

/** The catalog of models. Each call of this function creates a cache. */
export function catalogRoutes(): readonly RouteRow[] {
  const cache = createCatalogCache();
  const write = writePage(cache);
  return [
    route({
      name: 'catalog.list',
      querySchema: readQuery.schema,
      method: 'GET',
      paths: [LIST_PATH],
      surface: 'catalog',
      credential: 'none',
      statuses: [200, 400, 422, 429, 503],
      bodyLimit: 0,
      parse: ({ search }) => cache.parse(search),
      run: listCatalogEntries,
      render: (page) => snapshotAnswer(cache.bytesOf(page, write), page.snapshot),
    }),
    route({
      name: 'catalog.get',
      querySchema: readSnapshot.schema,
      method: 'GET',
      paths: [`${LIST_PATH}/{*model}`],
      surface: 'catalog',
      credential: 'none',
      statuses: [200, 404, 422, 429, 503],
      bodyLimit: 0,
      parse: ({ path, search }) => ({
        id: decodePath(path).slice(LIST_PATH.length + 1),
        pin: search === '' ? null : pinOf(readSnapshot(search).snapshot),
      }),
      run: getCatalogEntry,
      render: ({ entry, snapshot }) => snapshotAnswer(cache.bytesOf(entry, writeEntry), snapshot),
    }),
    route({
      name: 'catalog.priceMap',
      method: 'GET',
      paths: ['/public/litellm_model_cost_map', '/get/litellm_model_cost_map'],
      surface: 'catalog',
      credential: 'none',
      statuses: [200, 429, 503],
      bodyLimit: 0,
      parse: () => ({ filters: NO_ENTRY_FILTERS, pin: null }),
      run: findCatalogEntries,
      render: ({ snapshot }) => snapshotAnswer(cache.bytesOf(snapshot, writePriceMap), snapshot),
    }),
    route({
      ...MANAGED,
      name: 'catalog.refresh',
      method: 'POST',
      paths: ['/reload/model_cost_map'],
      statuses: [200, 401, 403, 503],
      // Clients may send an empty object.
      bodySchema: { type: 'object', properties: {} },
      bodyLimit: 64 * 1024,
      run: refreshCatalog,
      render: (health) => json(renderRefresh(health)),
    }),
    route({
      ...MANAGED,
      name: 'catalog.schedule',
      method: 'GET',
      paths: ['/schedule/model_cost_map_reload/status'],
      statuses: [200, 401, 403],
      run: getCatalogSchedule,
      render: (schedule) => json(renderSchedule(schedule)),
    }),
  ];
}
