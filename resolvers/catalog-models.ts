import type { CatalogEntry, CatalogSnapshot } from '../src/domain/catalog/catalog.ts';
import { findModels, joinModels, type Model, type ModelFilters, type Models } from '../src/domain/catalog/models.ts';
import { anyone } from './operation/access.ts';
import { stateOf } from './catalog.ts';
import { operation } from './operation/operation.ts';

/** Worked out when first asked for, and gone with the state of the catalog. */
const kept = new WeakMap<CatalogSnapshot, Models>();

function modelsOf(snapshot: CatalogSnapshot): Models {
  const known = kept.get(snapshot);
  if (known) return known;
  const models = joinModels(snapshot.entries);
  kept.set(snapshot, models);
  return models;
}

/** Models that passed the filters, all from one state of the catalog. */
export interface FoundModels {
  readonly snapshot: CatalogSnapshot;
  readonly models: readonly Model[];
}

/** Filters, and the id of the state of the catalog to look in; null for the current one. */
export interface PinnedModelFilters extends ModelFilters {
  readonly pin: string | null;
}

/** Every model that passes the filters, in the order of their first offers. Throws InvalidInput for a state not kept. */
export const findCatalogModels = operation({
  name: 'findCatalogModels',
  access: anyone,
  allowance: 'catalog',
  run({ platform }, { pin, ...filters }: PinnedModelFilters): FoundModels {
    const snapshot = stateOf(platform, pin);
    return { snapshot, models: findModels(modelsOf(snapshot).all, filters) };
  },
});

/** The model with this name, or that an offer with this id belongs to; null when the catalog has no offer of it. */
export const findCatalogModel = operation({
  name: 'findCatalogModel',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, name: string): Model | null => modelsOf(platform.catalog.current()).find(name),
});

/** The model an entry offers; null when the catalog has no offer of it any more. */
export const findModelOfEntry = operation({
  name: 'findModelOfEntry',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, entry: CatalogEntry): Model | null => modelsOf(platform.catalog.current()).of(entry),
});
