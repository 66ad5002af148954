import { beforeAll, describe, expect, it } from 'vitest';
import { syntheticRuns } from '../../../bench/lens/runs.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { aLens, lensClient } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, app, ingest, create, key, lensAt } = lensClient();
const CLAIM = `/lens/worker/claim?protocol_version=7&worker_release=${VERSION}`;

const detail = (status: number, text: string) => ({ status, body: { detail: text } });

let token = '';
beforeAll(async () => {
  await ingest(syntheticRuns(4, 9));
  const { hash } = await key({});
  token = String((await send('POST', '/lens/workers/register', { analysis_key_id: hash })).body['token']);
});

const asWorker = (method: string, path: string, body: unknown = {}, attempt = 1) =>
  send(method, path, method === 'GET' ? undefined : body, token, { 'x-litellm-lens-attempt': String(attempt) });

/** Ends the lease of a run, as it ends five minutes after the last heartbeat of its worker. */
async function endLease(runId: string): Promise<void> {
  // `due_at` of a running job is the end of its lease.
  const sql = "update job set due_at = 1 where id = ? and status = 'running'";
  expect(await changeInOtherProcess(app().dataDir, sql, runId)).toBe(1);
}

describe('a run whose worker is lost', () => {
  it('continues with another attempt, and the former worker loses its lease', async () => {
    const lens = await create(aLens());
    const runId = lens.jobs[0].id;
    const path = `/lens/worker/${lens.id}/${runId}`;
    await asWorker('POST', CLAIM);
    const sample = (await asWorker('GET', `${path}/sample`)).body;
    await endLease(runId);
    const secondClaim = (await asWorker('POST', CLAIM)).body;
    expect(secondClaim['job']).toMatchObject({
      id: runId,
      status: 'running',
      stage: 'Collecting executions',
      attempts: 2,
    });
    expect((await asWorker('GET', `${path}/sample`, undefined, 2)).body).toEqual(sample);
    for (const call of ['heartbeat', 'progress'])
      expect(await asWorker('POST', `${path}/${call}`)).toEqual(detail(409, 'This worker no longer owns the job'));
    expect((await asWorker('POST', `${path}/heartbeat`, {}, 2)).body).toBe(true);
    await send('POST', `/lens/${lens.id}/cancel`, {});
  });

  it('fails after three lost workers, and the schedule continues', async () => {
    const lens = await create(aLens({ enabled: true, interval_minutes: 60 }));
    const runId = lens.jobs[0].id;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect((await asWorker('POST', CLAIM)).body['job']).toMatchObject({ id: runId, attempts: attempt });
      await endLease(runId);
    }
    expect((await asWorker('POST', CLAIM)).body).toBeNull();
    const failed = await lensAt(lens.id);
    expect(failed).toMatchObject({
      last_scan_at: null,
      jobs: [{ status: 'failed', stage: 'Failed', error: 'Worker disconnected repeatedly', attempts: 3 }],
    });
    expect(Date.parse(String(failed['next_run_at'])) - Date.now()).toBeGreaterThan(59 * 60_000);
    const { jobs } = (await send('POST', `/lens/${lens.id}/runs`, {})).body as unknown as typeof lens;
    expect(jobs[0]).toMatchObject({ status: 'queued', stage: 'Queued' });
    expect(jobs[0].id).not.toBe(runId);
    await send('PUT', `/lens/${lens.id}`, aLens());
    await send('POST', `/lens/${lens.id}/cancel`, {});
  });
});

describe('a lens that is edited while it runs', () => {
  it('completes with the settings of its run, and keeps its new settings', async () => {
    const lens = await create(aLens({ context: 'The old rule.', checks: [], enabled: true }));
    const path = `/lens/worker/${lens.id}/${lens.jobs[0].id}`;
    await asWorker('POST', CLAIM);
    const executions = (await asWorker('GET', `${path}/sample`)).body['executions'] as readonly Json[];
    const checks = [{ id: 'new_rule', instruction: 'A new rule.' }];
    const edited = await send('PUT', `/lens/${lens.id}`, aLens({ checks, model: 'judge' }));
    expect(edited.body).toMatchObject({ revision: 2, jobs: [{ status: 'running', revision: 1 }] });
    const assessments = executions.map((execution) => ({
      execution_id: execution['id'],
      issue_checks: ['new_rule'],
    }));
    const result = { assessments, findings: [], coverage: { eligible: 4, selected: 4 } };
    expect(await asWorker('POST', `${path}/result`, result)).toEqual(
      detail(422, 'Assessment references an unknown check'),
    );
    const valid = assessments.map((assessment) => ({ ...assessment, issue_checks: ['expected_behavior'] }));
    expect((await asWorker('POST', `${path}/result`, { ...result, assessments: valid })).body).toMatchObject({
      revision: 2,
      settings: { checks: [{ id: 'new_rule' }] },
      // The criteria changed during the run, so the next scheduled run scans earlier traces again.
      last_scan_at: null,
      jobs: [{ status: 'completed', stage: 'Complete', revision: 1, settings: { context: 'The old rule.' } }],
    });
  });

  it('calls the model of its run, also after the lens gets another model', async () => {
    const lens = await create(aLens());
    const path = `/lens/worker/${lens.id}/${lens.jobs[0].id}`;
    await asWorker('POST', CLAIM);
    await asWorker('GET', `${path}/sample`);
    expect((await send('PUT', `/lens/${lens.id}`, aLens({ model: 'demo' }))).status).toBe(200);
    const prompt = JSON.stringify({ task: 't', groups: [], observations: 'o1 | a' });
    // The model `judge` of the run has a price. The model `demo` is free.
    const { body } = await asWorker('POST', `${path}/model`, { prompt, purpose: 'cluster' });
    expect(body['cost']).toBeGreaterThan(0);
    await send('POST', `/lens/${lens.id}/cancel`, {});
    expect(await asWorker('POST', `${path}/model`, { prompt, purpose: 'extract' })).toMatchObject({ status: 409 });
  });
});
