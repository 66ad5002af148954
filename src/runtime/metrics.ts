import type { CatalogStatus, LookOutcome } from '../domain/catalog/catalog.ts';
import type { Clock } from '../domain/clock.ts';
import type { Metrics } from '../domain/metrics.ts';

export interface MetricsOptions {
  readonly catalog: { status(): CatalogStatus };
  readonly clock: Clock;
}

/**
 * Metrics of the process and the catalog. The library is loaded, and the process watched, from the first time they are
 * read: a start does not pay for them, nor does an installation that never reads them.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  let registry: Promise<Awaited<ReturnType<typeof openRegistry>>> | null = null;
  return {
    async read() {
      registry ??= openRegistry(options);
      const { contentType, metrics } = await registry;
      return { contentType, text: await metrics() };
    },
  };
}

async function openRegistry({ catalog, clock }: MetricsOptions) {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const gauge = (name: string, help: string, valueOf: (status: CatalogStatus) => number): void => {
    const collect = (): void => one.set(valueOf(catalog.status()));
    const one: InstanceType<typeof Gauge> = new Gauge({ name, help, registers, collect });
  };
  gauge(
    'lensgate_catalog_age_seconds',
    'Time since the data of the catalog was first fetched, or made; to see a source that is lost, watch lensgate_catalog_refreshes_total.',
    ({ takenAt }) => Math.max(0, (clock.now().getTime() - takenAt.getTime()) / 1000),
  );
  gauge('lensgate_catalog_entries', 'Entries of the catalog.', ({ count }) => count);
  gauge('lensgate_catalog_quarantined_prices', 'Prices that are kept out of the catalog.', ({ held }) => held);

  const looks = new Counter({
    name: 'lensgate_catalog_refreshes_total',
    help: 'Looks at the source of the catalog, by what came of them.',
    labelNames: ['outcome'],
    registers,
    collect() {
      looks.reset();
      for (const [outcome, count] of Object.entries(catalog.status().looks) as [LookOutcome, number][])
        looks.inc({ outcome }, count);
    },
  });
  return { contentType: registry.contentType, metrics: () => registry.metrics() };
}
