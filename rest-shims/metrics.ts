import { readMetrics } from '../resolvers/metrics.ts';
import { route, type RouteRow } from './helpers/http/route.ts';

/** Metrics for a Prometheus server. */
export const metricsRoutes: readonly RouteRow[] = [
  route({
    name: 'metrics.read',
    method: 'GET',
    paths: ['/metrics'],
    surface: 'proxy',
    credential: 'none',
    statuses: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: readMetrics,
    render: ({ contentType, text }) => ({ body: { kind: 'bytes', bytes: Buffer.from(text), contentType } }),
  }),
];
