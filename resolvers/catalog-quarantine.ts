import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { QuarantinedPrice } from '../src/domain/catalog/quarantine.ts';
import { NotFound } from '../src/domain/errors.ts';
import { admin, anyAdmin } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { CatalogPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Quarantined prices, in the order of the catalog's entries. */
export const listQuarantined = operation({
  name: 'listQuarantined',
  access: anyAdmin,
  run: ({ platform }: Scope<CatalogPlatform>, _input: undefined): readonly QuarantinedPrice[] =>
    platform.catalog.quarantined(),
});

/** A price that was released from quarantine. */
export interface ReleasedPrice {
  /** The quarantined price. */
  readonly price: QuarantinedPrice;
  /** The entry with the price; null when the catalog no longer has the entry. */
  readonly entry: CatalogEntry | null;
}

/**
 * Serves the quarantined price with the id `holdId` until the source of the catalog changes the price again. Throws
 * NotFound when the price is no longer quarantined.
 */
export const releaseQuarantined = operation({
  name: 'releaseQuarantined',
  access: admin,
  async run(scope: Scope<CatalogPlatform>, holdId: string): Promise<ReleasedPrice> {
    const { catalog } = scope.platform;
    const price = await catalog.release(holdId, callerOf(scope).keyHash);
    if (price === null)
      throw new NotFound(
        'quarantined price',
        holdId,
        'No quarantined price has this id. It may have been released or replaced.',
      );
    return { price, entry: catalog.current().find(price.entryId) };
  },
});
