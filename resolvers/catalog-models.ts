import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import { findModels, type Model, type ModelFilters } from '../src/domain/catalog/models.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';
import { type SnapshotPin, snapshotOf } from './operation/catalog-search.ts';

/** Models that match the filters, all from one snapshot of the catalog. */
export interface FoundModels {
  readonly snapshot: CatalogSnapshot;
  readonly models: readonly Model[];
}

/** Filters, and the snapshot to search; null for the current one. */
export interface PinnedModelFilters extends ModelFilters {
  readonly pin: SnapshotPin | null;
}

/**
 * Every model that matches the filters, in the order of their first offers. Throws InvalidInput for an evicted
 * snapshot.
 */
export const findCatalogModels = operation({
  name: 'findCatalogModels',
  access: anyone,
  allowance: 'catalog',
  run({ platform }: Scope<CatalogPlatform>, { pin, ...filters }: PinnedModelFilters): FoundModels {
    const snapshot = snapshotOf(platform, pin);
    return { snapshot, models: findModels(platform.catalogResults.models(snapshot).all, filters) };
  },
});

/** The model with this name, or with an offer that has this id; null when the catalog has neither. */
export const findCatalogModel = operation({
  name: 'findCatalogModel',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, name: string): Model | null =>
    platform.catalogResults.models(platform.catalog.current()).find(name),
});

/** The model that an entry offers; null when the catalog no longer offers it. */
export const findModelOfEntry = operation({
  name: 'findModelOfEntry',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, entry: CatalogEntry): Model | null =>
    platform.catalogResults.models(platform.catalog.current()).of(entry),
});
