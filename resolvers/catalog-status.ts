import type { CatalogStatus } from '../src/domain/catalog/catalog.ts';
import { Unavailable } from '../src/domain/errors.ts';
import { anyone, tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Age and state of the catalog. */
export interface CatalogHealth extends CatalogStatus {
  /** Whole seconds since the data was first fetched or built. A refresh without changes does not reset them. */
  readonly ageSeconds: number;
  /** Id of the current snapshot. */
  readonly snapshotId: string;
  /** Time between two periodic checks in seconds; null where there are none. */
  readonly refreshSeconds: number | null;
  /** Time of the next periodic check; null where there are none. */
  readonly nextCheckAt: Date | null;
}

export function catalogHealth({ catalog, clock }: Pick<CatalogPlatform, 'catalog' | 'clock'>): CatalogHealth {
  const status = catalog.status();
  // Never negative, also after the clock was set back.
  const ageMs = Math.max(0, clock.now().getTime() - status.takenAt.getTime());
  return {
    ...status,
    ageSeconds: Math.floor(ageMs / 1000),
    snapshotId: catalog.current().id,
    refreshSeconds: catalog.refreshSeconds === 0 ? null : catalog.refreshSeconds,
    nextCheckAt: catalog.nextCheckAt(),
  };
}

/** Reads the age of the catalog and the state of its refresh. */
export const getCatalogStatus = operation({
  name: 'getCatalogStatus',
  access: anyone,
  allowance: 'catalog',
  run: ({ platform }: Scope<CatalogPlatform>, _input: undefined): CatalogHealth => catalogHealth(platform),
});

/**
 * Checks the source of the catalog now, and serves its data. When the source cannot be read or its data is rejected,
 * the current catalog stays, and Unavailable is thrown with the reason.
 */
export const refreshCatalog = operation({
  name: 'refreshCatalog',
  access: tenantAdmin,
  async run({ platform }: Scope<CatalogPlatform>, _input: undefined): Promise<CatalogHealth> {
    await platform.catalog.refresh();
    const { lastError } = platform.catalog.status();
    if (lastError !== null) throw new Unavailable(`The price map was not reloaded: ${lastError}`);
    return catalogHealth(platform);
  },
});

/** The same as `getCatalogStatus`, for callers that may view the tenant. */
export const getCatalogSchedule = operation({
  name: 'getCatalogSchedule',
  access: tenantViewer,
  run: ({ platform }: Scope<CatalogPlatform>, _input: undefined): CatalogHealth => catalogHealth(platform),
});
