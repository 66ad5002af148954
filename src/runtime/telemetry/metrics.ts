import type { CatalogStatus, CheckOutcome } from '../../domain/catalog/catalog.ts';
import type { Clock } from '../../domain/clock.ts';
import type { UpstreamConnections } from '../../domain/http.ts';
import type { ConnectionCounts, Metrics } from '../../domain/metrics.ts';
import type { CacheStatus } from '../../domain/response-cache/response-cache.ts';
import { addCacheMetrics } from './cache-metrics.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { SpanExport } from '../../domain/traces/span-export.ts';

export interface MetricsOptions {
  readonly catalog: { status(): CatalogStatus };
  /** Null without span export. */
  readonly spanExport: Pick<SpanExport, 'counts'> | null;
  /** Counts of the spans for the destinations of teams. */
  readonly teamExports: SpanExport['counts'];
  /** Calls that wait for their commit, and committed calls that wait to be unfolded. */
  readonly calls: { waiting(): number; backlog(): number };
  readonly connections: () => ConnectionCounts;
  readonly upstreams: () => UpstreamConnections;
  /** Failed writes since the start. */
  readonly failedWrites: () => number;
  /** Failed runs of periodic tasks since the start, by task. */
  readonly failedTasks: () => ReadonlyMap<string, number>;
  /** Forwarded calls that were answered and whose cost is not known, by provider. */
  readonly unpricedCalls: () => ReadonlyMap<string, number>;
  /** Calls in flight with a reservation in a budget, and expired reservations since the start. */
  readonly reservations: () => { readonly open: number; readonly expired: number };
  /**
   * Whether the ledger that processes share is unavailable, and how often it became unavailable; null when this process
   * counts alone.
   */
  readonly shares: (() => { readonly isUnavailable: boolean; readonly losses: number }) | null;
  readonly clock: Clock;
  /** Counts of the cache of answers; absent without one. */
  readonly answerCache?: () => CacheStatus;
  /** Histograms by model; null where they are turned off. */
  readonly modelCalls: Pick<CallMetrics, 'text'> | null;
}

/**
 * Metrics of the process, in the text format of Prometheus. The library is loaded at the first read, and measures the
 * process from then on. Without reads, metrics cost nothing.
 */
export function createMetrics(options: MetricsOptions): Metrics {
  let registry: Promise<Awaited<ReturnType<typeof openRegistry>>> | null = null;
  return {
    async read() {
      registry ??= openRegistry(options);
      const { contentType, metrics } = await registry;
      return { contentType, text: (await metrics()) + (options.modelCalls?.text() ?? '') };
    },
  };
}

async function openRegistry(options: MetricsOptions) {
  const {
    catalog,
    spanExport,
    teamExports,
    calls,
    connections,
    upstreams,
    failedWrites,
    failedTasks,
    reservations,
    shares,
    unpricedCalls,
    clock,
  } = options;
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // The library counts CPU time only from now on. The time from the start of the process until now is added. It is read
  // after the library's first read, so that no time is missing. Some microseconds count twice.
  const { user, system } = process.cpuUsage();
  const addCpu = (name: string, microseconds: number): void => {
    const counter = registry.getSingleMetric(name);
    if (counter instanceof Counter) counter.inc(microseconds / 1e6);
  };
  addCpu('process_cpu_user_seconds_total', user);
  addCpu('process_cpu_system_seconds_total', system);
  addCpu('process_cpu_seconds_total', user + system);

  const gauge = (name: string, help: string, valueOf: (status: CatalogStatus) => number): void => {
    const collect = (): void => one.set(valueOf(catalog.status()));
    const one: InstanceType<typeof Gauge> = new Gauge({ name, help, registers, collect });
  };
  gauge(
    'lensgate_catalog_age_seconds',
    'Time since the data of the catalog was first fetched or built. Failed refreshes are in lensgate_catalog_refreshes_total.',
    ({ takenAt }) => Math.max(0, (clock.now().getTime() - takenAt.getTime()) / 1000),
  );
  gauge('lensgate_calls_waiting', 'Records of calls that wait for their commit.', () => calls.waiting());
  gauge('lensgate_calls_to_unfold', 'Calls that are committed and not yet unfolded into rows.', () => calls.backlog());
  gauge('lensgate_connections_open', 'Open connections of clients.', () => connections().open);
  const refused = new Counter({
    name: 'lensgate_connections_refused_total',
    help: 'Connections refused by `max_connections`. Limit `total`: too many in all; `network`: too many of one network without a known key.',
    labelNames: ['limit'],
    registers,
    collect() {
      refused.reset();
      const { total, network } = connections().refused;
      refused.inc({ limit: 'total' }, total);
      refused.inc({ limit: 'network' }, network);
    },
  });
  gauge('lensgate_budget_reservations', 'Calls in flight with a reservation in a budget.', () => reservations().open);
  gauge('lensgate_catalog_entries', 'Entries of the catalog.', ({ count }) => count);
  gauge('lensgate_catalog_quarantined_prices', 'Quarantined prices of the catalog.', ({ quarantined }) => quarantined);

  gauge(
    'lensgate_upstream_calls_waiting',
    'Calls that wait for a connection to their upstream.',
    () => upstreams().waiting,
  );
  gauge('lensgate_upstream_connections_limit', 'Maximum connections to one upstream.', () => upstreams().limit);
  const upstreamConnections: InstanceType<typeof Gauge> = new Gauge({
    name: 'lensgate_upstream_connections',
    help: 'Connections to all upstreams: active ones carry a call or are being opened for one, idle ones are kept alive.',
    labelNames: ['state'],
    registers,
    collect() {
      const { active, idle } = upstreams();
      upstreamConnections.set({ state: 'active' }, active);
      upstreamConnections.set({ state: 'idle' }, idle);
    },
  });
  const writes = new Counter({
    name: 'lensgate_store_write_failures_total',
    help: 'Failed writes of all stores: the database was locked, full, read-only or unavailable. Retries count.',
    registers,
    collect() {
      writes.reset();
      writes.inc(failedWrites());
    },
  });

  const tasks = new Counter({
    name: 'lensgate_task_failures_total',
    help: 'Failed runs of periodic tasks of this process, by task.',
    labelNames: ['task'],
    registers,
    collect() {
      tasks.reset();
      for (const [task, count] of failedTasks()) tasks.inc({ task }, count);
    },
  });

  const unpriced = new Counter({
    name: 'lensgate_unpriced_calls_total',
    help: "Answered calls of providers' own APIs whose cost is not known: they count against no budget.",
    labelNames: ['provider'],
    registers,
    collect() {
      unpriced.reset();
      for (const [provider, count] of unpricedCalls()) unpriced.inc({ provider }, count);
    },
  });
  const checks = new Counter({
    name: 'lensgate_catalog_refreshes_total',
    help: 'Checks of the source of the catalog, by outcome.',
    labelNames: ['outcome'],
    registers,
    collect() {
      checks.reset();
      for (const [outcome, count] of Object.entries(catalog.status().checks) as [CheckOutcome, number][])
        checks.inc({ outcome }, count);
    },
  });
  const expired = new Counter({
    name: 'lensgate_budget_reservations_expired_total',
    help: 'Reservations in budgets that expired: their call neither ended nor reported progress for an hour.',
    registers,
    collect() {
      expired.reset();
      expired.inc(reservations().expired);
    },
  });
  if (shares !== null) {
    gauge(
      'lensgate_shared_limits',
      '1 while budgets and limits are counted together with other processes, 0 while the ledger is unavailable.',
      () => (shares().isUnavailable ? 0 : 1),
    );
    const losses = new Counter({
      name: 'lensgate_shared_limits_losses_total',
      help: 'Times that the ledger of budgets and limits became unavailable, so that this process counted for itself.',
      registers,
      collect() {
        losses.reset();
        losses.inc(shares().losses);
      },
    });
  }
  /** Metrics of an export of spans. */
  function exportMetrics(
    countsOf: SpanExport['counts'],
    names: { total: string; waiting: string; destination: string },
  ): void {
    const { total, waiting, destination } = names;
    const exported = new Counter({
      name: total,
      help: `Spans for ${destination}, by outcome; they are dropped when the queue is full.`,
      labelNames: ['outcome'],
      registers,
      collect() {
        exported.reset();
        const { sent, dropped, failed } = countsOf();
        for (const [outcome, count] of Object.entries({ sent, dropped, failed })) exported.inc({ outcome }, count);
      },
    });
    gauge(waiting, `Spans that wait for ${destination}.`, () => countsOf().waiting);
  }

  if (options.answerCache !== undefined) addCacheMetrics({ Counter, Gauge }, registry, options.answerCache);
  if (spanExport !== null)
    exportMetrics(spanExport.counts, {
      total: 'lensgate_otlp_exported_spans_total',
      waiting: 'lensgate_otlp_export_waiting_spans',
      destination: 'the outside collector',
    });
  exportMetrics(teamExports, {
    total: 'lensgate_team_exported_spans_total',
    waiting: 'lensgate_team_export_waiting_spans',
    destination: 'the destinations of teams',
  });
  return { contentType: registry.contentType, metrics: () => registry.metrics() };
}
