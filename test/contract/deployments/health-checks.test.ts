import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import type { Platform, Scope } from '../../../resolvers/operation/scope.ts';
import { healthCheckRoutes } from '../../../rest-shims/health-checks.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { openRowServer } from '../../support/rest-server.ts';
import { startApp } from '../../support/start-app.ts';
import { envelope, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';
import { startRecordingUpstream, type RecordingUpstream } from './recording-upstream.ts';

const { get, post, key, user } = tenancyClient({
  config: {
    general_settings: { demo_model: false },
    model_list: [
      { model_name: 'works', litellm_params: { model: 'demo' }, model_info: { id: 'works-1' } },
      {
        model_name: 'away',
        litellm_params: { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' },
        model_info: { id: 'away-1' },
      },
    ],
  },
});

const ADMIN: Caller = { keyHash: 'admin', role: 'proxy_admin', teamId: null, userId: null, key: null };

let upstream: RecordingUpstream;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
});
afterAll(() => upstream.stop());

const testModel = (body: object, callerKey?: string) => post('/health/test_connection', body, callerKey);
const ANY_NUMBER = expect.any(Number) as unknown;

it('health.testConnection 200: a working and a failing connection; nothing is stored', async () => {
  const params = { model: 'openai/m', api_base: upstream.base, api_key: 'sk-secret' };
  expect(await testModel({ litellm_params: params })).toEqual({
    status: 200,
    body: { status: 'success', result: { model: 'openai/m', api_base: upstream.base, latency_ms: ANY_NUMBER } },
  });
  expect(upstream.requests()).toEqual([
    { path: '/v1/chat/completions', authorization: 'Bearer sk-secret', model: 'm' },
  ]);
  const embedding = await testModel({ litellm_params: params, mode: 'embedding' });
  expect(embedding.body['status']).toBe('success');
  expect(upstream.requests().at(-1)?.path).toBe('/v1/embeddings');
  const failed = await testModel({ litellm_params: { ...params, api_base: 'http://127.0.0.1:1/v1' } });
  expect(failed).toMatchObject({
    status: 200,
    body: { status: 'error', result: { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1' } },
  });
  expect(JSON.stringify(failed)).not.toContain('sk-secret');
  expect(await testModel({ litellm_params: { ...params, model: 'openai/*' } })).toMatchObject({
    body: { status: 'error', result: { error: expect.stringContaining('health_check_model') as unknown } },
  });
  expect((await get('/health/history')).body['total_records']).toBe(0);
  expect((await get('/v1/models')).body['data']).toHaveLength(2);
});

it('health.testConnection 401: no key; 403: a user key; 422: no model, an unknown credential', async () => {
  const draft = { litellm_params: { model: 'demo' } };
  expect(await testModel(draft, '')).toEqual(NO_KEY);
  expect(await testModel(draft, await key({}))).toEqual(
    envelope(403, 'Only proxy admins can change models.', 'auth_error', 'None'),
  );
  expect(await testModel({})).toEqual({
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body', 'litellm_params', 'model'], msg: 'Field required' }] },
  });
  expect((await testModel({ litellm_params: { model: 'demo', litellm_credential_name: 'nope' } })).status).toBe(422);
});

it('health.history 200, newest first; health.latest 200, by deployment', async () => {
  await get('/health?model=works');
  await get('/health?model=away');
  const refused = expect.stringContaining('ECONNREFUSED') as unknown;
  const check = (id: string, name: string, isHealthy: boolean) => ({
    health_check_id: expect.any(String) as unknown,
    model_name: name,
    model_id: id,
    status: isHealthy ? 'healthy' : 'unhealthy',
    healthy_count: isHealthy ? 1 : 0,
    unhealthy_count: isHealthy ? 0 : 1,
    error_message: isHealthy ? null : refused,
    response_time_ms: ANY_NUMBER,
    checked_by: expect.any(String) as unknown,
    checked_at: expect.stringMatching(/Z$/) as unknown,
  });
  const [works, away] = [check('works-1', 'works', true), check('away-1', 'away', false)];
  expect(await get('/health/history')).toEqual({
    status: 200,
    body: { health_checks: [away, works], total_records: 2, limit: 100, offset: 0 },
  });
  expect((await get('/health/history?status_filter=healthy')).body['health_checks']).toEqual([works]);
  expect((await get('/health/history?model=away&limit=1')).body).toEqual({
    health_checks: [away],
    total_records: 1,
    limit: 1,
    offset: 0,
  });
  expect((await get('/health/history?offset=1')).body['health_checks']).toEqual([works]);
  expect((await get('/health/history', await key({ models: ['works'] }))).body['health_checks']).toEqual([works]);
  expect(await get('/health/latest')).toEqual({
    status: 200,
    body: { latest_health_checks: { 'works-1': works, 'away-1': away }, total_models: 2 },
  });
});

it('healthChecks in the graph returns the stored checks by page, filter and access of the key', async () => {
  const query = `query ($filter: HealthCheckFilter, $after: String) {
    healthChecks(first: 1, after: $after, filter: $filter) {
      totalCount
      nodes { deploymentId model at checkedBy latencyMs error }
      pageInfo { hasNextPage endCursor }
    }
  }`;
  interface Page {
    readonly healthChecks: { readonly pageInfo: { readonly endCursor: string } };
  }
  const page = async (variables: object, callerKey?: string): Promise<Page> =>
    (await post('/graphql', { query, variables }, callerKey)).body['data'] as Page;
  const node = (id: string, error: unknown) => ({
    deploymentId: `${id}-1`,
    model: id,
    at: expect.stringMatching(/Z$/) as unknown,
    checkedBy: expect.any(String) as unknown,
    latencyMs: ANY_NUMBER,
    error,
  });
  const first = await page({});
  const refused = expect.stringContaining('ECONNREFUSED') as unknown;
  const cursor = expect.any(String) as unknown;
  const away = node('away', refused);
  const works = node('works', null);
  const pageOf = (nodes: readonly object[], totalCount: number, hasNextPage: boolean) => ({
    healthChecks: { totalCount, nodes, pageInfo: { hasNextPage, endCursor: cursor } },
  });
  expect(first).toEqual(pageOf([away], 2, true));
  expect(await page({ after: first.healthChecks.pageInfo.endCursor })).toEqual(pageOf([works], 2, false));
  for (const model of ['', '  ']) expect(await page({ filter: { model } })).toEqual(first);
  expect(await page({ filter: { healthy: true } })).toEqual(pageOf([works], 1, false));
  expect(await page({ filter: { model: 'away', healthy: false } })).toEqual(pageOf([away], 1, false));
  expect(await page({}, await key({ models: ['works'] }))).toEqual(pageOf([works], 1, false));
});

it('health.history 422: a limit of zero, an unknown status', async () => {
  expect((await get('/health/history?limit=0')).status).toBe(422);
  expect(await get('/health/history?status_filter=x')).toEqual({
    status: 422,
    body: {
      detail: [{ type: 'enum', loc: ['query', 'status_filter'], msg: "Input should be 'healthy' or 'unhealthy'" }],
    },
  });
});

it('health.sharedStatus, health.license, health.backlog 200: health checks are not shared, no licence, no queued requests', async () => {
  expect(await get('/health/shared-status')).toEqual({
    status: 200,
    body: { shared_health_check_enabled: false, message: 'Each process checks the deployments by itself.' },
  });
  expect(await get('/health/license')).toEqual({
    status: 200,
    body: {
      has_license: false,
      license_type: 'community',
      expiration_date: null,
      allowed_features: [],
      limits: { max_users: null, max_teams: null },
    },
  });
  expect(await get('/health/backlog')).toEqual({
    status: 200,
    body: { in_flight_requests: ANY_NUMBER, admitted_requests: ANY_NUMBER, queued_requests: 0, rejected_requests: 0 },
  });
});

it('health.readinessDetails 200: the state of the database, the catalog and waiting records', async () => {
  expect(await get('/health/readiness/details')).toEqual({
    status: 200,
    body: {
      status: 'healthy',
      db: 'connected',
      cache: null,
      litellm_version: VERSION,
      success_callbacks: [],
      catalog: {
        source: 'embedded',
        entries: ANY_NUMBER,
        taken_at: expect.stringMatching(/Z$/) as unknown,
        age_seconds: ANY_NUMBER,
        // Prices of the built-in price map that look like unit mistakes.
        quarantined: 3,
        last_checked_at: null,
        last_error: null,
      },
      records_waiting: ANY_NUMBER,
    },
  });
});

it('health.readinessDetails 503: the database fails', async () => {
  const platform = {
    draining: () => false,
    stores: { ping: () => Promise.reject(new Error('away')) },
  } as unknown as Platform;
  const rows = await openRowServer({
    rows: healthCheckRoutes,
    bodyLimits: { setting: 0, otlp: 0 },
    identify: () => ADMIN,
    scopeFor: (caller) => ({ platform, caller }) as Scope,
    onFailure: () => {},
  });
  const answer = await fetch(`${rows.url}/health/readiness/details`, { headers: { authorization: 'Bearer sk-x' } });
  expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
    503,
    '2',
    { status: 'unhealthy', db: 'disconnected' },
  ]);
  rows.close();
});

it.each([
  ['history', 'history'],
  ['latest', 'latest'],
  ['sharedStatus', 'shared-status'],
  ['license', 'license'],
  ['backlog', 'backlog'],
  ['readinessDetails', 'readiness/details'],
])('health.%s 401: no key', async (_name, path) => {
  expect(await get(`/health/${path}`, '')).toEqual(NO_KEY);
});

it('health.services 400: an unknown or unconfigured service; 401: no key, a read-only user; 403: a read-only administrator; 422: no service', async () => {
  const refused = (message: string) => envelope(400, message, 'auth_error', 'None');
  expect(await get('/health/services?service=zzz')).toEqual(
    refused('The service must be one of `otel`, `webhook`, `database`, `redis`, not `zzz`.'),
  );
  expect(await get('/health/services?service=otel')).toEqual(refused('No collector of spans is configured.'));
  expect(await get('/health/services?service=webhook')).toEqual(refused('No webhook of budget alerts is configured.'));
  expect(await get('/health/services?service=redis')).toEqual(refused('No Redis is configured.'));
  expect(await get('/health/services?service=otel', '')).toEqual(NO_KEY);
  const readOnlyUser = await user({ user_role: 'internal_user_viewer' });
  expect((await get('/health/services?service=otel', readOnlyUser)).status).toBe(401);
  const readOnlyAdmin = await user({ user_role: 'proxy_admin_viewer' });
  expect((await get('/health/services?service=otel', readOnlyAdmin)).status).toBe(403);
  expect(await get('/health/services')).toEqual({
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['query', 'service'], msg: 'Field required' }] },
  });
});

it('service.callbacks 200: no callbacks; 401: no key', async () => {
  expect(await get('/callbacks/list')).toEqual({
    status: 200,
    body: { success: [], failure: [], success_and_failure: [] },
  });
  expect(await get('/callbacks/list', '')).toEqual(NO_KEY);
});

it('health.services 200, service.callbacks 200: a configured collector of spans', async () => {
  const appWithCollector = await startApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' } });
  const json = async (path: string): Promise<unknown> => (await appWithCollector.call('GET', path)).json();
  const spans = { sent: 0, failed: 0, dropped: 0, waiting: 0 };
  const message = '0 spans were sent to `otel`.';
  expect(await json('/health/services?service=otel')).toEqual({ status: 'success', message, spans });
  expect(await json('/callbacks/list')).toEqual({ success: [], failure: [], success_and_failure: ['otel'] });
  await appWithCollector.stop();
});

describe('health.services: services that can be tested', () => {
  const testSuccess = (service: string) => ({
    status: 200,
    body: { status: 'success', message: `The service \`${service}\` answered a test.` },
  });

  it('health.services 200: the database', async () => {
    expect(await get('/health/services?service=database')).toEqual(testSuccess('database'));
  });

  it('health.services 200: the webhook gets an alert that is marked as a test; 503: the webhook fails', async () => {
    const receiver = await startFaultServer();
    const url = `${receiver.url}/hooks/secret`;
    const appWithWebhook = await startApp({
      config: {
        general_settings: { alert_to_webhook_url: { budget_alerts: url } },
        litellm_settings: { user_url_allowed_hosts: ['127.0.0.1'] },
      },
    });
    const ask = async () => {
      const answer = await appWithWebhook.call('GET', '/health/services?service=webhook');
      return { status: answer.status, body: (await answer.json()) as unknown };
    };
    receiver.answer((response) => response.writeHead(204).end());
    expect(await ask()).toEqual(testSuccess('webhook'));
    const text = 'This is a test alert of Lensgate.';
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
      event: 'test',
      event_group: 'proxy',
      event_message: text,
      at: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
      text,
    });
    receiver.answer((response) => response.writeHead(404).end());
    expect(await ask()).toEqual(envelope(503, 'The webhook of budget alerts answered 404.', 'service_unavailable'));
    await receiver.stop();
    expect(await ask()).toEqual(envelope(503, 'The webhook of budget alerts cannot be called.', 'service_unavailable'));
    await appWithWebhook.stop();
  });

  it('health.services 503: a Redis that does not answer', async () => {
    const appWithRedis = await startApp({ env: { REDIS_URL: 'redis://:secret@127.0.0.1:1' } });
    const answer = await appWithRedis.call('GET', '/health/services?service=redis');
    expect({ status: answer.status, body: await answer.json() }).toEqual(
      envelope(503, 'The service `redis` does not answer.', 'service_unavailable'),
    );
    await appWithRedis.stop();
  });
});
