import type { FollowedCatalog } from '../../src/domain/catalog/catalog.ts';

/** The part of a catalog that is never refreshed, without prices in quarantine. */
export const NEVER_REFRESHED: Pick<
  FollowedCatalog,
  'quarantined' | 'release' | 'refresh' | 'refreshSeconds' | 'nextCheckAt'
> = {
  quarantined: () => [],
  release: async () => null,
  refresh: async () => {},
  refreshSeconds: 0,
  nextCheckAt: () => null,
};
