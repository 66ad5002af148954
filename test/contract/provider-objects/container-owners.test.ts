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

  it('files.create 400: in a line of a batch', async () => {
    const body = { model: 'tiny', input: 'x', tools: tools('cntr_any') };
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('model', 'tiny');
    const line = JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/responses', body });
    form.append('file', new Blob([line]), 'lines.jsonl');
    const headers = { authorization: `Bearer ${server.app.adminKey}` };
    const refused = await fetch(`${server.app.url}/v1/files`, { method: 'POST', headers, body: form });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        error: {
          message: '/files: A line of a batch cannot name a container.',
          type: 'invalid_request_error',
          param: 'file',
          code: '400',
        },
      },
    ]);
  });
});

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
