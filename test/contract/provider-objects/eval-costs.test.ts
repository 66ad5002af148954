import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Answer, type Json, type ObjectServer, startObjectServer } from './object-server.ts';

let server: ObjectServer;
const ask = (method: string, path: string, body?: unknown, key?: string | null): Promise<Answer> =>
  server.ask(method, path, body, key);

beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

describe('a run of an evaluation', () => {
  it('is charged when it has ended and is deleted before anyone reads it', async () => {
    const key = await server.newKey();
    const config = { data_source_config: { type: 'custom' }, testing_criteria: [] };
    const [, evaluation] = await ask('POST', '/v1/evals', { ...config, model: 'tiny' }, key);
    const runs = `/v1/evals/${String(evaluation['id'])}/runs`;
    const data = { type: 'completions', model: 'tiny', source: { type: 'file_content', content: [] } };
    const [, run] = await ask('POST', runs, { name: 'ends', data_source: data }, key);
    expect((await ask('DELETE', `${runs}/${String(run['id'])}`, undefined, key))[0]).toBe(200);
    const spend = async () =>
      ((await ask('GET', `/key/info?key=${key}`, undefined, server.app.adminKey))[1]['info'] as Json)['spend'];
    await expect.poll(spend, POLLING).toBeGreaterThan(0);
  });

  it('is charged once, for the usage of its models, when it has ended', async () => {
    const key = await server.newKey();
    const grader = { type: 'score_model', name: 'g', model: 'judge' };
    const config = { data_source_config: { type: 'custom' }, testing_criteria: [grader] };
    const [, evaluation] = await ask('POST', '/v1/evals', config, key);
    const runs = `/v1/evals/${String(evaluation['id'])}/runs`;
    const source = { type: 'file_content', content: [] };
    const data = { type: 'completions', model: 'tiny', source };
    const [, run] = await ask('POST', runs, { name: 'ends', data_source: data }, key);
    const path = `${runs}/${String(run['id'])}`;
    expect((await ask('GET', path, undefined, key))[1]['status']).toBe('completed');
    await ask('GET', path, undefined, key);
    const rows = async () => {
      const answer = await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, server.app.adminKey);
      return (answer[1] as unknown as readonly Json[]).filter(({ spend }) => Number(spend) > 0);
    };
    await expect.poll(async () => (await rows()).length, POLLING).toBe(2);
    const charged = (await rows()).map((row) => [row['call_type'], row['model_group'], row['spend']]);
    expect(new Set(charged)).toEqual(
      new Set([
        ['aget_run', 'judge', 4],
        ['aget_run', 'tiny', 2],
      ]),
    );
    const spend = async () =>
      ((await ask('GET', `/key/info?key=${key}`, undefined, server.app.adminKey))[1]['info'] as Json)['spend'];
    await expect.poll(spend, POLLING).toBe(6);
  });

  it('is charged once when its usage is known after it was cancelled; until then it cannot be deleted', async () => {
    const key = await server.newKey();
    const config = { data_source_config: { type: 'custom' }, testing_criteria: [], model: 'tiny' };
    const [, evaluation] = await ask('POST', '/v1/evals', config, key);
    const runs = `/v1/evals/${String(evaluation['id'])}/runs`;
    const data = { type: 'completions', model: 'tiny', source: { type: 'file_content', content: [] } };
    const [, run] = await ask('POST', runs, { name: 'late', data_source: data }, key);
    const upstreamId = server.upstream.ids().findLast((one) => one.startsWith('evalrun_')) ?? '';
    const path = `${runs}/${String(run['id'])}`;
    const cancelled = await ask('POST', `${path}/cancel`, undefined, key);
    expect(cancelled).toEqual([200, { ...run, status: 'canceled' }]);
    expect(await ask('GET', path, undefined, key)).toEqual(cancelled);
    const message = `The cost of the run ${String(run['id'])} is not recorded yet: try again later.`;
    expect(await ask('DELETE', path, undefined, key)).toEqual([
      400,
      { error: { message, type: 'invalid_request_error', param: null, code: '400' } },
    ]);
    const used = { model_name: 'tiny-1', invocation_count: 1, prompt_tokens: 1000, completion_tokens: 100 };
    server.upstream.update(upstreamId, { per_model_usage: [used] });
    for (let read = 0; read < 2; read += 1) expect((await ask('GET', path, undefined, key))[0]).toBe(200);
    expect((await ask('GET', runs, undefined, key))[0]).toBe(200);
    expect((await ask('DELETE', path, undefined, key))[0]).toBe(200);
    const rows = async () => {
      const answer = await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, server.app.adminKey);
      return (answer[1] as unknown as readonly Json[]).filter(({ spend }) => Number(spend) > 0);
    };
    await expect.poll(async () => (await rows()).map(({ spend }) => spend), POLLING).toEqual([2]);
  });
});
