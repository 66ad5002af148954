import { type CheckedDeployment, checkHealth, type HealthReport } from '../resolvers/health-checks.ts';
import { checkReadiness } from '../resolvers/health.ts';
import { UNHEALTHY } from './errors.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { textParameters } from './helpers/http/schema.ts';
import { READY, detailsObject } from './helpers/answers/health.ts';

/**
 * A deployment in a report. A report without details has names only. Only administrators see address and warning. An
 * unchecked deployment has no time and no latency. If a deployment cannot be checked, `reason` says why.
 */
interface EndpointRow {
  readonly model: string;
  readonly model_id: string;
  readonly model_group: string;
  readonly api_base?: string;
  readonly warning?: string;
  readonly reason?: string;
  readonly checked_at?: string;
  readonly latency_ms?: number;
  readonly error?: string;
}

function endpointObject({ deployment, probe }: CheckedDeployment, details: boolean): EndpointRow {
  const { id, modelGroup, provider, upstreamModel, apiBase, warning } = deployment;
  const names = { model: `${provider}/${upstreamModel}`, model_id: id, model_group: modelGroup };
  if (!details) return names;
  const configured = {
    ...names,
    ...(apiBase === null ? {} : { api_base: apiBase }),
    ...(warning === null ? {} : { warning }),
  };
  if (probe === null) return configured;
  if (typeof probe === 'string') return { ...configured, reason: probe };
  const { at, latencyMs, failure } = probe;
  const checked = { ...configured, checked_at: at.toISOString(), latency_ms: Number(latencyMs.toFixed(3)) };
  return failure === null ? checked : { ...checked, error: failure.message };
}

/** `probe` is null before the first check, and a text when the deployment cannot be checked. */
const isChecked = ({ probe }: CheckedDeployment): boolean => probe !== null && typeof probe === 'object';
const isHealthy = ({ probe }: CheckedDeployment): boolean =>
  probe !== null && typeof probe === 'object' && probe.failure === null;

/** Whether the request names a model or deployment, and none is healthy. Unchecked deployments do not count. */
const isUnhealthy = ({ checked }: HealthReport, search: string): boolean => {
  const query = new URLSearchParams(search);
  if (!query.has('model') && !query.has('model_id')) return false;
  return (checked.length === 0 || checked.some(isChecked)) && !checked.some(isHealthy);
};

function healthObject({ checked, details }: HealthReport) {
  const endpointsOf = (ones: readonly CheckedDeployment[]) => ones.map((one) => endpointObject(one, details));
  const healthy = endpointsOf(checked.filter(isHealthy));
  const unhealthy = endpointsOf(checked.filter((one) => isChecked(one) && !isHealthy(one)));
  const unchecked = endpointsOf(checked.filter((one) => !isChecked(one)));
  return {
    healthy_endpoints: healthy,
    unhealthy_endpoints: unhealthy,
    healthy_count: healthy.length,
    unhealthy_count: unhealthy.length,
    ...(unchecked.length === 0 ? {} : { unchecked_endpoints: unchecked }),
  };
}

/** Header for callers who are not administrators: their answer has no addresses or warnings. */
const FIELD_NOTICE = {
  'litellm-health-field-notice': 'api_base and api_version are shown to proxy administrators only',
};

/** Checks of deployments, and probes for orchestrators and load balancers. */
export const healthRoutes: readonly RouteRow[] = [
  route({
    name: 'health.deployments',
    querySchema: textParameters('model', 'model_id'),
    method: 'GET',
    paths: ['/health'],
    surface: 'proxy',
    credential: 'required',
    statuses: [200, 401, 403, 404, 422, 503],
    failureForm: { body: 'detail' },
    bodyLimit: 0,
    parse({ search }) {
      const query = new URLSearchParams(search);
      return { model: query.get('model'), deploymentId: query.get('model_id') };
    },
    run: checkHealth,
    render: (report, { search }) => ({
      ...json(healthObject(report), report.seesAddress ? undefined : FIELD_NOTICE),
      ...(isUnhealthy(report, search) ? { status: UNHEALTHY } : {}),
    }),
  }),
  route({
    name: 'health.readiness',
    method: 'GET',
    paths: ['/health/readiness'],
    surface: 'proxy',
    credential: 'none',
    anyAddress: true,
    statuses: [200, 503],
    failureForm: { body: 'detail' },
    bodyLimit: 0,
    parse: () => undefined,
    run: checkReadiness,
    render: (readiness) => json(readiness === null ? READY : detailsObject(readiness)),
  }),
  route({
    name: 'health.liveness',
    method: 'GET',
    paths: ['/health/liveness', '/health/liveliness'],
    surface: 'proxy',
    credential: 'none',
    anyAddress: true,
    statuses: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: () => "I'm alive!",
    render: (alive) => json(alive),
  }),
];
