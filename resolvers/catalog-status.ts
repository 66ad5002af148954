import type { CatalogStatus } from '../src/domain/catalog/catalog.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Platform } from './operation/scope.ts';

/** How fresh the catalog is, now. */
export interface CatalogHealth extends CatalogStatus {
  /** Whole seconds since the data was first fetched, or made; a look that finds no news does not renew it. */
  readonly ageSeconds: number;
  /** Id of the state that is served. */
  readonly snapshotId: string;
}

export function catalogHealth({ catalog, clock }: Pick<Platform, 'catalog' | 'clock'>): CatalogHealth {
  const status = catalog.status();
  // A clock that was set back makes no data younger than new.
  const ageMs = Math.max(0, clock.now().getTime() - status.takenAt.getTime());
  return { ...status, ageSeconds: Math.floor(ageMs / 1000), snapshotId: catalog.current().id };
}

/** How fresh the catalog is and how well it follows its source. */
export const getCatalogStatus = operation({
  name: 'getCatalogStatus',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }, _input: undefined): CatalogHealth => catalogHealth(platform),
});
