import type { CatalogStatus } from '../src/domain/catalog/catalog.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Age and state of the catalog. */
export interface CatalogHealth extends CatalogStatus {
  /** Whole seconds since the data was first fetched, or built; a refresh without changes does not reset it. */
  readonly ageSeconds: number;
  /** Id of the current snapshot. */
  readonly snapshotId: string;
}

export function catalogHealth({ catalog, clock }: Pick<CatalogPlatform, 'catalog' | 'clock'>): CatalogHealth {
  const status = catalog.status();
  // Never negative, also after the clock was set back.
  const ageMs = Math.max(0, clock.now().getTime() - status.takenAt.getTime());
  return { ...status, ageSeconds: Math.floor(ageMs / 1000), snapshotId: catalog.current().id };
}

/** Reads the age of the catalog and the state of its refresh. */
export const getCatalogStatus = operation({
  name: 'getCatalogStatus',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, _input: undefined): CatalogHealth => catalogHealth(platform),
});
