import { type ConnectionDraft, type TestedConnection, testConnection } from '../resolvers/connection-tests.ts';
import {
  type HealthCheckPage,
  type HealthCheckQuery,
  listHealthChecks,
  listLatestHealthChecks,
} from '../resolvers/health-checks.ts';
import { checkCaller, checkReadinessDetails, readLoad } from '../resolvers/health.ts';
import { checkService, listServices } from '../resolvers/outside-services.ts';
import { publicAddress } from '../src/domain/deployments/public-address.ts';
import type { HealthCheck } from '../src/domain/deployments/health-check.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { members, object, parseObject, text as textMember, missingField } from './helpers/http/body-fields.ts';
import { integer, query, requiredText, text } from './helpers/http/query.ts';
import { json, route, type HttpAnswer, type RouteRow } from './helpers/http/route.ts';
import { detailsObject } from './helpers/answers/health.ts';
import { merged, objectSchema } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const readTest = members({ litellm_params: object, model_info: object, mode: textMember });

function parseTest(body: Uint8Array): ConnectionDraft {
  const { litellm_params: params, model_info: info, mode } = readTest(parseObject(body));
  const { model } = params;
  if (typeof model !== 'string' || model === '') throw missingField('litellm_params', 'model');
  return { model, params, info: mode === null ? info : { ...info, mode } };
}

function testObject({ model, apiBase, probe }: TestedConnection) {
  const result = { model, api_base: apiBase === null ? null : publicAddress(apiBase) };
  // A text is the reason why the deployment cannot be probed.
  if (typeof probe === 'string') return { status: 'error', result: { ...result, error: probe } };
  if (probe.failure !== null) return { status: 'error', result: { ...result, error: probe.failure.message } };
  return { status: 'success', result: { ...result, latency_ms: Number(probe.latencyMs.toFixed(3)) } };
}

const checkObject = ({ id, deploymentId, modelGroup, latencyMs, failure, createdAt, createdBy }: HealthCheck) => ({
  health_check_id: id,
  model_name: modelGroup,
  model_id: deploymentId,
  status: failure === null ? 'healthy' : 'unhealthy',
  healthy_count: failure === null ? 1 : 0,
  unhealthy_count: failure === null ? 0 : 1,
  error_message: failure?.message ?? null,
  response_time_ms: Number(latencyMs.toFixed(3)),
  checked_by: createdBy,
  checked_at: createdAt.toISOString(),
});

const STATUSES = ['healthy', 'unhealthy'] as const;
const readService = query({ service: requiredText });
const readPage = query({
  model: text,
  status_filter: text,
  limit: integer({ min: 1, max: 1_000, defaultValue: 100 }),
  offset: integer({ min: 0, max: 1_000_000, defaultValue: 0 }),
});

function parsePage(search: string): HealthCheckQuery {
  const { model, status_filter: status, limit, offset } = readPage(search);
  if (status !== null && !STATUSES.some((one) => one === status))
    throw new InvalidInput('The query is not valid.', [
      { path: ['query', 'status_filter'], rule: 'enum', message: "Input should be 'healthy' or 'unhealthy'" },
    ]);
  const isHealthy = status === null ? null : status === 'healthy';
  return { model, isHealthy, descending: true, limit: Number(limit), from: Number(offset) };
}

const historyObject = ({ checks, totalCount }: HealthCheckPage, search: string) => {
  const { limit, offset } = readPage(search);
  return {
    health_checks: checks.map(checkObject),
    total_records: totalCount,
    limit: Number(limit),
    offset: Number(offset),
  };
};

/** A row that requires a key and has a constant answer. */
const constantRow = (name: string, path: string, answer: HttpAnswer): RouteRow =>
  route({
    ...MANAGEMENT_READ,
    name,
    paths: [path],
    statuses: [200, 401],
    parse: () => undefined,
    run: checkCaller,
    render: () => answer,
  });

/**
 * Health of this process, its deployments and services, for callers with a key. Also routes of features that do not
 * exist here: team metadata schemas, a cache of answers, and licences.
 */
export const healthCheckRoutes: readonly RouteRow[] = [
  constantRow('service.teamMetadata', '/team/metadata_schema', json({ fields: [] })),
  route({
    ...MANAGEMENT_READ,
    method: 'POST',
    name: 'health.testConnection',
    bodySchema: readTest.schema,
    paths: ['/health/test_connection'],
    statuses: [200, 401, 403, 422],
    bodyLimit: 1024 * 1024,
    parse: ({ body }) => parseTest(body),
    run: testConnection,
    render: (connection) => json(testObject(connection)),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'health.history',
    querySchema: merged(readPage, objectSchema({ status_filter: { enum: STATUSES } })),
    paths: ['/health/history'],
    statuses: [200, 401, 422],
    parse: ({ search }) => parsePage(search),
    run: listHealthChecks,
    render: (page, { search }) => json(historyObject(page, search)),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'health.latest',
    paths: ['/health/latest'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listLatestHealthChecks,
    render: (checks) =>
      json({
        latest_health_checks: Object.fromEntries(checks.map((one) => [one.deploymentId, checkObject(one)])),
        total_models: checks.length,
      }),
  }),
  constantRow(
    'health.sharedStatus',
    '/health/shared-status',
    json({
      shared_health_check_enabled: false,
      message: 'Each process checks the deployments by itself.',
    }),
  ),
  route({
    ...MANAGEMENT_READ,
    name: 'health.services',
    querySchema: readService.schema,
    paths: ['/health/services'],
    statuses: [200, 400, 401, 403, 422, 503],
    failureForm: { body: 'model' },
    parse: ({ search }) => readService(search),
    run: checkService,
    render: ({ service, ...rest }) =>
      // Only the collector of spans has counts; other services are tested.
      'sent' in rest
        ? json({ status: 'success', message: `${rest.sent} spans were sent to \`${service}\`.`, spans: rest })
        : json({ status: 'success', message: `The service \`${service}\` answered a test.` }),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'service.callbacks',
    paths: ['/callbacks/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listServices,
    render: (services) => json({ success: [], failure: [], success_and_failure: services }),
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'health.backlog',
    paths: ['/health/backlog'],
    statuses: [200, 401],
    parse: () => undefined,
    run: readLoad,
    render: ({ openRequests, waitingCalls, refused }) =>
      json({
        in_flight_requests: openRequests,
        admitted_requests: Math.max(0, openRequests - waitingCalls),
        queued_requests: waitingCalls,
        rejected_requests: refused,
      }),
  }),
  // No feature needs a licence.
  constantRow(
    'health.license',
    '/health/license',
    json({
      has_license: false,
      license_type: 'community',
      expiration_date: null,
      allowed_features: [],
      limits: { max_users: null, max_teams: null },
    }),
  ),
  route({
    ...MANAGEMENT_READ,
    name: 'health.readinessDetails',
    paths: ['/health/readiness/details'],
    statuses: [200, 401, 503],
    failureForm: { body: 'detail' },
    parse: () => undefined,
    run: checkReadinessDetails,
    render: (readiness) => json(detailsObject(readiness)),
  }),
];
