import { expect, it } from 'vitest';
import { syntheticRuns } from '../../../bench/lens/runs.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { aLens, lensClient } from '../../support/lens-client.ts';
import type { Json } from '../../support/tenancy-client.ts';

const { send, ingest, create, key, lensAt } = lensClient();

async function claimedRun() {
  const { hash } = await key({});
  const { body: worker } = await send('POST', '/lens/workers/register', { analysis_key_id: hash, name: 'far' });
  const asWorker = (method: string, path: string, body?: unknown) =>
    send(method, path, body, String(worker['token']), { 'x-litellm-lens-attempt': '1' });
  const lens = await create(aLens());
  const { body } = await asWorker('POST', `/lens/worker/claim?protocol_version=7&worker_release=${VERSION}`);
  return { asWorker, lens, path: `/lens/worker/${lens.id}/${String((body['job'] as Json)['id'])}` };
}

it('lensWorker.progress 200: a report that is sent again counts each review once', async () => {
  await ingest(syntheticRuns(3, 3));
  const { asWorker, lens, path } = await claimedRun();
  const sample = (await asWorker('GET', `${path}/sample`)).body['executions'] as readonly Json[];
  const reviewOf = (index: number) => ({
    execution_id: sample[index]?.['id'],
    trace_id: '',
    at: '2026-01-01T00:00:00Z',
  });
  expect((await asWorker('POST', `${path}/progress`, { review: reviewOf(0) })).status).toBe(200);
  const both = { review: reviewOf(0), reviews: [reviewOf(1)] };
  expect((await asWorker('POST', `${path}/progress`, both)).status).toBe(200);
  expect((await lensAt(lens.id)).jobs[0]).toMatchObject({ reviewed: 2 });
  await send('POST', `/lens/${lens.id}/cancel`, {});
});

it('lensWorker.progress 200: a report of one activity replaces that activity, and removes it when it is finished', async () => {
  const { asWorker, lens, path } = await claimedRun();
  const activity = (id: string, further: object = {}) => ({
    id,
    phase: 'review',
    label: `Task ${id}`,
    execution_ids: ['e'],
    started_at: '2026-01-01T00:00:00Z',
    operations: 0,
    tool_calls: 0,
    finished: false,
    ...further,
  });
  const report = async (body: object) => {
    expect(await asWorker('POST', `${path}/progress`, body)).toEqual({ status: 200, body: true });
    return (await lensAt(lens.id)).jobs[0]?.['activities'];
  };
  expect(await report({ activity: activity('a') })).toEqual([activity('a')]);
  expect(await report({ activity: activity('b') })).toEqual([activity('a'), activity('b')]);
  const later = activity('b', { operations: 3 });
  expect(await report({ activity: later })).toEqual([activity('a'), later]);
  expect(await report({ activity: activity('a', { finished: true }) })).toEqual([later]);
  expect(await report({ activity: null })).toEqual([later]);
  const { status } = await asWorker('POST', `${path}/progress`, { activity: { id: 'c' } });
  expect(status).toBe(422);
  await send('POST', `/lens/${lens.id}/cancel`, {});
});
