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

const create = (body: unknown, key?: string | null) => ask('POST', '/v1/containers', body, key);
const newContainer = async (key?: string, name = 'c'): Promise<string> =>
  String((await create({ name }, key))[1]['id']);
const newContainerFile = async (container: string): Promise<string> =>
  String((await ask('POST', `/v1/containers/${container}/files`, aForm()))[1]['id']);

function aForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['abc']), 'a.txt');
  return form;
}

const shown = (more: Json = {}): Json => ({
  id: expect.stringMatching(/^cntr_up\d{12}$/) as string,
  object: 'container',
  created_at: 1,
  status: 'running',
  name: 'c',
  sent_ids: [],
  ...more,
});
const shownFile = (container: string, more: Json = {}): Json => ({
  id: expect.stringMatching(/^cfile_up\d{12}$/) as string,
  object: 'container.file',
  container_id: container,
  created_at: 1,
  bytes: 3,
  path: 'data/a.txt',
  source: 'user',
  ...more,
});
const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];
const READ_ONLY: Answer = [403, { error: expect.objectContaining({ code: '403' }) as Json }];
const notFound = (message: string): Answer => [
  404,
  { error: { message, type: 'not_found_error', param: null, code: '404' } },
];
const noContainer = (id: string): Answer => notFound(`Container with id '${id}' not found.`);
const noFile = (id: string): Answer => notFound(`No such File object: ${id}`);
const invalid = (message: string, param: string | null): Answer => [
  400,
  { error: { message, type: 'invalid_request_error', param, code: '400' } },
];

describe('containers.create', () => {
  it('200: a container at the first upstream that has them, with the id of the upstream', async () => {
    expect(await create({ name: 'c', custom_llm_provider: 'openai', tags: ['t'] })).toEqual([200, shown()]);
    const sent = server.upstream.received.at(-1);
    expect([sent?.path, sent?.authorization, sent?.body]).toEqual([
      '/v1/containers',
      'Bearer sk-object-account',
      '{"name":"c"}',
    ]);
    expect(await ask('POST', '/containers', { name: 'c', model: 'elsewhere' })).toEqual([200, shown()]);
    const placed = server.upstream.received.at(-1);
    expect([placed?.authorization, placed?.body]).toEqual(['Bearer sk-other-account', '{"name":"c"}']);
  });

  it('200: with files of the caller, at their upstream', async () => {
    const file = await server.newFile();
    const [status, made] = await create({ name: 'c', file_ids: [file] });
    expect([status, made]).toEqual([200, shown({ sent_ids: [expect.stringMatching(/^file-up/)] })]);
    expect(server.upstream.received.at(-1)?.authorization).toBe('Bearer sk-object-account');
  });

  it('400: file ids of another type, an unknown model or provider, a refusal of the upstream, no JSON', async () => {
    const type = "/containers: Invalid type for parameter 'file_ids': it must be a list of strings.";
    expect(await create({ name: 'c', file_ids: 'x' })).toEqual(invalid(type, 'file_ids'));
    const many = "/containers: Invalid type for parameter 'file_ids': it must be a list of at most 500 strings.";
    expect(await create({ name: 'c', file_ids: Array.from({ length: 501 }, () => 'x') })).toEqual(
      invalid(many, 'file_ids'),
    );
    const unsupported = (message: string): Answer => [400, { error: expect.objectContaining({ message }) as Json }];
    expect(await create({ name: 'c', model: 'fast' })).toEqual(
      unsupported('/containers: The provider of the model fast does not store containers.'),
    );
    expect(await create({ name: 'c', custom_llm_provider: 'groq' })).toEqual(
      unsupported('/containers: No model of the provider groq that this key may call stores containers.'),
    );
    expect((await create({ name: 'c', model: 'nope' }))[0]).toBe(400);
    expect((await create({ name: 'status:400' }))[0]).toBe(400);
    expect((await create([]))[0]).toBe(400);
  });

  it('401: no key', async () => {
    expect(await create({ name: 'c' }, null)).toEqual(NO_KEY);
  });

  it('403: a model that the key may not call, and read-only keys', async () => {
    const limited = await server.newKey({ models: ['tiny'] });
    expect((await create({ name: 'c', model: 'judge' }, limited))[0]).toBe(403);
    expect(await create({ name: 'c' }, server.viewer)).toEqual(READ_ONLY);
  });

  it('404: a file of another key, of another account, or with an id of the upstream', async () => {
    const file = await server.newFile(server.stranger);
    const own = await server.newFile();
    const before = server.upstream.received.length;
    expect(await create({ name: 'c', file_ids: [file] })).toEqual(noFile(file));
    expect(await create({ name: 'c', model: 'elsewhere', file_ids: [own] })).toEqual(noFile(own));
    const upstreamId = server.upstream.ids().find((id) => id.startsWith('file-')) ?? '';
    expect(await create({ name: 'c', file_ids: [upstreamId] })).toEqual(noFile(upstreamId));
    expect(server.upstream.received.length).toBe(before);
  });

  it('422: a used-up budget', async () => {
    const poor = await server.newKey({ max_budget: 0.03 });
    expect((await create({ name: 'c' }, poor))[0]).toBe(200);
    const before = server.upstream.received.length;
    expect((await create({ name: 'c' }, poor))[1]).toEqual({
      error: expect.objectContaining({ type: 'budget_exceeded', code: '422' }) as Json,
    });
    expect(server.upstream.received.length).toBe(before);
  });

  it('429: the limit of the key', async () => {
    const slow = await server.newKey({ rpm_limit: 1 });
    expect((await create({ name: 'c' }, slow))[0]).toBe(200);
    expect((await create({ name: 'c' }, slow))[0]).toBe(429);
  });

  it('500: an error of the upstream', async () => {
    expect((await create({ name: 'status:500' }))[0]).toBe(500);
  });

  it('is charged once, as a session of the code interpreter', async () => {
    const key = await server.newKey();
    const id = await newContainer(key);
    await ask('GET', `/v1/containers/${id}`, undefined, key);
    const rows = async () =>
      (
        await ask('GET', `/spend/logs?api_key=${key}&summarize=false`, undefined, server.app.adminKey)
      )[1] as unknown as readonly Json[];
    await expect.poll(async () => (await rows()).length, POLLING).toBe(2);
    const costs = (await rows()).map((row) => [row['call_type'], row['spend']]);
    expect(Object.fromEntries(costs)).toEqual({ acreate_container: 0.03, aretrieve_container: 0 });
  });
});

const ROWS: readonly (readonly [name: string, method: string, end: string])[] = [
  ['containers.get', 'GET', ''],
  ['containers.delete', 'DELETE', ''],
  ['containerFiles.list', 'GET', '/files'],
  ['containerFiles.create', 'POST', '/files'],
  ['containerFiles.get', 'GET', '/files/cfile_x'],
  ['containerFiles.delete', 'DELETE', '/files/cfile_x'],
  ['containerFiles.content', 'GET', '/files/cfile_x/content'],
];
const bodyOf = (method: string): FormData | undefined => (method === 'POST' ? aForm() : undefined);

describe('rows about one container', () => {
  it.each(ROWS)('%s 401: no key', async (_name, method, end) => {
    expect(await ask(method, `/v1/containers/x${end}`, bodyOf(method), null)).toEqual(NO_KEY);
  });

  it.each(ROWS)('%s 404: an unknown container, and that of another key', async (_name, method, end) => {
    const id = await newContainer();
    const before = server.upstream.received.length;
    for (const [named, key] of [
      ['cntr_nope', server.owner],
      [id, server.stranger],
    ] as const)
      expect(await ask(method, `/v1/containers/${named}${end}`, bodyOf(method), key)).toEqual(noContainer(named));
    expect(server.upstream.received.length).toBe(before);
  });

  it.each(ROWS.filter(([, method]) => method !== 'GET'))('%s 403: read-only keys', async (_name, method, end) => {
    expect(await ask(method, `/v1/containers/x${end}`, bodyOf(method), server.viewer)).toEqual(READ_ONLY);
  });

  it.each(ROWS)('%s 500: an error of the upstream', async (_name, method, end) => {
    const id = await newContainer(undefined, 'broken');
    expect(await ask(method, `/v1/containers/${id}${end}`, bodyOf(method))).toEqual([
      500,
      { error: expect.objectContaining({ message: expect.stringContaining('broken') as string, code: '500' }) as Json },
    ]);
  });
});

describe('containers.get', () => {
  it('200: the state at the upstream, also for administrators', async () => {
    const id = await newContainer();
    expect(await ask('GET', `/v1/containers/${id}`)).toEqual([200, shown({ id })]);
    expect(await ask('GET', `/containers/${id}`, undefined, server.app.adminKey)).toEqual([200, shown({ id })]);
  });
});

describe('containers.delete', () => {
  it('200: deleted at its upstream; 404 afterwards, and where the upstream no longer has it', async () => {
    const id = await newContainer();
    const gone = { id, object: 'container.deleted', deleted: true };
    expect(await ask('DELETE', `/v1/containers/${id}`)).toEqual([200, gone]);
    expect(await ask('DELETE', `/v1/containers/${id}`)).toEqual(noContainer(id));
    const expired = await newContainer();
    server.upstream.expire(expired);
    expect(await ask('DELETE', `/v1/containers/${expired}`)).toEqual(noContainer(expired));
    const [, { data }] = await ask('GET', '/v1/containers?limit=100');
    expect((data as readonly Json[]).map((one) => one['id'])).not.toContain(expired);
  });

  it('200: an upstream that answers without a body', async () => {
    const id = await newContainer(undefined, 'bare');
    const gone = { id, object: 'container.deleted', deleted: true };
    expect(await ask('DELETE', `/v1/containers/${id}`)).toEqual([200, gone]);
  });
});

describe('containers.list', () => {
  it('200: the containers of the caller, newest first, in pages and by name', async () => {
    const key = await server.newKey();
    const ids = [await newContainer(key, 'a'), await newContainer(key, 'b')];
    const [first = '', second = ''] = ids;
    expect(await ask('GET', '/v1/containers?limit=1', undefined, key)).toEqual([
      200,
      {
        object: 'list',
        data: [shown({ id: second, name: 'b' })],
        first_id: second,
        last_id: second,
        has_more: true,
      },
    ]);
    const [, page] = await ask('GET', `/containers?after=${second}`, undefined, key);
    expect(page['data']).toEqual([shown({ id: first, name: 'a' })]);
    const [, named] = await ask('GET', '/v1/containers?name=b&order=asc', undefined, key);
    expect(named['data']).toEqual([shown({ id: second, name: 'b' })]);
    expect((await ask('GET', '/v1/containers', undefined, await server.newKey()))[1]['data']).toEqual([]);
    server.upstream.expire(second);
    const before = server.upstream.received.length;
    for (let read = 0; read < 2; read += 1) {
      const [, listed] = await ask('GET', '/v1/containers?limit=1', undefined, key);
      expect(listed['data']).toEqual([shown({ id: second, name: 'b', status: 'expired' })]);
    }
    // The second list does not ask the upstream for the expired container.
    expect(server.upstream.received.length).toBe(before + 1);
  });

  it('400: a limit that is too high; 401: no key', async () => {
    expect(await ask('GET', '/v1/containers?limit=101')).toEqual(
      invalid("/containers: Invalid value for parameter 'limit': it must be a whole number from 1 to 100.", 'limit'),
    );
    expect(await ask('GET', '/v1/containers', undefined, null)).toEqual(NO_KEY);
  });
});

describe('containerFiles.create', () => {
  it('200: an uploaded file, and a file of the caller by its id', async () => {
    const id = await newContainer();
    const path = `/v1/containers/${id}/files`;
    expect(await ask('POST', path, aForm())).toEqual([200, shownFile(id)]);
    const file = await server.newFile();
    expect(await ask('POST', path, { file_id: file, tags: ['t'] })).toEqual([
      200,
      shownFile(id, { source: expect.stringMatching(/^file-up\d+$/) }),
    ]);
    expect(Object.keys(JSON.parse(server.upstream.received.at(-1)?.body ?? '') as Json)).toEqual(['file_id']);
  });

  it('400: a file id of another type, or in a form', async () => {
    const path = `/v1/containers/${await newContainer()}/files`;
    const message = "/containers: Invalid value for parameter 'file_id': it must be a string.";
    expect(await ask('POST', path, { file_id: 3 })).toEqual(invalid(message, 'file_id'));
    const form = aForm();
    form.append('file_id', 'file-up000000000001');
    const inForm =
      "/containers: Invalid value for parameter 'file_id': in a form it must be absent: send the file, or JSON with its id.";
    expect(await ask('POST', path, form)).toEqual(invalid(inForm, 'file_id'));
  });

  it('404: a file of another key', async () => {
    const file = await server.newFile(server.stranger);
    expect(await ask('POST', `/v1/containers/${await newContainer()}/files`, { file_id: file })).toEqual(noFile(file));
  });

  it('422: a used-up budget; 429: the limit of the key', async () => {
    const poor = await server.newKey({ max_budget: 0.03 });
    const own = await newContainer(poor);
    await expect
      .poll(async () => (await ask('POST', `/v1/containers/${own}/files`, aForm(), poor))[0], POLLING)
      .toBe(422);
    const slow = await server.newKey({ rpm_limit: 1 });
    const path = `/v1/containers/${await newContainer(slow)}/files`;
    expect((await ask('POST', path, aForm(), slow))[0]).toBe(429);
  });
});

describe('files of a container', () => {
  it('containerFiles.list 200: the files, with the parameters of the caller', async () => {
    const id = await newContainer();
    const file = await newContainerFile(id);
    expect(await ask('GET', `/v1/containers/${id}/files?limit=5&after=x&custom_llm_provider=openai`)).toEqual([
      200,
      { object: 'list', data: [shownFile(id, { id: file })], first_id: file, last_id: file, has_more: false },
    ]);
    expect(server.upstream.received.at(-1)?.search).toBe('?limit=5&after=x');
  });

  it('containerFiles.get 200: one file; 404 for the file of another container, and for a path', async () => {
    const [id, another] = [await newContainer(), await newContainer()];
    const file = await newContainerFile(id);
    expect(await ask('GET', `/v1/containers/${id}/files/${file}`)).toEqual([200, shownFile(id, { id: file })]);
    expect((await ask('GET', `/v1/containers/${another}/files/${file}`))[0]).toBe(404);
    const before = server.upstream.received.length;
    expect(await ask('GET', `/v1/containers/${id}/files/a%2F..%2Fb%20`)).toEqual(
      notFound("Object with id 'a/../b ' not found."),
    );
    expect(server.upstream.received.length).toBe(before);
  });

  it('containerFiles.content 200: the bytes, with the type of the upstream', async () => {
    const id = await newContainer();
    const file = await newContainerFile(id);
    const answer = await fetch(`${server.app.url}/v1/containers/${id}/files/${file}/content`, {
      headers: { authorization: `Bearer ${server.owner}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 1, 2, 255]);
  });

  it('containerFiles.delete 200: the file is deleted at the upstream', async () => {
    const id = await newContainer();
    const file = await newContainerFile(id);
    const path = `/v1/containers/${id}/files/${file}`;
    expect(await ask('DELETE', path)).toEqual([200, { id: file, object: 'container.file.deleted', deleted: true }]);
    expect((await ask('DELETE', path))[0]).toBe(404);
  });
});
