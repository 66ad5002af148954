import { checkReadiness } from '../resolvers/health.ts';
import { json, route, type RouteRow } from './route.ts';

/** Probes of orchestrators and load balancers. */
export const healthRoutes: readonly RouteRow[] = [
  route({
    name: 'health.readiness',
    method: 'GET',
    paths: ['/health/readiness'],
    surface: 'proxy',
    category: null,
    credential: 'none',
    answers: [200, 503],
    bodyLimit: 0,
    parse: () => undefined,
    run: checkReadiness,
    render: ({ catalog, recordsWaiting }) =>
      json({
        status: 'healthy',
        db: 'connected',
        catalog: {
          source: catalog.source,
          entries: catalog.count,
          taken_at: catalog.takenAt.toISOString(),
          age_seconds: catalog.ageSeconds,
          quarantined: catalog.held,
          last_checked_at: catalog.lastCheckedAt?.toISOString() ?? null,
          last_error: catalog.lastError,
        },
        records_waiting: recordsWaiting,
      }),
  }),
  route({
    name: 'health.liveness',
    method: 'GET',
    paths: ['/health/liveness', '/health/liveliness'],
    surface: 'proxy',
    category: null,
    credential: 'none',
    answers: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: () => "I'm alive!",
    render: (alive) => json(alive),
  }),
];
