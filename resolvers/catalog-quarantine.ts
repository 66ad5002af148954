import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { HeldPrice } from '../src/domain/catalog/quarantine.ts';
import { NotFound } from '../src/domain/errors.ts';
import { admin, anyAdmin } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';

/** Prices that are kept out of the catalog, in the order of its entries. */
export const listQuarantined = operation({
  name: 'listQuarantined',
  access: anyAdmin,
  run: ({ platform }, _input: undefined): readonly HeldPrice[] => platform.catalog.held(),
});

/** A price that is served from now on. */
export interface ReleasedPrice {
  /** What was held. */
  readonly price: HeldPrice;
  /** The entry as it is served now; null when it left the catalog meanwhile. */
  readonly entry: CatalogEntry | null;
}

/** Serves a held price until upstream changes it again. Throws NotFound when no such value is held any more. */
export const releaseQuarantined = operation({
  name: 'releaseQuarantined',
  access: admin,
  async run(scope, holdId: string): Promise<ReleasedPrice> {
    const { catalog } = scope.platform;
    const price = await catalog.release(holdId, callerOf(scope).keyHash);
    if (price === null) throw new NotFound('quarantined price', holdId, 'No such price is held (any more).');
    return { price, entry: catalog.current().find(price.entryId) };
  },
});
