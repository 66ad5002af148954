import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { type Answer, type Json, type ObjectServer, startObjectServer } from './object-server.ts';

let server: ObjectServer;
let file: string;
const PATH = '/v1/fine_tuning/jobs';
const ask = (method: string, path: string, body?: unknown, key?: string | null): Promise<Answer> =>
  server.ask(method, path, body, key);

beforeAll(async () => {
  server = await startObjectServer();
  file = await server.newFile();
});
afterAll(() => server.stop());

const create = (more: Json = {}, key?: string | null) =>
  ask('POST', PATH, { model: 'tiny', training_file: file, ...more }, key);
const newJob = async (suffix?: string): Promise<string> =>
  String((await create(suffix === undefined ? {} : { suffix }))[1]['id']);

const shown = (more: Json = {}): Json => ({
  id: expect.stringMatching(/^ftjob-[0-9a-f]{32}$/) as string,
  object: 'fine_tuning.job',
  created_at: 1,
  status: 'queued',
  model: 'tiny-1',
  training_file: file,
  validation_file: null,
  result_files: [],
  suffix: null,
  ...more,
});
const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];
const READ_ONLY: Answer = [403, { error: expect.objectContaining({ code: '403' }) as Json }];
const notFound = (message: string): Answer => [
  404,
  { error: { message, type: 'not_found_error', param: null, code: '404' } },
];
const noJob = (id: string): Answer => notFound(`Fine-tuning job with id '${id}' not found.`);
const invalid = (message: string, param: string | null): Answer => [
  400,
  { error: { message, type: 'invalid_request_error', param, code: '400' } },
];

describe('fineTuningJobs.create', () => {
  it('200: a job where its file is, with the names of the upstream, under an id of the gateway', async () => {
    const validation = await server.newFile();
    const [status, job] = await create({ validation_file: validation, metadata: { a: 'b' }, tags: ['t'] });
    expect([status, job]).toEqual([200, shown({ validation_file: validation })]);
    const sent = server.upstream.received.at(-1);
    expect([sent?.path, sent?.authorization]).toEqual([PATH, 'Bearer sk-object-account']);
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      model: 'tiny-1',
      training_file: expect.stringMatching(/^file-up\d+$/) as string,
      validation_file: expect.stringMatching(/^file-up\d+$/) as string,
      metadata: { a: 'b' },
    });
  });

  it('200: graders have the models of the upstream', async () => {
    const grader = { type: 'multi', graders: { a: { type: 'score_model', model: 'judge' }, b: { type: 'python' } } };
    const method = { type: 'reinforcement', reinforcement: { grader } };
    expect((await create({ method }))[0]).toBe(200);
    const sent = JSON.parse(server.upstream.received.at(-1)?.body ?? '') as Json;
    expect(sent['method']).toEqual({
      type: 'reinforcement',
      reinforcement: {
        grader: { type: 'multi', graders: { a: { type: 'score_model', model: 'judge-1' }, b: { type: 'python' } } },
      },
    });
  });

  it('400: a missing model or file, one of another type, an unknown model, a refusal of the upstream', async () => {
    const missing = (member: string) => invalid(`/fine_tuning/jobs: Missing required parameter: '${member}'.`, member);
    const noModel = "/fine_tuning/jobs: Missing required parameter: 'model'.";
    expect((await create({ model: null }))[1]).toEqual({
      error: expect.objectContaining({ message: noModel }) as Json,
    });
    expect(await create({ training_file: '' })).toEqual(missing('training_file'));
    const type = (member: string) =>
      invalid(`/fine_tuning/jobs: Invalid type for parameter '${member}': it must be a string.`, member);
    expect((await create({ model: 3 }))[0]).toBe(400);
    expect(await create({ validation_file: 3 })).toEqual(type('validation_file'));
    expect((await create({ model: 'nope' }))[0]).toBe(400);
    expect((await create({ model: 'elsewhere' }))[1]).toMatchObject({
      error: { message: expect.stringContaining('The model elsewhere is not at the upstream of this file.') as string },
    });
    expect((await create({ suffix: 'status:400' }))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await create({}, null)).toEqual(NO_KEY);
  });

  it('403: a model or the model of a grader that the key may not call, and read-only keys', async () => {
    const limited = await server.newKey({ models: ['tiny'] });
    const own = await server.newFile(limited);
    const before = server.upstream.received.length;
    expect((await create({ training_file: own, model: 'judge' }, limited))[0]).toBe(403);
    const method = { type: 'reinforcement', reinforcement: { grader: { type: 'score_model', model: 'judge' } } };
    expect((await create({ training_file: own, method }, limited))[0]).toBe(403);
    expect(await create({}, server.viewer)).toEqual(READ_ONLY);
    expect(server.upstream.received.length).toBe(before);
  });

  it('404: a file of another key', async () => {
    const other = await server.newFile(server.stranger);
    const noFile = notFound(`No such File object: ${other}`);
    expect(await create({ training_file: other })).toEqual(noFile);
    expect(await create({ validation_file: other })).toEqual(noFile);
  });

  it('422: a used-up budget; 429: the limit of the key', async () => {
    const poor = await server.newKey({ max_budget: 0.03 });
    const ofPoor = await server.newFile(poor);
    expect((await ask('POST', '/v1/containers', { name: 'c' }, poor))[0]).toBe(200);
    await expect.poll(async () => (await create({ training_file: ofPoor }, poor))[0], POLLING).toBe(422);
    const slow = await server.newKey({ rpm_limit: 1 });
    const own = await server.newFile(slow);
    expect((await create({ training_file: own }, slow))[0]).toBe(429);
  });

  it('500: an error of the upstream', async () => {
    expect((await create({ suffix: 'status:500' }))[0]).toBe(500);
  });
});

const ROWS: readonly (readonly [name: string, method: string, end: string])[] = [
  ['fineTuningJobs.get', 'GET', ''],
  ['fineTuningJobs.cancel', 'POST', '/cancel'],
  ['fineTuningJobs.pause', 'POST', '/pause'],
  ['fineTuningJobs.resume', 'POST', '/resume'],
  ['fineTuningJobs.events', 'GET', '/events'],
  ['fineTuningJobs.checkpoints', 'GET', '/checkpoints'],
];

describe('rows about one job', () => {
  it.each(ROWS)('%s 401: no key', async (_name, method, end) => {
    expect(await ask(method, `${PATH}/x${end}`, undefined, null)).toEqual(NO_KEY);
  });

  it.each(ROWS)('%s 404: an unknown job, that of another key, and the id of the upstream', async (...row) => {
    const [, method, end] = row;
    const id = await newJob();
    const upstreamId = server.upstream.ids().find((one) => one.startsWith('ftjob-')) ?? '';
    const before = server.upstream.received.length;
    for (const [named, key] of [
      ['ftjob-nope', server.owner],
      [id, server.stranger],
      [upstreamId, server.owner],
    ] as const)
      expect(await ask(method, `${PATH}/${named}${end}`, undefined, key)).toEqual(noJob(named));
    expect(server.upstream.received.length).toBe(before);
  });

  it.each(ROWS.filter(([, method]) => method !== 'GET'))('%s 403: read-only keys', async (_name, method, end) => {
    expect(await ask(method, `${PATH}/x${end}`, undefined, server.viewer)).toEqual(READ_ONLY);
  });

  it.each(ROWS)('%s 500: an error of the upstream', async (_name, method, end) => {
    expect(await ask(method, `${PATH}/${await newJob('broken')}${end}`)).toEqual([
      500,
      { error: expect.objectContaining({ message: expect.stringContaining('broken') as string, code: '500' }) as Json },
    ]);
  });

  it.each([
    ['fineTuningJobs.get', 'GET', '', 'queued'],
    ['fineTuningJobs.cancel', 'POST', '/cancel', 'cancelled'],
    ['fineTuningJobs.pause', 'POST', '/pause', 'paused'],
    ['fineTuningJobs.resume', 'POST', '/resume', 'queued'],
  ])('%s 200: the state afterwards', async (_name, method, end, status) => {
    const id = await newJob();
    expect(await ask(method, `${PATH}/${id}${end}`)).toEqual([200, shown({ id, status })]);
    expect(await ask('GET', `/fine_tuning/jobs/${id}`, undefined, server.app.adminKey)).toEqual([
      200,
      shown({ id, status }),
    ]);
  });

  it('fineTuningJobs.events 200: events, whose messages have the id of the gateway', async () => {
    const id = await newJob();
    const event = { id: 'ftevent-1', object: 'fine_tuning.job.event', created_at: 1, level: 'info' };
    expect(await ask('GET', `${PATH}/${id}/events?limit=5`)).toEqual([
      200,
      {
        object: 'list',
        data: [{ ...event, message: `Created fine-tuning job: ${id}` }],
        first_id: 'ftevent-1',
        last_id: 'ftevent-1',
        has_more: false,
      },
    ]);
    expect(server.upstream.received.at(-1)?.search).toBe('?limit=5');
  });

  it('fineTuningJobs.checkpoints 200: checkpoints of the job', async () => {
    const id = await newJob();
    const [status, { data }] = await ask('GET', `${PATH}/${id}/checkpoints`);
    expect([status, data]).toEqual([
      200,
      [
        {
          id: 'ftckpt_1',
          object: 'fine_tuning.job.checkpoint',
          created_at: 1,
          step_number: 1,
          fine_tuning_job_id: id,
          fine_tuned_model_checkpoint: 'ft:x',
          metrics: {},
        },
      ],
    ]);
  });
});

describe('result files', () => {
  it('belong to the owner of the job, under ids of the gateway', async () => {
    const id = await newJob('ends');
    const [, job] = await ask('GET', `${PATH}/${id}`);
    const results = [expect.stringMatching(/^file-[0-9a-f]{32}$/)];
    const ended = { status: 'succeeded', fine_tuned_model: 'ft:x', suffix: 'ends', result_files: results };
    expect(job).toEqual(shown({ id, ...ended }));
    const [result] = job['result_files'] as readonly string[];
    const read = (key: string) =>
      fetch(`${server.app.url}/v1/files/${result}/content`, { headers: { authorization: `Bearer ${key}` } });
    expect(await (await read(server.owner)).text()).toBe('step,loss\n');
    expect((await read(server.stranger)).status).toBe(404);
  });
});

describe('fineTuningJobs.list', () => {
  it('200: the jobs of the caller, newest first, in pages', async () => {
    const key = await server.newKey();
    const own = await server.newFile(key);
    const start = async () => String((await create({ training_file: own }, key))[1]['id']);
    const [first, second] = [await start(), await start()];
    const job = (id: string): Json => shown({ id, training_file: own });
    expect(await ask('GET', `${PATH}?limit=1`, undefined, key)).toEqual([
      200,
      { object: 'list', data: [job(second)], first_id: second, last_id: second, has_more: true },
    ]);
    expect((await ask('GET', `/fine_tuning/jobs?after=${second}`, undefined, key))[1]['data']).toEqual([job(first)]);
    expect((await ask('GET', PATH, undefined, await server.newKey()))[1]['data']).toEqual([]);
  });

  it('400: a filter of metadata, and a limit that is no number; 401: no key', async () => {
    const filter =
      "/fine_tuning/jobs: Invalid value for parameter 'metadata[a]': it must be absent: lists of the gateway do not have it.";
    expect(await ask('GET', `${PATH}?metadata[a]=b`)).toEqual(invalid(filter, 'metadata[a]'));
    expect((await ask('GET', `${PATH}?limit=x`))[0]).toBe(400);
    expect(await ask('GET', PATH, undefined, null)).toEqual(NO_KEY);
  });
});
