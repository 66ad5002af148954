import type { FollowedCatalog } from '../../src/domain/catalog/catalog.ts';

/** Refresh and quarantine of a catalog that is never refreshed and has no prices in quarantine. */
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
