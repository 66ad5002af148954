import { describe, expect, it } from 'vitest';
import { aLens, lensClient } from '../../support/lens-client.ts';

const { send, create, key, lensAt } = lensClient();

const detail = (status: number, text: unknown) => ({ status, body: { detail: text } });
const NO_LENS = detail(404, 'Lens not found');
const READ_REFUSED = detail(403, 'Lens requires proxy administrator access');
const WRITE_REFUSED = detail(403, 'Only proxy admins can configure or run Lens');

const issue = (type: string, loc: readonly (string | number)[], msg: string) => ({ type, loc: ['body', ...loc], msg });

/** Hash that belongs to no key. */
const HASH = 'a'.repeat(64);
const PREVIEW = { selection: {} };
const TRACES = { traces: [{ trace_id: 'a'.repeat(32), trace_ref: 'r' }] };

const READS = [
  { name: 'lens.list', method: 'GET', path: '/lens', body: undefined },
  { name: 'lens.get', method: 'GET', path: '/lens/x', body: undefined },
  { name: 'lens.runs', method: 'GET', path: '/lens/x/runs', body: undefined },
  { name: 'lens.readRun', method: 'GET', path: '/lens/x/runs/y', body: undefined },
  { name: 'lens.reviews', method: 'GET', path: '/lens/x/runs/y/reviews', body: undefined },
  { name: 'lens.execution', method: 'GET', path: '/lens/x/executions/y', body: undefined },
  { name: 'lens.preview', method: 'POST', path: '/lens/preview/sample', body: PREVIEW },
  { name: 'lens.agents', method: 'GET', path: '/lens/agents', body: undefined },
  { name: 'lens.activity', method: 'GET', path: '/lens/activity/available', body: undefined },
  { name: 'lens.traceFindings', method: 'POST', path: '/lens/traces/findings', body: TRACES },
];

const WRITES = [
  { name: 'lens.create', method: 'POST', path: '/lens', body: aLens() },
  { name: 'lens.update', method: 'PUT', path: '/lens/x', body: aLens() },
  { name: 'lens.watchAll', method: 'POST', path: '/lens/watch-all', body: {} },
  { name: 'lens.run', method: 'POST', path: '/lens/x/runs', body: {} },
  { name: 'lens.cancel', method: 'POST', path: '/lens/x/cancel', body: {} },
  { name: 'lens.finding', method: 'PATCH', path: '/lens/x/findings/y', body: { status: 'open' } },
  { name: 'lens.registerWorker', method: 'POST', path: '/lens/workers/register', body: { analysis_key_id: HASH } },
  { name: 'lens.billingKey', method: 'PUT', path: '/lens/workers/x/billing-key', body: { analysis_key_id: HASH } },
  { name: 'lens.revokeWorker', method: 'DELETE', path: '/lens/workers/x', body: undefined },
];

describe('access to the routes of lenses', () => {
  it.each(READS)('$name 401 and 403: only administrators read', async ({ method, path, body }) => {
    expect((await send(method, path, body, '')).status).toBe(401);
    expect(await send(method, path, body, (await key({})).key)).toEqual(READ_REFUSED);
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    expect((await send(method, path, body, viewer)).status).not.toBe(403);
  });

  it.each(WRITES)('$name 401 and 403: only proxy administrators write', async ({ method, path, body }) => {
    expect((await send(method, path, body, '')).status).toBe(401);
    expect(await send(method, path, body, (await key({})).key)).toEqual(WRITE_REFUSED);
    const viewer = (await key({ user_role: 'proxy_admin_viewer' })).key;
    expect(await send(method, path, body, viewer)).toEqual(WRITE_REFUSED);
  });
});

describe('lenses', () => {
  it('lens.create, lens.get, lens.list, lens.runs, lens.readRun 200: a new lens and its first run', async () => {
    const created = await create({ name: 'l1', model: 'judge', context: 'find problems' });
    const settings = {
      source: 'traces',
      service: '',
      agent_name: '',
      filters: [],
      sample_size: null,
      sample_percent: 100,
      team_id: '',
      execution_ids: [],
      name: 'l1',
      context: 'find problems',
      lookback_hours: 24,
      checks: [],
      model: 'judge',
      enabled: true,
      interval_minutes: 15,
      concurrency: 8,
      monthly_budget: 100,
    };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    const [job] = created.jobs;
    expect(created).toEqual({
      id: expect.any(String),
      scope: { team_id: '', api_key_hash: '', all_teams: true },
      settings,
      revision: 1,
      version: 0,
      created_at: time,
      next_run_at: time,
      last_scan_at: null,
      jobs: [
        {
          id: expect.any(String),
          status: 'queued',
          stage: 'Queued',
          created_at: time,
          start: time,
          end: time,
          settings,
          revision: 1,
          worker_id: null,
          lease_until: null,
          attempts: 0,
          finished_at: null,
          coverage: {
            eligible: 0,
            selected: 0,
            screened: 0,
            investigated: 0,
            inconclusive: 0,
            grouping_batches: 0,
            grouped_batches: 0,
            candidates: 0,
            partial: 0,
            unassessable: 0,
            failed_tasks: 0,
            reused: 0,
            reusable: 0,
          },
          error: '',
          sample: null,
          cost: 0,
          findings: null,
          assessments: [],
          steps: [],
          reviews: [],
          reviewed: 0,
          reading: [],
          activities: [],
          trigger: 'schedule',
          review_versions: [],
        },
      ],
      findings: [],
      budget_month: new Date().toISOString().slice(0, 7),
      spent: 0,
      reservations: [],
      criteria_updated_at: null,
    });
    const minutes = (Date.parse(String(job['created_at'])) - Date.parse(String(job['end']))) / 60_000;
    // A run leaves out the last two minutes, whose traces may be incomplete.
    expect(minutes).toBe(2);
    expect(await lensAt(created.id)).toEqual(created);
    const { body } = await send('GET', '/lens');
    expect(body).toMatchObject({ workers: [], tracing_enabled: true });
    expect(body['lenses']).toContainEqual(created);
    expect((await send('GET', `/lens/${created.id}/runs`)).body).toEqual([job]);
    expect((await send('GET', `/lens/${created.id}/runs/${job.id}`)).body).toEqual(job);
  });

  it('lens.run 200, lens.cancel 200: an active run is returned, and a new run starts after it ends', async () => {
    const { id, jobs } = await create(aLens());
    const [run] = jobs;
    expect((await send('POST', `/lens/${id}/runs`, {})).body).toMatchObject({ version: 0, jobs: [{ id: run.id }] });
    const cancelled = (await send('POST', `/lens/${id}/cancel`, {})).body;
    expect(cancelled).toMatchObject({ version: 1, jobs: [{ id: run.id, status: 'cancelled', stage: 'Cancelled' }] });
    expect((await send('POST', `/lens/${id}/cancel`, {})).body).toMatchObject({ version: 1 });
    const settings = aLens({ name: 'once', lookback_hours: '48' });
    const next = (await send('POST', `/lens/${id}/runs`, { settings })).body;
    expect(next).toMatchObject({
      settings: { name: 'l', lookback_hours: 24 },
      jobs: [{ status: 'queued', trigger: 'manual', settings: { name: 'once', lookback_hours: 48 } }],
    });
    expect((await send('GET', `/lens/${id}/runs`)).body).toMatchObject([{ status: 'queued' }, { id: run.id }]);
    for (const offset of ['2', '9'.repeat(20)])
      expect(await send('GET', `/lens/${id}/runs?offset=${offset}`)).toEqual({ status: 200, body: [] });
    await send('POST', `/lens/${id}/cancel`, {});
    const [start, end] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    const explicit = (await send('POST', `/lens/${id}/runs`, { start, end, agent_name: 'shop' })).body;
    expect(explicit).toMatchObject({ jobs: [{ start, end, settings: { agent_name: 'shop' } }] });
  });

  it('lens.update 200, lens.watchAll 200: settings are replaced; the active run keeps its settings', async () => {
    const { id } = await create(aLens({ context: 'old' }));
    const changed = (await send('PUT', `/lens/${id}`, aLens({ context: 'new' }))).body;
    expect(changed).toMatchObject({
      revision: 2,
      version: 1,
      settings: { context: 'new' },
      jobs: [{ revision: 1, settings: { context: 'old' } }],
      criteria_updated_at: expect.any(String),
    });
    const { body } = await send('POST', '/lens/watch-all', {});
    expect(body).toMatchObject({ watching: expect.arrayContaining([id]), skipped: [] });
    expect(await lensAt(id)).toMatchObject({ revision: 3, settings: { enabled: true } });
  });

  it('lens.get, lens.update, lens.run, lens.cancel, lens.finding, lens.runs 404: an unknown lens', async () => {
    expect(await send('GET', '/lens/none')).toEqual(NO_LENS);
    expect(await send('PUT', '/lens/none', aLens())).toEqual(NO_LENS);
    expect(await send('POST', '/lens/none/runs', {})).toEqual(NO_LENS);
    expect(await send('POST', '/lens/none/cancel', {})).toEqual(NO_LENS);
    expect(await send('PATCH', '/lens/none/findings/f', { status: 'open' })).toEqual(NO_LENS);
    expect(await send('GET', '/lens/none/runs')).toEqual(NO_LENS);
    // No route deletes a lens.
    expect((await send('DELETE', '/lens/none')).status).toBe(405);
  });

  it('lens.readRun, lens.reviews, lens.execution 404: an unknown run or execution', async () => {
    const { id } = await create(aLens());
    expect(await send('GET', `/lens/${id}/runs/none`)).toEqual(detail(404, 'Investigation not found'));
    expect(await send('GET', `/lens/${id}/runs/none/reviews`)).toEqual(detail(404, 'Investigation not found'));
    expect(await send('GET', `/lens/${id}/executions/none`)).toEqual(detail(404, 'Execution not found'));
  });

  it('lens.create, lens.update, lens.run 400: a model that is not configured, or without an output price', async () => {
    const unknown = detail(400, 'Choose a model configured on this LiteLLM instance');
    expect(await send('POST', '/lens', aLens({ model: 'zzz' }))).toEqual(unknown);
    const { id } = await create(aLens());
    expect(await send('PUT', `/lens/${id}`, aLens({ model: 'zzz' }))).toEqual(unknown);
    expect(await send('POST', `/lens/${id}/runs`, { settings: aLens({ model: 'zzz' }) })).toEqual(unknown);
    const { status, body } = await send('POST', '/lens', aLens({ model: 'input-price-only' }));
    expect(status).toBe(400);
    expect(body['detail']).toMatch(/^Pricing is not configured for input-price-only\. /);
  });
});

describe('bodies of lenses', () => {
  it.each([
    [{ model: 'judge', context: 'c' }, [issue('missing', ['name'], 'Field required')]],
    [{ ...aLens(), prompt: 'p' }, [issue('extra_forbidden', ['prompt'], 'Extra inputs are not permitted')]],
    [aLens({ source: 'requests' }), [issue('literal_error', ['source'], "Input should be 'traces'")]],
    [aLens({ sample_percent: 0 }), [issue('greater_than', ['sample_percent'], 'Input should be greater than 0')]],
    [
      aLens({ checks: [{ id: 'a', instruction: 'no' }] }),
      [issue('string_too_short', ['checks', 0, 'instruction'], 'String should have at least 3 characters')],
    ],
    [
      { name: 'l', model: 'judge' },
      [issue('value_error', [], 'Value error, Describe expected behavior or add an enabled check')],
    ],
    [
      aLens({ checks: [{ id: 'expected_behavior', instruction: 'abc' }] }),
      [issue('value_error', [], 'Value error, expected_behavior is reserved for the behavior description')],
    ],
    [
      aLens({ lookback_hours: 9_999_999 }),
      [issue('value_error', ['lookback_hours'], 'Value error, Lookback exceeds the supported calendar range')],
    ],
    [
      aLens({ interval_minutes: 1e15 }),
      [issue('value_error', ['interval_minutes'], 'Value error, Interval exceeds the supported calendar range')],
    ],
    [aLens({ execution_ids: ['x'] }), 'Choose execution IDs returned by the activity preview'],
  ])('lens.create 422, lens.update 422: invalid settings: %j', async (body, expected) => {
    expect(await send('POST', '/lens', body)).toEqual(detail(422, expected));
    const { id } = await create(aLens());
    expect(await send('PUT', `/lens/${id}`, body)).toEqual(detail(422, expected));
  });

  it('lens.run, lens.finding, lens.preview, lens.traceFindings, lens.registerWorker, lens.billingKey 422: invalid bodies', async () => {
    expect(await send('POST', '/lens/x/runs', { start: '2026-01-01T00:00:00Z' })).toEqual(
      detail(422, [issue('value_error', [], 'Value error, Choose both a start and an end time')]),
    );
    expect(await send('POST', '/lens/x/runs', { x: 1 })).toMatchObject({ status: 422 });
    expect(await send('PATCH', '/lens/x/findings/y', { status: 'new' })).toEqual(
      detail(422, [issue('literal_error', ['status'], "Input should be 'open', 'resolved' or 'dismissed'")]),
    );
    expect(await send('POST', '/lens/preview/sample', {})).toEqual(
      detail(422, [issue('missing', ['selection'], 'Field required')]),
    );
    expect(await send('POST', '/lens/preview/sample', { ...PREVIEW, lookback_hours: 999_999 })).toEqual(
      detail(422, 'Preview window exceeds the supported calendar range'),
    );
    expect(await send('POST', '/lens/traces/findings', {})).toEqual(
      detail(422, [issue('missing', ['traces'], 'Field required')]),
    );
    const pattern = issue(
      'string_pattern_mismatch',
      ['analysis_key_id'],
      "String should match pattern '^[a-f0-9]{64}$'",
    );
    expect(await send('POST', '/lens/workers/register', { analysis_key_id: 'x' })).toEqual(detail(422, [pattern]));
    expect(await send('PUT', '/lens/workers/x/billing-key', { analysis_key_id: 'x' })).toEqual(detail(422, [pattern]));
  });

  it('lens.runs, lens.reviews, lens.execution 422: invalid queries', async () => {
    for (const path of ['/lens/x/runs?offset=-1', '/lens/x/runs/y/reviews?after=a', '/lens/x/executions/y?offset=-1'])
      expect((await send('GET', path)).status).toBe(422);
  });
});

describe('workers of lenses', () => {
  it('lens.registerWorker 200 and 400, lens.billingKey, lens.revokeWorker 200: register, change the paying key, revoke', async () => {
    const [payingKey, otherKey] = [await key({}), await key({})];
    const { status, body } = await send('POST', '/lens/workers/register', { analysis_key_id: payingKey.hash });
    const worker = {
      id: expect.any(String),
      name: 'Lens worker',
      scope: { team_id: '', api_key_hash: '', all_teams: true },
      last_seen: '1970-01-01T00:00:00.000Z',
      revoked: false,
      analysis_key_id: payingKey.hash,
    };
    expect(status).toBe(200);
    expect(body).toEqual({
      worker,
      token: expect.stringMatching(/^lens-[\w-]{64}$/),
      image: expect.any(String),
      managed: false,
    });
    const { id } = body['worker'] as { readonly id: string };
    const refused = detail(400, 'Choose an active virtual key for Lens analysis');
    expect(await send('POST', '/lens/workers/register', { analysis_key_id: HASH })).toEqual(refused);
    expect(await send('PUT', `/lens/workers/${id}/billing-key`, { analysis_key_id: otherKey.hash })).toEqual({
      status: 200,
      body: { ...worker, analysis_key_id: otherKey.hash },
    });
    expect(await send('DELETE', `/lens/workers/${id}`)).toEqual({ status: 200, body: true });
    expect((await send('GET', '/lens')).body['workers']).toMatchObject([{ id, revoked: true }]);
  });

  it('lens.billingKey 400, 404 and 409, lens.revokeWorker 404: workers that cannot be changed', async () => {
    const { hash } = await key({});
    const { body } = await send('POST', '/lens/workers/register', { analysis_key_id: hash });
    const { id } = body['worker'] as { readonly id: string };
    const path = `/lens/workers/${id}/billing-key`;
    expect((await send('PUT', path, { analysis_key_id: HASH })).status).toBe(400);
    await send('DELETE', `/lens/workers/${id}`);
    expect(await send('PUT', path, { analysis_key_id: hash })).toEqual(
      detail(409, 'Register a new worker instead of updating revoked access'),
    );
    const workerNotFound = detail(404, 'Worker not found');
    expect(await send('PUT', '/lens/workers/none/billing-key', { analysis_key_id: hash })).toEqual(workerNotFound);
    expect(await send('DELETE', '/lens/workers/none')).toEqual(workerNotFound);
  });

  it('lens.create 400: no worker key may call the model; 200: one may call it by an access group', async () => {
    const register = async (draft: object): Promise<string> => {
      const { hash } = await key(draft);
      const { body } = await send('POST', '/lens/workers/register', { analysis_key_id: hash });
      return (body['worker'] as { readonly id: string }).id;
    };
    const refused = detail(
      400,
      'No worker can use this analysis model. Allow judge for the analysis key of a worker, or register another worker.',
    );
    await register({ models: ['other'] });
    expect(await send('POST', '/lens', aLens())).toEqual(refused);
    const groupWorkerId = await register({ models: ['reviewers'] });
    expect((await send('POST', '/lens', aLens())).status).toBe(200);
    await send('DELETE', `/lens/workers/${groupWorkerId}`);
    expect(await send('POST', '/lens', aLens())).toEqual(refused);
    const group = await send('POST', '/v1/access_group', { access_group_name: 'g', access_model_names: ['judge'] });
    await register({ models: ['other'], access_group_ids: [group.body['access_group_id']] });
    expect((await send('POST', '/lens', aLens())).status).toBe(200);
  });
});
