import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, echoRequests, newKey, sendAs } from '../pass-through/targets.ts';

const PATH = '/v1/agents';

let app: TestApp;
let target: FaultServer;
let userKey: string;

beforeAll(async () => {
  target = await startFaultServer();
  app = await startApp({
    config: {
      agents: [
        {
          agent_name: 'of-file',
          agent_id: 'file-1',
          agent_card_params: { name: 'File agent', url: 'http://127.0.0.1:9/', documentationUrl: 'http://d' },
        },
      ],
      litellm_settings: { public_agent_groups: ['file-1'] },
    },
  });
  userKey = await newKey(app, { user_id: 'someone' });
});

afterAll(async () => {
  await app.stop();
  await target.stop();
});

const CARD = { name: 'a', description: 'd', url: 'http://127.0.0.1:9/', version: '1', protocolVersion: '0.3.0' };

const shownCard = (id: string) => ({
  ...CARD,
  protocolVersion: '0.3',
  capabilities: {},
  skills: [{ id: 'chat', name: 'Chat', tags: ['chat'], description: 'Conversational interaction with the agent.' }],
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  provider: { url: app.url, organization: 'Lensgate' },
  security: [{ LiteLLMKey: [] }],
  securitySchemes: { LiteLLMKey: { type: 'http', scheme: 'bearer', description: 'LiteLLM virtual key' } },
  supportedInterfaces: [{ url: `${app.url}/a2a/${id}`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
});

const agentWith = (id: string, overrides: Record<string, unknown>) => ({
  identity: null,
  identity_managed: false,
  enabled: true,
  execution_mode: 'autonomous',
  jwt_auth_configured: false,
  agent_id: id,
  agent_name: 'one',
  litellm_params: {},
  agent_card_params: shownCard(id),
  object_permission: null,
  spend: 0,
  tpm_limit: null,
  rpm_limit: null,
  session_tpm_limit: null,
  session_rpm_limit: null,
  static_headers: {},
  extra_headers: [],
  access_group_ids: [],
  kill_switch: null,
  keys: null,
  search_score: null,
  created_at: expect.stringMatching(/Z$/),
  updated_at: expect.stringMatching(/Z$/),
  created_by: 'default_user_id',
  updated_by: 'default_user_id',
  ...overrides,
});

async function create(name: string, body: Record<string, unknown> = {}): Promise<string> {
  const [status, answer] = await answerOf(
    await app.call('POST', PATH, { agent_name: name, agent_card_params: CARD, ...body }),
  );
  expect(status).toBe(200);
  return (answer as { readonly agent_id: string }).agent_id;
}

const ask = async (method: string, path: string, body?: unknown) => answerOf(await app.call(method, path, body));
const NO_KEY = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) }];
const ADMINS_ONLY = [403, { detail: { error: expect.stringContaining('Only proxy admins can manage agents.') } }];
const NAME_MISSING = [422, { detail: [{ type: 'missing', loc: ['body', 'agent_name'], msg: 'Field required' }] }];
const notFound = (id: string, where = '') => [404, { detail: `Agent with ID ${id} not found${where}` }];
const OF_FILE = [400, { detail: 'The agent file-1 is in the configuration file. Change it there.' }];

/** Answers to a request with the key of a user, and without a key. */
const refusals = async (method: string, path: string, body?: unknown) => {
  const request = { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  return [await answerOf(await sendAs(app, userKey, request)), await answerOf(await sendAs(app, null, request))];
};

describe('the registry of agents', () => {
  it('a2aAgents.create 200, 400 and 422, a2aAgents.get 200 and 404: an agent is stored once under its name', async () => {
    const id = await create('one');
    expect(await ask('GET', `${PATH}/${id}`)).toEqual([200, agentWith(id, {})]);
    expect(await ask('POST', PATH, { agent_name: 'one' })).toEqual([
      400,
      { detail: 'Agent with name one already exists' },
    ]);
    expect(await ask('POST', PATH, {})).toEqual(NAME_MISSING);
    expect(await ask('GET', `${PATH}/nope`)).toEqual(notFound('nope'));
  });

  it.each([
    [{ agent_card_params: { protocolVersion: '2.0' } }, 'agent_card_params.protocolVersion must be 0.3 or 1.0'],
    [{ agent_card_params: { url: 'ftp://x' } }, 'agent_card_params.url must be an http:// or https:// address'],
    [{ static_headers: { host: 'x' } }, `Invalid value for 'static_headers': it must not contain the header "host".`],
    [{ kill_switch: { method: 'POST' } }, 'kill_switch.url is required'],
    [
      { kill_switch: { url: 'http://h/', method: 'STOP' } },
      'kill_switch.method must be one of GET, POST, PUT, PATCH, DELETE',
    ],
    [{ kill_switch: { url: 'http://h/', headers: { a: ['b'] } } }, 'kill_switch.headers must be a map of texts'],
    [{ kill_switch: { url: 'http://h/', query_params: 'x' } }, 'kill_switch.query_params must be a map of texts'],
    [{ kill_switch: { url: 'http://h/', auth: ['x'] } }, 'kill_switch.auth must be a map of texts'],
    [
      { kill_switch: { url: 'http://h/', headers: { host: 'x' } } },
      'kill_switch.headers must not contain the header "host"',
    ],
    [
      { kill_switch: { url: 'http://h/', auth: { token: 'a\nb' } } },
      'kill_switch.auth has a character that a header cannot have',
    ],
    [
      { litellm_params: { cost_per_query: 'free' } },
      'litellm_params.cost_per_query must be a number that is not negative',
    ],
    [{ litellm_params: { max_iterations: -1 } }, 'litellm_params.max_iterations must be a number that is not negative'],
    [{ rpm_limit: -1 }, 'rpm_limit must not be negative'],
    [{ identity: { provider: 'x' } }, 'identity is not supported: agents have no identities of their own here'],
    [{ agent_name: ' ' }, 'agent_name must have 1 to 256 characters, no control character and no unpaired surrogate'],
    [{ agent_name: 'of-file' }, 'Agent with name of-file already exists'],
  ])('a2aAgents.create 400: for %j', async (body, detail) => {
    expect(await ask('POST', PATH, { agent_name: 'bad', ...body })).toEqual([400, { detail }]);
  });

  it('a2aAgents.list 200: administrators see all agents, other keys those that they name', async () => {
    const id = await create('listed');
    const listed = async (key: string) => {
      const [status, body] = await answerOf(await sendAs(app, key, { path: PATH }));
      return [status, (body as readonly { agent_id: string }[]).map(({ agent_id: one }) => one)];
    };
    const granted = await newKey(app, { object_permission: { agents: [id] } });
    expect(await listed(app.adminKey)).toEqual([200, expect.arrayContaining(['file-1', id])]);
    expect(await listed(userKey)).toEqual([200, []]);
    expect(await listed(granted)).toEqual([200, [id]]);
  });

  it('a2aAgents.update 200, 400, 404 and 422: changes only what was sent', async () => {
    const id = await create('patched', { rpm_limit: 5, static_headers: { authorization: 'Bearer s' } });
    expect(await ask('PATCH', `${PATH}/${id}`, { agent_name: 'patched-2', tpm_limit: 7 })).toEqual([
      200,
      agentWith(id, {
        agent_name: 'patched-2',
        rpm_limit: 5,
        tpm_limit: 7,
        static_headers: { authorization: '*****' },
      }),
    ]);
    expect(await ask('PATCH', `${PATH}/${id}`, { agent_name: 'one' })).toEqual([
      400,
      { detail: 'Agent with name one already exists' },
    ]);
    expect(await ask('PATCH', `${PATH}/file-1`, { agent_name: 'x' })).toEqual(OF_FILE);
    expect(await ask('PATCH', `${PATH}/nope`, { agent_name: 'x' })).toEqual(notFound('nope'));
    expect(await ask('PATCH', `${PATH}/${id}`, { rpm_limit: 'x' })).toEqual([
      422,
      { detail: [expect.objectContaining({ loc: ['body', 'rpm_limit'] })] },
    ]);
  });

  it('a2aAgents.replace 200, 400, 404 and 422: members that were not sent get their defaults', async () => {
    const id = await create('replaced', { rpm_limit: 5 });
    const body = { agent_name: 'replaced', agent_card_params: CARD };
    expect(await ask('PUT', `${PATH}/${id}`, body)).toEqual([200, agentWith(id, { agent_name: 'replaced' })]);
    expect(await ask('PUT', `${PATH}/file-1`, body)).toEqual(OF_FILE);
    expect(await ask('PUT', `${PATH}/nope`, body)).toEqual(notFound('nope'));
    expect(await ask('PUT', `${PATH}/${id}`, {})).toEqual(NAME_MISSING);
  });

  it('a2aAgents.delete 200, 400 and 404: removes a stored agent once', async () => {
    const id = await create('deleted');
    expect(await ask('DELETE', `${PATH}/${id}`)).toEqual([200, { message: `Agent ${id} deleted successfully` }]);
    expect(await ask('DELETE', `${PATH}/${id}`)).toEqual(notFound(id, ' in DB.'));
    expect(await ask('DELETE', `${PATH}/file-1`)).toEqual(OF_FILE);
  });

  it('a2aAgents.identity 200 and 404, a2aAgents.identityProviders 200: agents have no identities', async () => {
    const id = await create('identified', { enabled: false });
    expect(await ask('GET', `${PATH}/${id}/identity`)).toEqual([
      200,
      {
        identity: null,
        identity_managed: false,
        enabled: false,
        execution_mode: 'autonomous',
        last_authenticated_at: null,
      },
    ]);
    expect(await ask('GET', `${PATH}/nope/identity`)).toEqual(notFound('nope'));
    expect(await ask('GET', `${PATH}/identity/providers`)).toEqual([200, { providers: [] }]);
  });

  it('a2aAgents.publish and a2aAgents.publishAll 200, 400, 404, a2aAgents.hub 200: public cards name only the gateway', async () => {
    const first = await create('public-1');
    const second = await create('public-2');
    const published = (...ids: string[]) => [
      200,
      {
        message: 'Successfully updated public agent groups',
        public_agent_groups: ['file-1', ...ids],
        updated_by: 'default_user_id',
      },
    ];
    expect(await ask('POST', `${PATH}/${first}/make_public`)).toEqual(published(first));
    expect(await ask('POST', `${PATH}/make_public`, { agent_ids: [second] })).toEqual(published(second));
    expect(await ask('POST', `${PATH}/make_public`, { agent_ids: ['nope', first] })).toEqual(notFound('nope'));
    expect(await ask('POST', `${PATH}/make_public`, { agent_ids: ['file-1'] })).toEqual(OF_FILE);
    expect(await ask('POST', `${PATH}/nope/make_public`)).toEqual(notFound('nope'));
    expect(await ask('POST', `${PATH}/file-1/make_public`)).toEqual(OF_FILE);
    expect(await answerOf(await sendAs(app, null, { path: '/public/agent_hub' }))).toEqual([
      200,
      [
        { name: 'File agent', documentationUrl: 'http://d', url: `${app.url}/a2a/file-1` },
        { ...shownCard(second), url: `${app.url}/a2a/${second}` },
      ],
    ]);
  });

  it('a2aAgents.publishAll 422: without ids', async () => {
    expect(await ask('POST', `${PATH}/make_public`, {})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'agent_ids'], msg: 'Field required' }] },
    ]);
  });

  it('a2aAgents.hub 401: with a wrong key', async () => {
    expect(await answerOf(await sendAs(app, 'sk-wrong', { path: '/public/agent_hub' }))).toEqual([
      401,
      expect.anything(),
    ]);
  });

  it('a2aAgents.stop 200, 400, 404 and 502: sends the request of the kill switch', async () => {
    echoRequests(target);
    const received: unknown[] = [];
    target.answer((response, _socket, { method, path, headers, body }) => {
      const { authorization, 'x-key': key, 'content-type': contentType } = headers;
      received.push({ method, path, authorization, key, contentType, body });
      response.statusCode = path.startsWith('/broken') ? 500 : 204;
      response.end();
    });
    const id = await create('stoppable', {
      kill_switch: {
        url: `${target.url}/stop`,
        method: 'put',
        headers: { 'x-key': 'k', 'Content-Type': 'application/vnd.stop+json' },
        query_params: { force: '1' },
        body: { stop: true },
        auth: { token: 't' },
      },
    });
    const [, shown] = await ask('GET', `${PATH}/${id}`);
    expect(shown).toMatchObject({
      kill_switch: { url: `${target.url}/stop`, headers: { 'x-key': 'REDACTED' }, auth: { token: 'REDACTED' } },
    });
    expect(await ask('POST', `${PATH}/${id}/kill_switch`, { enabled: true })).toEqual([
      200,
      { message: `Kill switch of agent ${id} executed successfully`, agent_id: id, status_code: 204 },
    ]);
    expect(received).toEqual([
      {
        method: 'PUT',
        path: '/stop?force=1',
        authorization: 'Bearer t',
        key: 'k',
        contentType: 'application/vnd.stop+json',
        body: JSON.stringify({ stop: true }),
      },
    ]);
    const broken = await create('unstoppable', { kill_switch: { url: `${target.url}/broken` } });
    expect(await ask('POST', `${PATH}/${broken}/kill_switch`)).toEqual([
      502,
      {
        error: expect.objectContaining({
          message: `The kill switch of agent ${broken} failed: it answered with status 500`,
        }),
      },
    ]);
    target.answer((response) => response.writeHead(302, { location: '/elsewhere' }).end());
    const [redirected] = await ask('POST', `${PATH}/${broken}/kill_switch`);
    expect(redirected).toBe(502);
    const without = await create('without-switch');
    expect(await ask('POST', `${PATH}/${without}/kill_switch`)).toEqual([
      400,
      { detail: `Agent with ID ${without} has no kill_switch configured` },
    ]);
    expect(await ask('POST', `${PATH}/nope/kill_switch`)).toEqual(notFound('nope'));
  });

  it('a2aAgents.list 401, a2aAgents.create, a2aAgents.replace, a2aAgents.update, a2aAgents.delete, a2aAgents.publish, a2aAgents.publishAll, a2aAgents.stop, a2aAgents.identityProviders 401 and 403: without a key, and for keys of users', async () => {
    const changes: readonly (readonly [string, string, unknown?])[] = [
      ['POST', PATH, { agent_name: 'x' }],
      ['PUT', `${PATH}/file-1`, { agent_name: 'x' }],
      ['PATCH', `${PATH}/file-1`, {}],
      ['DELETE', `${PATH}/file-1`],
      ['POST', `${PATH}/file-1/make_public`],
      ['POST', `${PATH}/make_public`, { agent_ids: [] }],
      ['POST', `${PATH}/file-1/kill_switch`],
      ['GET', `${PATH}/identity/providers`],
    ];
    for (const change of changes)
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      expect(await refusals(...change)).toEqual([ADMINS_ONLY, NO_KEY]);
    expect(await answerOf(await sendAs(app, null, { path: PATH }))).toEqual(NO_KEY);
  });

  it('a2aAgents.get and a2aAgents.identity 401 and 403: without a key, and for a key that may not call the agent', async () => {
    const other = await newKey(app, { object_permission: { agents: ['other'] } });
    const denied = [403, { detail: { error: 'Access denied to agent: file-1' } }];
    for (const path of [`${PATH}/file-1`, `${PATH}/file-1/identity`]) {
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      expect(await answerOf(await sendAs(app, other, { path }))).toEqual(denied);
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect(await answerOf(await sendAs(app, null, { path }))).toEqual(NO_KEY);
    }
  });

  it('a2aAgents.get 200: callers who are not administrators see no settings and no address of the agent', async () => {
    const id = await create('plain', { litellm_params: { cost_per_query: 1 }, static_headers: { 'x-a': 'b' } });
    const [status, body] = await answerOf(await sendAs(app, userKey, { path: `${PATH}/${id}` }));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      litellm_params: {},
      static_headers: {},
      agent_card_params: { url: `${app.url}/a2a/${id}` },
    });
  });
});
