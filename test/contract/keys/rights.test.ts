import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
});

async function newKey(draft: object): Promise<string> {
  const answer = await app.call('POST', '/key/generate', draft);
  return ((await answer.json()) as { key: string }).key;
}

async function ask(key: string, method: string, path: string, body?: unknown) {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: await answer.json() };
}

const chat = (model: string, members: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  ...members,
});

const refused = (routes: string, path: string) => ({
  status: 403,
  body: {
    detail: `Virtual key is not allowed to call this route. Only allowed to call routes: [${routes}]. Tried to call route: ${path}`,
  },
});

const CHAT = '/v1/chat/completions';

describe('the routes of a key', () => {
  it.each([
    ['llm_api', 'POST', CHAT, 200],
    ['llm_api', 'GET', '/v1/models', 200],
    ['llm_api', 'GET', '/key/list', 403],
    ['llm_api', 'GET', '/v1/traces', 200],
    ['management', 'GET', '/key/info', 200],
    ['management', 'POST', CHAT, 403],
    ['read_only', 'GET', '/key/list', 200],
    ['read_only', 'GET', '/v1/models', 200],
    ['read_only', 'GET', '/v1/model/info', 200],
    ['read_only', 'POST', '/key/generate', 403],
    ['read_only', 'POST', CHAT, 403],
  ])('with the key type %s: %s %s answers %i', async (keyType, method, path, status) => {
    const key = await newKey({ key_type: keyType, user_id: 'u' });
    expect((await ask(key, method, path, path === CHAT ? chat('demo') : undefined)).status).toBe(status);
  });

  it('match paths, paths below them, and prefixes', async () => {
    const key = await newKey({ allowed_routes: ['/v1/models', '/key/*'] });
    expect((await ask(key, 'GET', '/v1/models')).status).toBe(200);
    expect((await ask(key, 'GET', '/v1/models/demo')).status).toBe(200);
    expect((await ask(key, 'GET', '/key/info')).status).toBe(200);
    expect(await ask(key, 'GET', '/models')).toEqual(refused("'/v1/models', '/key/*'", '/models'));
    expect(await ask(key, 'POST', CHAT, chat('demo'))).toEqual(refused("'/v1/models', '/key/*'", CHAT));
  });

  it('include the graph only if allowed_routes names it', async () => {
    const query = { query: '{ __typename }' };
    const withoutRoute = await ask(await newKey({ key_type: 'llm_api' }), 'POST', '/graphql', query);
    expect(withoutRoute.body).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    const withRoute = await ask(await newKey({ allowed_routes: ['/graphql'] }), 'POST', '/graphql', query);
    expect(withRoute.body).toEqual({ data: { __typename: 'Query' } });
  });
});

describe('the models of a key', () => {
  it.each([[['all-proxy-models']], [['*']], [['all-team-models']]])('are all models with %j', async (models) => {
    expect((await ask(await newKey({ models }), 'POST', CHAT, chat('demo'))).status).toBe(200);
  });

  it('are no models with no-default-models', async () => {
    const key = await newKey({ models: ['no-default-models'] });
    expect(await ask(key, 'POST', CHAT, chat('demo'))).toMatchObject({
      status: 403,
      body: { error: { type: 'key_model_access_denied' } },
    });
  });

  it('can be called by aliases, which give no further access', async () => {
    const aliases = { fast: 'demo', other: 'gpt-none' };
    const key = await newKey({ models: ['demo'], aliases });
    expect((await ask(key, 'POST', CHAT, chat('fast'))).status).toBe(200);
    expect((await ask(key, 'POST', CHAT, chat('other'))).status).toBe(403);
  });
});

describe('the request members that a key requires', () => {
  it('must be in the body of a call', async () => {
    const key = await newKey({ enforced_params: ['user', 'metadata.job'] });
    const message = 'BadRequest please pass param=metadata.job in request body. This is a required param';
    expect(await ask(key, 'POST', CHAT, chat('demo', { user: 'u', metadata: {} }))).toMatchObject({
      status: 400,
      body: { error: { message } },
    });
    expect((await ask(key, 'POST', CHAT, chat('demo', { user: 'u', metadata: { job: 'j' } }))).status).toBe(200);
  });
});
