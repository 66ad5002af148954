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

const CUSTOM = { type: 'custom', item_schema: { type: 'object' } };
const GRADER = { type: 'score_model', name: 'g', model: 'judge' };
const create = (more: Json = {}, key?: string | null) =>
  ask('POST', '/v1/evals', { name: 'e', data_source_config: CUSTOM, testing_criteria: [GRADER], ...more }, key);
const newEval = async (key?: string, name = 'e'): Promise<string> => String((await create({ name }, key))[1]['id']);
const DATA = {
  type: 'completions',
  model: 'tiny',
  source: { type: 'file_content', content: [{ item: { model: 'stays' } }] },
};
const start = (evaluation: string, more: Json = {}, key?: string | null) =>
  ask('POST', `/v1/evals/${evaluation}/runs`, { name: 'r', data_source: DATA, ...more }, key);
const newRun = async (evaluation: string, key?: string, name = 'r'): Promise<string> =>
  String((await start(evaluation, { name }, key))[1]['id']);

const shown = (more: Json = {}): Json => ({
  id: expect.stringMatching(/^eval_[0-9a-f]{32}$/) as string,
  object: 'eval',
  created_at: 1,
  name: 'e',
  data_source_config: CUSTOM,
  testing_criteria: [{ ...GRADER, model: 'judge-1' }],
  ...more,
});
const shownRun = (evaluation: string, more: Json = {}): Json => ({
  id: expect.stringMatching(/^evalrun_[0-9a-f]{32}$/) as string,
  object: 'eval.run',
  eval_id: evaluation,
  created_at: 1,
  name: 'r',
  data_source: { ...DATA, model: 'tiny-1' },
  status: 'queued',
  per_model_usage: null,
  report_url: `https://report.test/${evaluation}`,
  ...more,
});
const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];
const READ_ONLY: Answer = [403, { error: expect.objectContaining({ code: '403' }) as Json }];
const notFound = (message: string): Answer => [
  404,
  { error: { message, type: 'not_found_error', param: null, code: '404' } },
];
const noEval = (id: string): Answer => notFound(`Eval with id '${id}' not found.`);
const noRun = (id: string): Answer => notFound(`Eval run with id '${id}' not found.`);
const invalid = (member: string, expected: string): Answer => [
  400,
  {
    error: {
      message: `/evals: Invalid value for parameter '${member}': it must be ${expected}.`,
      type: 'invalid_request_error',
      param: member.split('.').at(-1),
      code: '400',
    },
  },
];
const STORED_CALLS = 'calls that the provider stores are those of all keys';

describe('evals.create', () => {
  it('200: at the account of the models of its graders, with their names at the upstream', async () => {
    expect(await create({ metadata: { a: 'b' }, tags: ['t'] })).toEqual([200, shown()]);
    const sent = server.upstream.received.at(-1);
    expect([sent?.path, sent?.authorization]).toEqual(['/v1/evals', 'Bearer sk-object-account']);
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      name: 'e',
      data_source_config: CUSTOM,
      testing_criteria: [{ ...GRADER, model: 'judge-1' }],
      metadata: { a: 'b' },
    });
    expect((await create({ testing_criteria: [], model: 'elsewhere' }))[0]).toBe(200);
    expect(server.upstream.received.at(-1)?.authorization).toBe('Bearer sk-other-account');
    expect((await ask('POST', '/evals', { data_source_config: CUSTOM }))[0]).toBe(200);
  });

  it('400: stored calls, an unknown model, a grader at another account, a refusal of the upstream', async () => {
    for (const type of ['logs', 'stored_completions'])
      expect(await create({ data_source_config: { type } })).toEqual(
        invalid('data_source_config.type', `'custom': ${STORED_CALLS}`),
      );
    expect((await create({ testing_criteria: [{ ...GRADER, model: 'nope' }] }))[0]).toBe(400);
    expect((await create({ model: 'elsewhere' }))[0]).toBe(400);
    expect((await create({ name: 'status:400' }))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await create({}, null)).toEqual(NO_KEY);
  });

  it('403: the model of a grader that the key may not call, and read-only keys', async () => {
    const limited = await server.newKey({ models: ['tiny'] });
    expect((await create({}, limited))[0]).toBe(403);
    expect((await create({ model: 'tiny' }, limited))[0]).toBe(403);
    expect(await create({}, server.viewer)).toEqual(READ_ONLY);
  });

  it('404: an error of the upstream with this status', async () => {
    expect((await create({ name: 'status:404' }))[0]).toBe(404);
  });

  it('422: a used-up budget; 429: the limit of the key', async () => {
    const poor = await server.newKey({ max_budget: 0.03 });
    expect((await ask('POST', '/v1/containers', { name: 'c' }, poor))[0]).toBe(200);
    await expect.poll(async () => (await create({}, poor))[0], POLLING).toBe(422);
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await create({}, slow))[0]).toBe(200);
    expect((await create({}, slow))[0]).toBe(429);
  });

  it('500: an error of the upstream', async () => {
    expect((await create({ name: 'status:500' }))[0]).toBe(500);
  });
});

describe('one evaluation', () => {
  it('evals.get 200, evals.update 200 and evals.delete 200: its state, its new name, and its end', async () => {
    const id = await newEval();
    expect(await ask('GET', `/v1/evals/${id}`)).toEqual([200, shown({ id })]);
    expect(await ask('POST', `/v1/evals/${id}`, { name: 'new' })).toEqual([200, shown({ id, name: 'new' })]);
    expect(await ask('GET', `/evals/${id}`, undefined, server.app.adminKey)).toEqual([200, shown({ id, name: 'new' })]);
    expect(await ask('DELETE', `/v1/evals/${id}`)).toEqual([
      200,
      { id, object: 'eval.deleted', deleted: true, eval_id: id },
    ]);
    expect(await ask('GET', `/v1/evals/${id}`)).toEqual(noEval(id));
  });
});

describe('evals.update', () => {
  it('400: no JSON', async () => {
    expect((await ask('POST', `/v1/evals/${await newEval()}`, []))[0]).toBe(400);
  });
});

describe('evals.list', () => {
  it('200: the evaluations of the caller, newest first, in pages', async () => {
    const key = await server.newKey();
    const [first, second] = [await newEval(key), await newEval(key)];
    expect(await ask('GET', '/v1/evals?limit=1&order_by=created_at', undefined, key)).toEqual([
      200,
      { object: 'list', data: [shown({ id: second })], first_id: second, last_id: second, has_more: true },
    ]);
    expect((await ask('GET', `/evals?after=${second}`, undefined, key))[1]['data']).toEqual([shown({ id: first })]);
    expect((await ask('GET', '/v1/evals', undefined, await server.newKey()))[1]['data']).toEqual([]);
  });

  it('400: another order; 401: no key', async () => {
    expect((await ask('GET', '/v1/evals?order_by=updated_at'))[0]).toBe(400);
    expect(await ask('GET', '/v1/evals', undefined, null)).toEqual(NO_KEY);
  });
});

describe('evalRuns.create', () => {
  it('200: at the upstream of the evaluation, with the names of the upstream', async () => {
    const id = await newEval();
    expect(await start(id, { tags: ['t'] })).toEqual([200, shownRun(id)]);
    const sent = server.upstream.received.findLast(({ path }) => path.endsWith('/runs'));
    expect(sent?.path).toMatch(/^\/v1\/evals\/eval_up\d+\/runs$/);
    expect(JSON.parse(sent?.body ?? '')).toEqual({ name: 'r', data_source: { ...DATA, model: 'tiny-1' } });
  });

  it('200: with the data of a file of the caller', async () => {
    const id = await newEval();
    const file = await server.newFile();
    const source = { type: 'file_id', id: file };
    const data = { type: 'jsonl', source };
    expect(await start(id, { data_source: data })).toEqual([200, shownRun(id, { data_source: data })]);
    // The background reads open runs, so the last request may be another one.
    const sent = server.upstream.received.findLast(({ path }) => path.endsWith('/runs'));
    expect(sent?.body).toMatch(/"id":"file-up\d+"/);
  });

  it('400: stored calls, no data, a file id or model of another type, a refusal of the upstream', async () => {
    const id = await newEval();
    const withData = (data: unknown) => start(id, { data_source: data });
    const stored = invalid('data_source.source.type', `'file_content' or 'file_id': ${STORED_CALLS}`);
    for (const type of ['stored_completions', 'responses'])
      expect(await withData({ ...DATA, source: { type } })).toEqual(stored);
    expect(await withData(null)).toEqual(invalid('data_source', 'an object'));
    expect(await withData({ source: { type: 'file_id', id: 3 } })).toEqual(
      invalid('data_source.source.id', 'the id of a file'),
    );
    expect(await withData({ ...DATA, model: 3 })).toEqual(invalid('data_source.model', 'a string'));
    expect((await withData({ ...DATA, model: 'elsewhere' }))[0]).toBe(400);
    expect((await start(id, { name: 'status:400' }))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await start('x', {}, null)).toEqual(NO_KEY);
  });

  it('403: a model of the run or of its evaluation that the key may not call, and read-only keys', async () => {
    const [, team] = await ask('POST', '/team/new', { team_alias: 'evals' }, server.app.adminKey);
    const id = await newEval(await server.newKey({ team_id: team['team_id'] }));
    for (const models of [['judge'], ['tiny']]) {
      const limited = await server.newKey({ team_id: team['team_id'], models });
      expect((await start(id, {}, limited))[0]).toBe(403);
    }
    expect(await start(id, {}, server.viewer)).toEqual(READ_ONLY);
  });

  it('404: an unknown evaluation, that of another key, and the file of another key', async () => {
    const id = await newEval();
    expect(await start('eval_nope')).toEqual(noEval('eval_nope'));
    expect(await start(id, {}, server.stranger)).toEqual(noEval(id));
    const file = await server.newFile(server.stranger);
    expect(await start(id, { data_source: { type: 'jsonl', source: { type: 'file_id', id: file } } })).toEqual(
      notFound(`No such File object: ${file}`),
    );
  });

  it('422: a used-up budget; 429: the limit of the key', async () => {
    const poor = await server.newKey({ max_budget: 0.03 });
    const own = await newEval(poor);
    expect((await ask('POST', '/v1/containers', { name: 'c' }, poor))[0]).toBe(200);
    await expect.poll(async () => (await start(own, {}, poor))[0], POLLING).toBe(422);
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await start(await newEval(slow), {}, slow))[0]).toBe(429);
  });

  it('500: an error of the upstream', async () => {
    expect((await start(await newEval(), { name: 'status:500' }))[0]).toBe(500);
  });
});

describe('one run', () => {
  it('evalRuns.get 200, evalRuns.cancel 200 and evalRuns.delete 200: its state, and its end', async () => {
    const id = await newEval();
    const run = await newRun(id);
    const path = `/v1/evals/${id}/runs/${run}`;
    expect(await ask('GET', path)).toEqual([200, shownRun(id, { id: run })]);
    expect(await ask('POST', `${path}/cancel`)).toEqual([
      200,
      shownRun(id, { id: run, status: 'canceled', per_model_usage: [] }),
    ]);
    expect(await ask('DELETE', path)).toEqual([
      200,
      { id: run, object: 'eval.run.deleted', deleted: true, run_id: run },
    ]);
    expect(await ask('GET', path)).toEqual(noRun(run));
  });

  it('evalRuns.delete 400 and evals.delete 400: a run that has not ended', async () => {
    const id = await newEval();
    const run = await newRun(id);
    const message = `The run ${run} has not ended: cancel it first.`;
    const open = [400, { error: { message, type: 'invalid_request_error', param: null, code: '400' } }];
    expect(await ask('DELETE', `/v1/evals/${id}/runs/${run}`)).toEqual(open);
    expect(await ask('DELETE', `/v1/evals/${id}`)).toEqual(open);
    expect((await ask('POST', `/v1/evals/${id}/runs/${run}/cancel`))[0]).toBe(200);
    expect((await ask('DELETE', `/v1/evals/${id}`))[0]).toBe(200);
  });

  it('evalRunItems.list 200 and evalRunItems.get 200: results with the ids of the gateway', async () => {
    const id = await newEval();
    const run = await newRun(id);
    const path = `/v1/evals/${id}/runs/${run}/output_items`;
    const item = { id: 'outputitem_1', object: 'eval.run.output_item', eval_id: id, run_id: run, status: 'pass' };
    expect(await ask('GET', `${path}?status=fail`)).toEqual([
      200,
      { object: 'list', data: [item], first_id: 'outputitem_1', last_id: 'outputitem_1', has_more: false },
    ]);
    expect(server.upstream.received.at(-1)?.search).toBe('?status=fail');
    expect(await ask('GET', `${path}/outputitem_1`)).toEqual([200, item]);
  });
});

describe('evalRuns.list', () => {
  it('200: the runs of one evaluation, newest first', async () => {
    const [id, another] = [await newEval(), await newEval()];
    const runs = [await newRun(id), await newRun(id)];
    await newRun(another);
    const [, { data }] = await ask('GET', `/v1/evals/${id}/runs`);
    expect(data).toEqual(runs.toReversed().map((run) => shownRun(id, { id: run })));
  });

  it('400: a filter; 401: no key; 404: the evaluation of another key', async () => {
    const id = await newEval();
    expect((await ask('GET', `/v1/evals/${id}/runs?status=failed`))[0]).toBe(400);
    expect(await ask('GET', `/v1/evals/${id}/runs`, undefined, null)).toEqual(NO_KEY);
    expect(await ask('GET', `/v1/evals/${id}/runs`, undefined, server.stranger)).toEqual(noEval(id));
  });
});

const ROWS: readonly (readonly [name: string, method: string, end: string])[] = [
  ['evals.get', 'GET', ''],
  ['evals.update', 'POST', ''],
  ['evals.delete', 'DELETE', ''],
  ['evalRuns.get', 'GET', '/runs/:run'],
  ['evalRuns.cancel', 'POST', '/runs/:run/cancel'],
  ['evalRuns.delete', 'DELETE', '/runs/:run'],
  ['evalRunItems.list', 'GET', '/runs/:run/output_items'],
  ['evalRunItems.get', 'GET', '/runs/:run/output_items/outputitem_1'],
];
const bodyOf = (method: string): Json | undefined => (method === 'POST' ? {} : undefined);

describe('rows about one evaluation or run', () => {
  it.each(ROWS)('%s 401: no key', async (_name, method, end) => {
    expect(await ask(method, `/v1/evals/x${end.replace(':run', 'y')}`, bodyOf(method), null)).toEqual(NO_KEY);
  });

  it.each(ROWS.filter(([, method]) => method !== 'GET'))('%s 403: read-only keys', async (_name, method, end) => {
    expect(await ask(method, `/v1/evals/x${end.replace(':run', 'y')}`, bodyOf(method), server.viewer)).toEqual(
      READ_ONLY,
    );
  });

  it.each(ROWS)('%s 404: an unknown object, and that of another key', async (_name, method, end) => {
    const id = await newEval();
    const run = await newRun(id);
    const before = server.upstream.received.length;
    const isRun = end.startsWith('/runs');
    const at = (evaluation: string, runId: string, key?: string) =>
      ask(method, `/v1/evals/${evaluation}${end.replace(':run', runId)}`, bodyOf(method), key);
    expect(await at(id, run, server.stranger)).toEqual(isRun ? noRun(run) : noEval(id));
    expect(await at('eval_nope', 'evalrun_nope')).toEqual(isRun ? noRun('evalrun_nope') : noEval('eval_nope'));
    expect(server.upstream.received.length).toBe(before);
  });

  it('404: a run below another evaluation', async () => {
    const [id, another] = [await newEval(), await newEval()];
    const run = await newRun(id);
    expect(await ask('GET', `/v1/evals/${another}/runs/${run}`)).toEqual(noRun(run));
  });

  it.each(ROWS)('%s 500: an error of the upstream', async (_name, method, end) => {
    const isRun = end.startsWith('/runs');
    const id = await newEval(undefined, isRun ? 'e' : 'broken');
    const run = isRun ? await newRun(id, undefined, 'broken') : '';
    const [status, body] = await ask(method, `/v1/evals/${id}${end.replace(':run', run)}`, bodyOf(method));
    expect([status, body]).toEqual([
      500,
      { error: expect.objectContaining({ message: expect.stringContaining('broken') as string, code: '500' }) as Json },
    ]);
  });
});
