import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Json, type ObjectServer, startObjectServer } from './object-server.ts';

let server: ObjectServer;
const ask = (method: string, path: string, body?: unknown, key?: string | null): Promise<Answer> =>
  server.ask(method, path, body, key);

beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

const newContainer = async (key?: string, more: Json = {}): Promise<string> =>
  String((await ask('POST', '/v1/containers', { name: 'c', ...more }, key))[1]['id']);
const noContainer = (id: string): Answer => [
  404,
  {
    error: { message: `Container with id '${id}' not found.`, type: 'not_found_error', param: null, code: '404' },
  },
];

describe('containers.list', () => {
  it('200: administrators see the containers of all keys, and the keys of a team those of the team', async () => {
    const [, team] = await ask('POST', '/team/new', { team_alias: 'containers' }, server.app.adminKey);
    const members = [
      await server.newKey({ team_id: team['team_id'] }),
      await server.newKey({ team_id: team['team_id'] }),
    ];
    const id = await newContainer(members[0]);
    for (const key of [members[1], server.app.adminKey]) {
      const [, { data }] = await ask('GET', '/v1/containers?limit=100', undefined, key);
      expect((data as readonly Json[]).map((one) => one['id'])).toContain(id);
    }
  });
});

describe('a container in another request', () => {
  const tools = (container: string) => [{ type: 'code_interpreter', container }];

  it('evalRuns.create 404: of another key', async () => {
    const config = { data_source_config: { type: 'custom' }, testing_criteria: [], model: 'tiny' };
    const [, { id: evaluation }] = await ask('POST', '/v1/evals', config);
    const container = await newContainer(server.stranger);
    const source = { type: 'file_content', content: [] };
    const data_source = { type: 'completions', model: 'tiny', source, sampling_params: { tools: tools(container) } };
    const before = server.upstream.received.length;
    expect(await ask('POST', `/v1/evals/${String(evaluation)}/runs`, { data_source })).toEqual(noContainer(container));
    expect(server.upstream.received.length).toBe(before);
  });

  it('files.create 200 and batches.create 404: in a line of a batch, of the caller', async () => {
    const [, team] = await ask('POST', '/team/new', { team_alias: 'lines' }, server.app.adminKey);
    const [key, another] = [
      await server.newKey({ team_id: team['team_id'] }),
      await server.newKey({ team_id: team['team_id'] }),
    ];
    const container = await newContainer(key);
    const [status, file] = await uploadLine(container, key);
    expect([status, file]).toEqual([200, expect.objectContaining({ object: 'file' })]);
    const sent = server.upstream.received.findLast(({ path }) => path === '/v1/files');
    expect(sent?.body).toContain(`"container":"${container}"`);
    const start = (by: string) =>
      ask(
        'POST',
        '/v1/batches',
        { input_file_id: file['id'], endpoint: '/v1/responses', completion_window: '24h' },
        by,
      );
    expect((await start(another))[0]).toBe(200);
    expect((await ask('DELETE', `/v1/containers/${container}`, undefined, key))[0]).toBe(200);
    expect(await start(key)).toEqual(noContainer(container));
  });

  it('files.create 404: in a line of a batch, of another key, unknown, or at another account', async () => {
    const before = server.upstream.received.filter(({ path }) => path === '/v1/files').length;
    const others = await newContainer(server.stranger);
    const elsewhere = await newContainer(undefined, { model: 'elsewhere' });
    for (const container of [others, elsewhere, 'cntr_unknown'])
      expect(await uploadLine(container)).toEqual(noContainer(container));
    const item = { type: 'code_interpreter_call', container_id: others };
    const auto = [{ type: 'code_interpreter', container: { type: 'auto' } }];
    expect(await uploadBody({ model: 'tiny', input: [item], tools: auto })).toEqual(noContainer(others));
    expect(server.upstream.received.filter(({ path }) => path === '/v1/files').length).toBe(before);
  });
});

/** Uploads a batch file with one line. */
function uploadBody(body: Json, key?: string): Promise<Answer> {
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('model', 'tiny');
  form.append('file', new Blob([JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/responses', body })]), 'a');
  return ask('POST', '/v1/files', form, key);
}
const uploadLine = (container: string, key?: string): Promise<Answer> =>
  uploadBody({ model: 'tiny', input: 'x', tools: [{ type: 'code_interpreter', container }] }, key);

describe('a container in a request for a response', () => {
  const respond = (container: string, key?: string, model = 'tiny') => {
    const tools = [{ type: 'code_interpreter', container }];
    return ask('POST', '/v1/responses', { model, input: 'hi', tools }, key);
  };

  it('responses.create 200: of the caller, at the account of the container', async () => {
    const id = await newContainer(undefined, { model: 'elsewhere' });
    for (let call = 0; call < 4; call += 1) {
      expect((await respond(id, undefined, 'both'))[0]).toBe(200);
      expect(server.upstream.received.at(-1)?.authorization).toBe('Bearer sk-other-account');
    }
    expect(server.upstream.received.at(-1)?.body).toContain(`"container":"${id}"`);
  });

  it('responses.create 404: of another key; 400: too many', async () => {
    const id = await newContainer(server.stranger);
    const before = server.upstream.received.length;
    expect(await respond(id)).toEqual(noContainer(id));
    const environment = { type: 'container_reference', container_id: id };
    const shell = { model: 'tiny', input: 'hi', tools: [{ type: 'shell', environment }] };
    expect(await ask('POST', '/v1/responses', shell)).toEqual(noContainer(id));
    const tools = Array.from({ length: 33 }, (_, index) => ({ type: 'code_interpreter', container: `c${index}` }));
    const message = 'tools must name at most 32 containers.';
    expect(await ask('POST', '/v1/responses', { model: 'tiny', input: 'hi', tools })).toEqual([
      400,
      { error: { message, type: 'bad_request_error', param: 'tools', code: '400' } },
    ]);
    expect(server.upstream.received.length).toBe(before);
  });
});

describe('a container that the upstream makes for a response', () => {
  const AUTO = [{ type: 'code_interpreter', container: { type: 'auto' } }];
  const made = (): string => server.upstream.ids().findLast((id) => id.startsWith('cntr_')) ?? '';

  /** Asks for a response. Returns the id of its new container. */
  async function respond(more: Json = {}, key = server.owner): Promise<string> {
    const answer = await fetch(`${server.app.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tiny', input: 'hi', tools: AUTO, ...more }),
    });
    expect([answer.status, (await answer.text()).includes(made())]).toEqual([200, true]);
    return made();
  }

  it.each([
    ['complete', {}],
    ['streamed', { stream: true }],
  ])('belongs to the caller of a %s response: others get 404', async (_kind, more) => {
    const id = await respond(more);
    expect((await ask('GET', `/v1/containers/${id}/files`))[0]).toBe(200);
    expect((await ask('GET', `/v1/containers/${id}`))[1]).toMatchObject({ id, object: 'container', name: 'auto' });
    const [, { data }] = await ask('GET', '/v1/containers?limit=100');
    expect((data as readonly Json[]).map((one) => one['id'])).toContain(id);
    for (const end of ['', '/files', '/files/cfile_x/content'])
      expect(await ask('GET', `/v1/containers/${id}${end}`, undefined, server.stranger)).toEqual(noContainer(id));
  });

  it('cannot be used by another key: in tools, or by an item of an earlier response', async () => {
    const id = await respond();
    const before = server.upstream.received.length;
    const request = { model: 'tiny', input: 'hi', tools: [{ type: 'code_interpreter', container: id }] };
    const item = { id: 'ci_1', type: 'code_interpreter_call', code: '1', container_id: id };
    const continued = { model: 'tiny', input: [item, { role: 'user', content: 'x' }], tools: AUTO };
    for (const body of [request, continued])
      expect(await ask('POST', '/v1/responses', body, server.stranger)).toEqual(noContainer(id));
    expect(server.upstream.received.length).toBe(before);
    expect((await ask('POST', '/v1/responses', request))[0]).toBe(200);
  });

  it('keeps its owner when the answer to another key names it', async () => {
    const id = await respond();
    const item = { id: 'ci_1', type: 'code_interpreter_call', code: '1', container_id: id };
    // Without a tool that runs code, the upstream cannot use the container.
    expect((await ask('POST', '/v1/responses', { model: 'tiny', input: [item] }, server.stranger))[0]).toBe(200);
    expect(await ask('GET', `/v1/containers/${id}`, undefined, server.stranger)).toEqual(noContainer(id));
    expect((await ask('GET', `/v1/containers/${id}`))[0]).toBe(200);
  });

  it.each([
    ['complete', {}],
    ['streamed', { stream: true }],
  ])('does not belong to a caller whose request names it where the answer repeats it: %s', async (_kind, more) => {
    const id = `cntr_named${Object.keys(more).length}`;
    server.upstream.update(id, { id, object: 'container', status: 'running' });
    const parameters = { type: 'object', container_id: id };
    const tools = [...AUTO, { type: 'function', name: 'f', parameters }];
    await respond({ tools, metadata: { container_id: id }, ...more });
    expect((await ask('GET', '/v1/containers?limit=100'))[1]['data']).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    expect(await ask('GET', `/v1/containers/${id}`)).toEqual(noContainer(id));
  });

  it.each([
    ['refers to an item of the upstream', 'reference', { type: 'item_reference', id: 'ci_0' }],
    ['has an item that ran in it, also when the response is read later', 'item', { type: 'code_interpreter_call' }],
  ])('does not belong to a caller whose request %s', async (_case, name, item) => {
    const id = `cntr_earlier_${name}`;
    server.upstream.update(id, { id, object: 'container', status: 'running' });
    const named = name === 'item' ? { ...item, container_id: id } : item;
    const body = { model: 'tiny', input: [named], tools: AUTO, metadata: { ran_in: id } };
    const [status, answer] = await ask('POST', '/v1/responses', body);
    expect([status, JSON.stringify(answer['output']).includes(id)]).toEqual([200, true]);
    expect((await ask('GET', `/v1/responses/${String(answer['id'])}`))[0]).toBe(200);
    const next = { model: 'tiny', input: 'x', tools: AUTO, metadata: { ran_in: id } };
    const [, continued] = await ask('POST', '/v1/responses', { ...next, previous_response_id: answer['id'] });
    expect(JSON.stringify(continued['output'])).toContain(id);
    expect(await ask('GET', `/v1/containers/${id}`)).toEqual(noContainer(id));
  });

  it('belongs to the caller of a response that continues an earlier one', async () => {
    const [, first] = await ask('POST', '/v1/responses', { model: 'tiny', input: 'hi' });
    const id = await respond({ previous_response_id: first['id'] });
    expect((await ask('GET', `/v1/containers/${id}`))[0]).toBe(200);
  });
});
