import type { FollowedCatalog } from '../../src/domain/catalog/catalog.ts';

/** The part of a catalog that is never refreshed, without prices in quarantine. */
export const NEVER_REFRESHED: Pick<FollowedCatalog, 'held' | 'release' | 'refresh' | 'refreshSeconds' | 'nextCheckAt'> =
  {
    held: () => [],
    release: async () => null,
    refresh: async () => {},
    refreshSeconds: 0,
    nextCheckAt: () => null,
  };
