import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogEntry, CatalogSnapshot } from '../../src/domain/catalog/catalog.ts';
import { modelsOfMap } from '../../src/domain/catalog/price-map.ts';
import { createSnapshot, entryOf } from '../../src/runtime/catalog/snapshot.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'shared', 'data');

/** Path of a data file outside of the repository. Logs a warning and returns null if it is absent. */
export function sharedData(name: string): string | null {
  const file = join(FOLDER, name);
  if (existsSync(file)) return file;
  console.warn(`SKIPPED: there is no ../shared/data/${name}.`);
  return null;
}

/** Catalog snapshot with these entries. */
export function aSnapshot(id: string, entries: readonly CatalogEntry[], takenAt = new Date(0)): CatalogSnapshot {
  return createSnapshot({ id, takenAt, source: 'upstream', entries });
}

/** Catalog snapshot from rows of a price map. */
export function snapshotOfRows(
  id: string,
  rows: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  takenAt?: Date,
): CatalogSnapshot {
  return aSnapshot(id, Object.entries(rows).map(entryOf), takenAt);
}

/** Catalog snapshot from a price map file. */
export function snapshotOfFile(id: string, file: string): CatalogSnapshot {
  const models = modelsOfMap(JSON.parse(readFileSync(file, 'utf8'))) ?? [];
  return aSnapshot(id, models.map(entryOf));
}
