import type { CatalogStatus } from '../../src/domain/catalog/catalog.ts';
import type { CatalogPlatform } from './catalog-platform.ts';

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
