import { join } from 'node:path';
import type { Bus } from '../domain/bus.ts';
import type { Stores } from '../persistence/stores.ts';
import { type CatalogRecorder, createCatalogRecorder } from '../runtime/catalog/recorder.ts';
import { type RefreshingCatalog, createCatalogSource } from '../runtime/catalog/source.ts';
import { systemClock } from '../runtime/clock.ts';
import type { StartContext } from './context.ts';

/** The catalog as it was last served, and the recorder of its history. Their periodic work starts later. */
export async function composeCatalog(
  { settings, log, scheduler, shutdown }: StartContext,
  { stores, bus }: { readonly stores: Stores; readonly bus: Bus },
): Promise<{ readonly catalog: RefreshingCatalog; readonly recorder: CatalogRecorder }> {
  const recorder = createCatalogRecorder({
    history: stores.catalogHistory,
    bus,
    clock: systemClock,
    scheduler,
    log,
    freshAt() {
      const { lastCheckedAt, lastError } = catalog.status();
      return lastError === null ? lastCheckedAt : null;
    },
  });
  shutdown.add('catalog history', () => recorder.stop());
  const catalog = createCatalogSource({
    url: settings.catalogUrl,
    refreshSeconds: settings.catalogRefreshSeconds,
    scheduler,
    clock: systemClock,
    log,
    swapped: (_from, to) => recorder.enqueue(to),
    lastGoodFile: join(settings.dataDir, 'price-map'),
    // Releases of quarantined prices.
    releases: stores.catalogReleases,
  });
  await catalog.restore();
  return { catalog, recorder };
}
