import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { CatalogEntry, CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { PricedModel } from '../../domain/catalog/price-map.ts';

/** Folder of the built-in catalog: created by `npm run catalog:snapshot`, committed. */
export const EMBEDDED_FOLDER = new URL('../../../data/catalog/', import.meta.url);

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A model of the price map as an entry. */
export function entryOf([id, row]: PricedModel): CatalogEntry {
  return { id, provider: textOrNull(row['litellm_provider']), mode: textOrNull(row['mode']), row };
}

/** Hex digits of a state's id, from the SHA-256 of its models. */
const ID_DIGITS = 16;

/** Id of the state whose models, as compact JSON in their order, have this SHA-256 in hex. */
export function snapshotIdOf(sha256: string): string {
  return sha256.slice(0, ID_DIGITS);
}

/** Adds the look-up by id to a state of the catalog. */
export function createSnapshot(state: Omit<CatalogSnapshot, 'find'>): CatalogSnapshot {
  const byId = new Map(state.entries.map((entry) => [entry.id, entry]));
  return { ...state, find: (id) => byId.get(id) ?? null };
}

/** The built-in price map. */
export interface EmbeddedMap {
  readonly sha256: string;
  readonly takenAt: Date;
  readonly models: readonly PricedModel[];
}

/** Time at which the built-in catalog was created. */
export function embeddedTakenAt(): Date {
  return new Date(provenance().takenAt);
}

function provenance(): { readonly sha256: string; readonly takenAt: string } {
  return JSON.parse(readFileSync(new URL('provenance.json', EMBEDDED_FOLDER), 'utf8')) as ReturnType<typeof provenance>;
}

/** The built-in map, shared by the catalogs of this process until it is garbage-collected. Its rows are immutable. */
let lastRead: WeakRef<EmbeddedMap> | null = null;

/**
 * Reads the built-in price map synchronously, because the first request needs it. The map was validated when it was
 * created.
 */
export function loadEmbeddedMap(): EmbeddedMap {
  const known = lastRead?.deref();
  if (known !== undefined) return known;
  const { sha256, takenAt } = provenance();
  const json = brotliDecompressSync(readFileSync(new URL('snapshot.json.br', EMBEDDED_FOLDER))).toString('utf8');
  const models = Object.entries(JSON.parse(json) as Record<string, PricedModel[1]>);
  const read = { sha256, takenAt: new Date(takenAt), models };
  lastRead = new WeakRef(read);
  return read;
}

/** The built-in price map as a state of the catalog, without quarantine. */
export function loadEmbeddedSnapshot(): CatalogSnapshot {
  const { sha256, takenAt, models } = loadEmbeddedMap();
  return createSnapshot({ id: snapshotIdOf(sha256), takenAt, source: 'embedded', entries: models.map(entryOf) });
}
