import { Unavailable } from '../src/domain/errors.ts';
import { anyone, tenantAdmin, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';
import { type CatalogHealth, catalogHealth } from './operation/catalog-health.ts';

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

/** The same as `getCatalogStatus`, for administrators with full or read-only access. */
export const getCatalogSchedule = operation({
  name: 'getCatalogSchedule',
  access: tenantViewer,
  run: ({ platform }: Scope<CatalogPlatform>, _input: undefined): CatalogHealth => catalogHealth(platform),
});
