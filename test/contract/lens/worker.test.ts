import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../../bench/lens/runs.ts';
import { investigate } from '../../../src/domain/lens/pipeline/investigation.ts';
import { type ClaimedRun, type LensBackend, OwnershipLost } from '../../../src/domain/lens/worker.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { httpBackend } from '../../../src/runtime/lens/http-backend.ts';
import { aLens, lensClient, type WireLens } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, app, judge, ingest, create, untilRunEnds, key, lensAt } = lensClient();
const neverAborted = new AbortController().signal;
const CLAIM = `/lens/worker/claim?protocol_version=7&worker_release=${VERSION}`;

const detail = (status: number, text: string) => ({ status, body: { detail: text } });
const LOST = detail(409, 'This worker no longer owns the job');

let token = '';
let workerId = '';
beforeAll(async () => {
  await ingest(syntheticRuns(12, 3));
  const { hash } = await key({});
  const { body } = await send('POST', '/lens/workers/register', { analysis_key_id: hash, name: 'far' });
  token = String(body['token']);
  workerId = String((body['worker'] as Json)['id']);
});

const asWorker = (method: string, path: string, body?: unknown, attempt = 1) =>
  send(method, path, body, token, { 'x-litellm-lens-attempt': String(attempt) });

async function claimNewRun(): Promise<{ readonly path: string; readonly lens: WireLens; readonly run: Json }> {
  const lens = await create(aLens());
  const { body } = await asWorker('POST', CLAIM);
  expect(body['lens_id']).toBe(lens.id);
  const run = body['job'] as Json;
  return { path: `/lens/worker/${lens.id}/${String(run['id'])}`, lens, run };
}

const cancel = (id: string) => send('POST', `/lens/${id}/cancel`, {});

const ROUTES = [
  { name: 'lensWorker.sample', method: 'GET', path: 'sample', body: undefined },
  { name: 'lensWorker.reviews', method: 'GET', path: 'reviews', body: undefined },
  { name: 'lensWorker.content', method: 'GET', path: 'content?execution_id=x', body: undefined },
  { name: 'lensWorker.model', method: 'POST', path: 'model', body: { prompt: '{}', purpose: 'extract' } },
  { name: 'lensWorker.progress', method: 'POST', path: 'progress', body: {} },
  { name: 'lensWorker.heartbeat', method: 'POST', path: 'heartbeat', body: {} },
  { name: 'lensWorker.result', method: 'POST', path: 'result', body: { assessments: [], findings: [], coverage: {} } },
];

describe('the protocol of lens workers', () => {
  it('lensWorker.claim 401, 409 and 422: a worker needs its token and its version', async () => {
    expect(await send('POST', CLAIM, {}, '')).toEqual(detail(401, 'Not authenticated'));
    expect(await send('POST', CLAIM, {})).toEqual(detail(401, 'Worker credential is invalid or revoked'));
    expect(await asWorker('POST', '/lens/worker/claim')).toEqual(
      detail(409, `Upgrade the Lens worker to lensgate:${VERSION} and retry`),
    );
    expect((await asWorker('POST', '/lens/worker/claim?protocol_version=x')).status).toBe(422);
    const { release } = (await send('GET', '/lens/service')).body;
    const claim = `/lens/worker/claim?protocol_version=7&worker_release=${String(release)}`;
    expect(await asWorker('POST', claim)).toEqual({ status: 200, body: null });
  });

  it.each(ROUTES)('$name 422: an attempt below 1', async ({ method, path, body }) => {
    expect(await asWorker(method, `/lens/worker/a-lens/a-run/${path}`, body, 0)).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'greater_than_equal', loc: ['header', 'X-LiteLLM-Lens-Attempt'] }] },
    });
  });

  it.each(ROUTES)('$name 401, 404 and 409: only the worker with the lease of a run', async ({ method, path, body }) => {
    const { path: claimedPath, lens, run } = await claimNewRun();
    expect(await send(method, `${claimedPath}/${path}`, body)).toEqual(
      detail(401, 'Worker credential is invalid or revoked'),
    );
    expect(await asWorker(method, `/lens/worker/none/${String(run['id'])}/${path}`, body)).toEqual(
      detail(404, 'Lens not found'),
    );
    expect(await asWorker(method, `${claimedPath}/${path}`, body, 2)).toEqual(LOST);
    await cancel(lens.id);
    expect(await asWorker(method, `${claimedPath}/${path}`, body)).toEqual(LOST);
  });

  it('lensWorker.claim, lensWorker.sample, lensWorker.content, lensWorker.progress, lensWorker.reviews, lensWorker.heartbeat, lensWorker.model, lensWorker.result 200, lens.revokeWorker 409: a run from claim to result', async () => {
    expect(await asWorker('POST', CLAIM)).toEqual({ status: 200, body: null });
    const { path, lens, run } = await claimNewRun();
    expect(run).toMatchObject({ status: 'running', stage: 'Collecting executions', attempts: 1, worker_id: workerId });
    // A lease lasts five minutes.
    const leaseMs = Date.parse(run['lease_until'] as string) - Date.now();
    expect(leaseMs).toBeGreaterThan(290_000);
    const sample = (await asWorker('GET', `${path}/sample`)).body;
    expect(sample).toMatchObject({ eligible: 12, selected: 12, next_cursor: null });
    const executions = sample['executions'] as readonly Json[];
    const id = String(executions[0]?.['id']);
    const page = (await asWorker('GET', `${path}/content?execution_id=${encodeURIComponent(id)}`)).body;
    expect((page['parts'] as readonly Json[])[0]).toMatchObject({
      execution_id: id,
      kind: 'agent',
      name: 'shop agent',
    });
    expect(await asWorker('GET', `${path}/content?execution_id=other`)).toEqual(
      detail(404, "Execution is outside this job's sample"),
    );
    expect((await asWorker('POST', `${path}/progress`, { stage: 'Reading executions' })).body).toBe(true);
    expect((await asWorker('GET', `${path}/reviews`)).body).toEqual([]);
    expect((await asWorker('POST', `${path}/heartbeat`, {})).body).toBe(true);
    const busy = detail(409, "Wait for this worker's investigation to finish or cancel it before revoking access");
    expect(await send('DELETE', `/lens/workers/${workerId}`)).toEqual(busy);
    const task = { prompt: JSON.stringify({ task: 't', groups: [], observations: 'o1 | a' }), purpose: 'cluster' };
    const first = (await asWorker('POST', `${path}/model`, task)).body;
    expect(first).toMatchObject({ content: expect.stringContaining('groups'), context_exceeded: false });
    expect(first['cost']).toBeGreaterThan(0);
    const callsBefore = judge().calls();
    expect((await asWorker('POST', `${path}/model`, task)).body).toEqual({ ...first, cost: 0 });
    expect(judge().calls()).toBe(callsBefore);
    const assessments = executions.map((execution) => ({ execution_id: execution['id'] }));
    const result = { assessments, findings: [], coverage: { eligible: 12, selected: 12 } };
    const completed = (await asWorker('POST', `${path}/result`, result)).body;
    expect(completed).toMatchObject({ id: lens.id, jobs: [{ status: 'completed', stage: 'Complete' }] });
    expect((await asWorker('POST', `${path}/result`, result)).body).toEqual(completed);
  });

  it('lensWorker.result, lensWorker.progress, lensWorker.model 422: reports that contradict the run', async () => {
    const { path, lens } = await claimNewRun();
    const { body } = await asWorker('GET', `${path}/sample`);
    const ids = (body['executions'] as readonly Json[]).map((execution) => String(execution['id']));
    const assessments = ids.map((id) => ({ execution_id: id }));
    const finding = { title: 'title', description: 'a description', check_id: 'wrong_language', kind: 'issue' };
    const quote = { execution_id: ids[0], span_id: '0000000000000001', quote: 'never said', role: 'support' };
    const report = async (result: object) =>
      asWorker('POST', `${path}/result`, { assessments, findings: [], coverage: {}, ...result });
    expect(await report({ assessments: [] })).toEqual(detail(422, 'Each run must have one assessment'));
    expect(await report({ assessments: [{ execution_id: 'x' }] })).toEqual(
      detail(422, 'Assessment references a run outside this job'),
    );
    expect(
      await report({ assessments: [{ ...assessments[0], issue_checks: ['x'] }, ...assessments.slice(1)] }),
    ).toEqual(detail(422, 'Assessment references an unknown check'));
    expect(await report({ findings: [{ ...finding, evidence: [quote] }] })).toEqual(
      detail(422, 'Evidence quote does not match stored content'),
    );
    expect(await report({ findings: [{ ...finding, evidence: [{ ...quote, execution_id: 'x' }] }] })).toEqual(
      detail(422, 'Finding references evidence outside the job'),
    );
    const review = { execution_id: 'x', trace_id: '', at: '2026-01-01T00:00:00Z' };
    expect(await asWorker('POST', `${path}/progress`, { review })).toEqual(
      detail(422, 'Review references a trace outside this job'),
    );
    expect((await asWorker('POST', `${path}/model`, { prompt: '', purpose: 'extract' })).status).toBe(422);
    await cancel(lens.id);
  });

  it('lensWorker.model 402: a used-up budget', async () => {
    const lens = await create(aLens({ monthly_budget: 0.000001 }));
    const { body } = await asWorker('POST', CLAIM);
    const path = `/lens/worker/${lens.id}/${String((body['job'] as Json)['id'])}`;
    const { status, body: refusal } = await asWorker('POST', `${path}/model`, { prompt: 'p', purpose: 'extract' });
    expect(status).toBe(402);
    expect(refusal).toEqual({
      detail: { lens_error: expect.stringMatching(/^This model request needs up to \$0\.0/) },
    });
    await cancel(lens.id);
  });
});

describe('the key that pays for a worker', () => {
  it('may call a model by an access group; a worker without access leaves the run in the queue', async () => {
    const tokenOf = async (models: readonly string[]): Promise<string> => {
      const { hash } = await key({ models });
      return String((await send('POST', '/lens/workers/register', { analysis_key_id: hash })).body['token']);
    };
    // The access group `reviewers` contains the model of the lens.
    const [groupToken, withoutAccess] = [await tokenOf(['reviewers']), await tokenOf(['other'])];
    const lens = await create(aLens());
    const { body } = await send('POST', CLAIM, {}, groupToken);
    expect(body).toMatchObject({ lens_id: lens.id });
    const path = `/lens/worker/${lens.id}/${String((body['job'] as Json)['id'])}/model`;
    const task = { prompt: JSON.stringify({ task: 't', groups: [], observations: 'o1 | a' }), purpose: 'cluster' };
    expect((await send('POST', path, task, groupToken, { 'x-litellm-lens-attempt': '1' })).status).toBe(200);
    await cancel(lens.id);
    const waiting = await create(aLens());
    expect(await send('POST', CLAIM, {}, withoutAccess)).toEqual({ status: 200, body: null });
    expect((await lensAt(waiting.id)).jobs[0].status).toBe('queued');
    await cancel(waiting.id);
  });
});

/** Backend that fails from its nth model call on, like a killed process. */
function killedAt(backend: LensBackend, nth: number): LensBackend {
  let calls = 0;
  return {
    ...backend,
    async model(...args) {
      calls += 1;
      if (calls >= nth) throw new Error('The worker was killed.');
      return backend.model(...args);
    },
  };
}

async function claimRun(backend: LensBackend): Promise<ClaimedRun> {
  const run = await backend.claim(neverAborted);
  if (run === null) throw new Error('No run was due.');
  return run;
}

describe('a worker on another machine', () => {
  it('completes a run, and repeats no paid call after it was killed', async () => {
    const lens = await create(aLens({ context: 'Be kind.' }));
    const backend = httpBackend(app().url, new Secret(token));
    const run = await claimRun(backend);
    const work = { clock: systemClock, signal: neverAborted };
    const callsBefore = judge().calls();
    await expect(investigate(run, { ...work, backend: killedAt(backend, 6) })).rejects.toThrow(
      'The worker was killed.',
    );
    const paidCallsBefore = judge().calls();
    const { cost } = (await lensAt(lens.id)).jobs[0];
    expect(paidCallsBefore - callsBefore).toBe(5);
    // The same claim continues the run, as a new claim would after the end of the lease.
    await investigate(run, { ...work, backend });
    const completed = await untilRunEnds(lens.id);
    expect(completed.jobs[0]).toMatchObject({ status: 'completed', error: '', coverage: { screened: 12 } });
    expect(completed.findings).toHaveLength(4);
    // Twelve reviews. For each of the four failures, one call for groups and one for an examination.
    const modelCalls = 12 + 4 + 4;
    // The second worker does not repeat the five paid calls of the killed one.
    expect(judge().calls() - paidCallsBefore).toBe(modelCalls - 5);
    expect(completed.jobs[0].cost).toBeGreaterThan(cost);
    await expect(backend.heartbeat({ lensId: lens.id, runId: run.run.id, attempt: 1 }, neverAborted)).rejects.toThrow(
      OwnershipLost,
    );
  });
});
