import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: unknown];

let app: TestApp;
let mine: string;
let other: string;
let viewer: string;
let readOnly: string;

async function ask(method: string, path: string, body?: unknown, key: string | null = mine): Promise<Answer> {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [answer.status, (await answer.json()) as unknown];
}

beforeAll(async () => {
  app = await startApp();
  const keyOf = async (path: string, body: Json): Promise<string> =>
    String(((await ask('POST', path, body, app.adminKey))[1] as Json)['key']);
  mine = await keyOf('/key/generate', {});
  other = await keyOf('/key/generate', {});
  viewer = await keyOf('/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' });
  readOnly = await keyOf('/user/new', { user_id: 'r', user_role: 'internal_user_viewer' });
});
afterAll(() => app.stop());

const RUNS = '/v1/workflows/runs';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];
const invalid = (error: string): Answer => [400, { detail: error }];
const notFound = (id: string): Answer => [404, { detail: `Run '${id}' not found` }];
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const shown = (more: Json = {}): Json => ({
  run_id: ID,
  session_id: ID,
  workflow_type: 'build',
  status: 'pending',
  created_by: hashOf(mine),
  created_at: TIME,
  updated_at: TIME,
  input: null,
  output: null,
  metadata: null,
  ...more,
});

async function newRun(body: Json = {}, key = mine): Promise<string> {
  const [status, run] = await ask('POST', RUNS, { workflow_type: 'build', ...body }, key);
  expect(status).toBe(200);
  return String((run as Json)['run_id']);
}

const PER_RUN = [
  ['workflows.get', 'GET', '', undefined],
  ['workflows.update', 'PATCH', '', { status: 'completed' }],
  ['workflows.delete', 'DELETE', '', undefined],
  ['workflows.appendEvent', 'POST', '/events', { event_type: 'a', step_name: 'b' }],
  ['workflows.events', 'GET', '/events', undefined],
  ['workflows.appendMessage', 'POST', '/messages', { role: 'user', content: 'x' }],
  ['workflows.messages', 'GET', '/messages', undefined],
] as const;

describe('routes of one run', () => {
  it.each(PER_RUN)('%s 401: without a key', async (_name, method, path, body) => {
    expect(await ask(method, `${RUNS}/x${path}`, body, null)).toEqual(NO_KEY);
  });

  it.each(PER_RUN)('%s 404: an unknown run, and that of another key', async (_name, method, path, body) => {
    expect(await ask(method, `${RUNS}/nope${path}`, body)).toEqual(notFound('nope'));
    const id = await newRun({}, other);
    expect(await ask(method, `${RUNS}/${id}${path}`, body)).toEqual(notFound(id));
    expect((await ask('GET', `${RUNS}/${id}`, undefined, other))[1]).toMatchObject({ status: 'pending', events: [] });
  });

  it.each(PER_RUN.filter(([, method]) => method !== 'GET'))(
    '%s 403: read-only keys, also of administrators',
    async (_name, method, path, body) => {
      const id = await newRun();
      for (const key of [viewer, readOnly]) {
        const [status, answer] = await ask(method, `${RUNS}/${id}${path}`, body, key);
        expect([status, answer]).toEqual([403, { error: expect.objectContaining({ type: 'auth_error' }) as Json }]);
      }
    },
  );

  it.each(PER_RUN.filter(([, method]) => method === 'GET'))(
    '%s 200: administrators see the runs of all keys',
    async (_name, method, path) => {
      const id = await newRun();
      for (const key of [viewer, app.adminKey])
        expect((await ask(method, `${RUNS}/${id}${path}`, undefined, key))[0]).toBe(200);
    },
  );
});

describe('workflows.create', () => {
  it('200: a run with its content', async () => {
    const content = { input: { b: 1, a: [true] }, metadata: { title: 'Fix' } };
    expect(await ask('POST', RUNS, { workflow_type: 'build', ...content })).toEqual([200, shown(content)]);
    expect(await ask('POST', RUNS, { workflow_type: 'build', input: null, metadata: null })).toEqual([200, shown()]);
  });

  it('400: a blank or long kind, and content that is too long or cannot be stored', async () => {
    for (const type of ['', ' ', 'x'.repeat(257)])
      expect(await ask('POST', RUNS, { workflow_type: type })).toEqual(
        invalid('workflow_type must have 1 to 256 characters'),
      );
    expect(await ask('POST', RUNS, { workflow_type: 'a\nb' })).toEqual(
      invalid('workflow_type must have no control character and no unpaired surrogate'),
    );
    expect(await ask('POST', RUNS, { workflow_type: 'b', input: { a: 'x'.repeat(65_529) } })).toEqual(
      invalid('input must have at most 65536 characters as JSON'),
    );
    expect((await ask('POST', RUNS, { workflow_type: 'b', input: { a: 'x'.repeat(65_528) } }))[0]).toBe(200);
    expect(await ask('POST', RUNS, { workflow_type: 'b', metadata: { a: '\u0000' } })).toEqual(
      invalid('metadata must have no NUL character and no unpaired surrogate'),
    );
  });

  it('401: without a key; 403: a read-only key; 422: no kind', async () => {
    expect(await ask('POST', RUNS, { workflow_type: 'b' }, null)).toEqual(NO_KEY);
    expect((await ask('POST', RUNS, { workflow_type: 'b' }, readOnly))[0]).toBe(403);
    expect(await ask('POST', RUNS, {})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'workflow_type'], msg: 'Field required' }] },
    ]);
  });
});

describe('workflows.list', () => {
  it('200: the runs of the key, the newest first, by kind and status', async () => {
    const key = String(((await ask('POST', '/key/generate', {}, app.adminKey))[1] as Json)['key']);
    const [first, second] = [await newRun({ workflow_type: 'k1' }, key), await newRun({ workflow_type: 'k2' }, key)];
    await ask('PATCH', `${RUNS}/${second}`, { status: 'paused' }, key);
    const idsOf = async (search: string): Promise<readonly unknown[]> => {
      const [, body] = await ask('GET', `${RUNS}${search}`, undefined, key);
      const { runs, count } = body as { runs: Json[]; count: number };
      expect(count).toBe(runs.length);
      return runs.map((run) => run['run_id']);
    };
    expect(await idsOf('')).toEqual([second, first]);
    expect(await idsOf('?workflow_type=k1')).toEqual([first]);
    expect(await idsOf('?status=pending,%20paused')).toEqual([second, first]);
    expect(await idsOf('?status=paused')).toEqual([second]);
    expect(await idsOf('?status=nope')).toEqual([]);
    expect(await idsOf('?limit=1')).toEqual([second]);
  });

  it('401: without a key; 422: a limit beyond 250', async () => {
    expect(await ask('GET', RUNS, undefined, null)).toEqual(NO_KEY);
    for (const limit of ['0', '251', 'x']) expect((await ask('GET', `${RUNS}?limit=${limit}`))[0]).toBe(422);
  });
});

describe('workflows.update', () => {
  it('200: changes what is sent', async () => {
    const id = await newRun({ metadata: { a: 1 } });
    expect(await ask('PATCH', `${RUNS}/${id}`, { status: 'completed', output: { ok: true } })).toEqual([
      200,
      shown({ run_id: id, status: 'completed', output: { ok: true }, metadata: { a: 1 } }),
    ]);
    expect(await ask('PATCH', `${RUNS}/${id}`, { metadata: {} })).toEqual([
      200,
      shown({ run_id: id, status: 'completed', output: { ok: true }, metadata: {} }),
    ]);
  });

  it('400: no change; 422: an unknown status', async () => {
    const id = await newRun();
    for (const body of [{}, { output: null }])
      expect(await ask('PATCH', `${RUNS}/${id}`, body)).toEqual(invalid('No fields to update'));
    expect((await ask('PATCH', `${RUNS}/${id}`, { status: 'nope' }))[0]).toBe(422);
  });
});

describe('workflows.appendEvent', () => {
  it('200: numbers events, and changes the status of the run', async () => {
    const id = await newRun();
    const statusOf = async (): Promise<unknown> => ((await ask('GET', `${RUNS}/${id}`))[1] as Json)['status'];
    const event = (sequence: number, type: string, data: Json | null = null): Json => ({
      event_id: ID,
      run_id: id,
      event_type: type,
      step_name: 's',
      sequence_number: sequence,
      data,
      created_at: TIME,
    });
    const types = ['step.started', 'hook.waiting', 'hook.received', 'custom', 'constructor', 'step.failed'];
    const statuses: unknown[] = [];
    for (const [index, type] of types.entries()) {
      const body = { event_type: type, step_name: 's', ...(index === 0 ? { data: { a: 1 } } : {}) };
      expect(await ask('POST', `${RUNS}/${id}/events`, body)).toEqual([
        200,
        event(index, type, index === 0 ? { a: 1 } : null),
      ]);
      statuses.push(await statusOf());
    }
    expect(statuses).toEqual(['running', 'paused', 'running', 'running', 'running', 'failed']);
    expect(await ask('GET', `${RUNS}/${id}`)).toEqual([
      200,
      { ...shown({ run_id: id, status: 'failed' }), events: [event(5, 'step.failed')] },
    ]);
    expect(await ask('GET', `${RUNS}/${id}/events`)).toEqual([
      200,
      { events: types.map((type, index) => event(index, type, index === 0 ? { a: 1 } : null)), count: 6 },
    ]);
    expect((await ask('GET', `${RUNS}/${id}/events?limit=1&offset=2`))[1]).toMatchObject({
      events: [{ sequence_number: 2 }],
      count: 1,
    });
  });

  it('400: texts that are too long; 422: missing members; workflows.events 422: a limit beyond 500', async () => {
    const id = await newRun();
    const send = (body: Json) => ask('POST', `${RUNS}/${id}/events`, body);
    expect(await send({ event_type: '', step_name: 's' })).toEqual(invalid('event_type must have 1 to 256 characters'));
    expect(await send({ event_type: 'a', step_name: 'x'.repeat(257) })).toEqual(
      invalid('step_name must have 1 to 256 characters'),
    );
    expect(await send({ event_type: 'a', step_name: 's', data: { a: 'x'.repeat(65_536) } })).toEqual(
      invalid('data must have at most 65536 characters as JSON'),
    );
    expect((await send({ event_type: 'a' }))[0]).toBe(422);
    expect((await ask('GET', `${RUNS}/${id}/events?limit=501`))[0]).toBe(422);
  });
});

describe('workflows.appendMessage', () => {
  it('200: keeps messages in order', async () => {
    const id = await newRun();
    const message = (sequence: number, more: Json): Json => ({
      message_id: ID,
      run_id: id,
      role: 'user',
      sequence_number: sequence,
      session_id: null,
      created_at: TIME,
      ...more,
    });
    expect(await ask('POST', `${RUNS}/${id}/messages`, { role: 'user', content: '' })).toEqual([
      200,
      message(0, { content: '' }),
    ]);
    const second = { role: 'assistant', content: 'line\n2', session_id: 's1' };
    expect(await ask('POST', `${RUNS}/${id}/messages`, second)).toEqual([200, message(1, second)]);
    expect(await ask('GET', `${RUNS}/${id}/messages`)).toEqual([
      200,
      { messages: [message(0, { content: '' }), message(1, second)], count: 2 },
    ]);
  });

  it('400: a text that is too long or cannot be stored; 422: missing members; workflows.messages 422: an offset below 0', async () => {
    const id = await newRun();
    const send = (body: Json) => ask('POST', `${RUNS}/${id}/messages`, body);
    expect(await send({ role: 'user', content: 'x'.repeat(524_289) })).toEqual(
      invalid('content must have at most 524288 characters'),
    );
    expect(await send({ role: 'user', content: 'a\u0000b' })).toEqual(
      invalid('content must have no NUL character and no unpaired surrogate'),
    );
    expect(await send({ role: '', content: 'x' })).toEqual(invalid('role must have 1 to 256 characters'));
    expect((await send({ role: 'user' }))[0]).toBe(422);
    expect((await ask('GET', `${RUNS}/${id}/messages?offset=-1`))[0]).toBe(422);
  });

  it('400: a run that is full, and a key whose runs are', async () => {
    const id = await newRun();
    const content = 'x'.repeat(500_000);
    const full = invalid('A run has at most 10000 events, 10000 messages and 16777216 characters in total.');
    let answer: Answer = [200, null];
    for (let count = 0; count < 34 && answer[0] === 200; count += 1)
      answer = await ask('POST', `${RUNS}/${id}/messages`, { role: 'user', content });
    expect(answer).toEqual(full);
  });
});

describe('workflows.delete', () => {
  it('200: removes a run', async () => {
    const id = await newRun();
    expect(await ask('DELETE', `${RUNS}/${id}`)).toEqual([200, { run_id: id, deleted: true }]);
    expect(await ask('GET', `${RUNS}/${id}`)).toEqual(notFound(id));
  });
});
