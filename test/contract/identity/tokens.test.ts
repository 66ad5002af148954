import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIssuer, type Issuer, tokenEnvironment, type TokenOverrides } from '../../support/token-issuer.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { chat, envelope, type Json } from '../../support/tenancy-client.ts';

let issuer: Issuer;
let app: TestApp;

const RULES = {
  user_id_jwt_field: 'sub',
  user_email_jwt_field: 'email',
  team_ids_jwt_field: 'groups',
  org_id_jwt_field: 'org',
  end_user_id_jwt_field: 'customer',
  roles_jwt_field: 'realm.roles',
  jwt_litellm_role_map: [
    { jwt_role: 'auditor', litellm_role: 'proxy_admin_viewer' },
    { jwt_role: 'person', litellm_role: 'internal_user' },
  ],
  user_id_upsert: true,
};

/** Priced model without a reachable upstream. */
const PRICED = {
  model_name: 'priced',
  litellm_params: { model: 'openai/gpt-4o', api_key: 'sk-x', api_base: 'http://127.0.0.1:9', input_cost_per_token: 1 },
};

beforeAll(async () => {
  issuer = await startIssuer();
  app = await startApp({
    config: {
      model_list: [PRICED],
      general_settings: { enable_jwt_auth: true, litellm_jwtauth: RULES },
    },
    env: tokenEnvironment(issuer),
  });
  for (const [team, models] of [
    ['red', ['demo']],
    ['blue', ['other']],
  ] as const)
    // oxlint-disable-next-line no-await-in-loop -- two rows
    await app.call('POST', '/team/new', { team_id: team, team_alias: `${team}-alias`, models });
});
afterAll(async () => {
  await app.stop();
  await issuer.stop();
});

async function send(token: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await app.call(body === undefined ? 'GET' : 'POST', path, body, {
    authorization: `Bearer ${token}`,
    ...headers,
  });
  return { status: answer.status, body: (await answer.json()) as Json, headers: answer.headers };
}

/** Status and error of a request for the list of models. */
async function statusAndError(token: string) {
  const { status, body } = await send(token, '/v1/models');
  const { error } = body as { error?: { message: string; type: string } };
  return { status, message: error?.message, type: error?.type };
}

describe('a signed token', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('is accepted with the algorithm %s', async (alg) => {
    const token = await issuer.token({ sub: 'anna' }, { alg });
    expect((await send(token, '/v1/models')).status).toBe(200);
    expect((await send(token, '/v1/chat/completions', chat())).status).toBe(200);
  });

  it('is accepted in the header x-api-key', async () => {
    const token = await issuer.token({ sub: 'anna' });
    const answer = await fetch(`${app.url}/v1/models`, { headers: { 'x-api-key': token } });
    expect(answer.status).toBe(200);
  });

  it.each<[string, TokenOverrides, string]>([
    ['another audience', { audience: 'other' }, 'Validation fails: its audience is another.'],
    ['another issuer', { issuer: 'https://other.example' }, 'Validation fails: its issuer is another.'],
    ['no expiry', { expiresIn: null }, "Validation fails: its claim 'exp' is missing."],
    ['a start in the future', { notBefore: 120 }, 'Validation fails: it is not valid yet.'],
    ['an issue time in the future', { issuedAt: 120 }, 'Validation fails: it was issued in the future.'],
  ])('401: a token with %s', async (_claim, overrides, message) => {
    const token = await issuer.token({ sub: 'anna' }, overrides);
    const refused = await statusAndError(token);
    expect(refused).toEqual({ status: 401, message: `Authentication Error, ${message}`, type: 'auth_error' });
  });

  it('401: a token that expired a minute ago; 200: ten seconds ago, which may be clock skew', async () => {
    expect(await statusAndError(await issuer.token({ sub: 'anna' }, { expiresIn: -60 }))).toEqual({
      status: 401,
      message: 'Authentication Error - Token Expired',
      type: 'expired_key',
    });
    expect((await statusAndError(await issuer.token({ sub: 'anna' }, { expiresIn: -10 }))).status).toBe(200);
  });

  it('401: a token that is signed with another key of the same id', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const refused = await statusAndError(await issuer.token({ sub: 'anna' }, { key: privateKey }));
    expect(refused.message).toBe('Authentication Error, Validation fails: its signature is wrong.');
  });

  it('401: an unsigned token, and a token that is signed with the public key as a secret', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const now = Math.floor(Date.now() / 1000);
    const claims = part({ sub: 'boss', iss: 'https://issuer.example', aud: 'the-gateway', exp: now + 100 });
    const message = 'Authentication Error, Validation fails: its algorithm is not one of a public key.';
    expect((await statusAndError(`${part({ alg: 'none', kid: 'key-RS256' })}.${claims}.`)).message).toBe(message);
    const secret = Buffer.from(JSON.stringify(await issuer.publicKeyOf('key-RS256')));
    const forged = await issuer.token({ sub: 'boss' }, { alg: 'HS256', kid: 'key-RS256', key: secret });
    expect((await statusAndError(forged)).message).toBe(message);
  });

  it('401: a malformed or oversized token, which the answer does not contain', async () => {
    for (const token of ['eyJ', 'eyJhbGciOiJSUzI1NiJ9.e.x', 'eyJ!.a.b', `eyJ${'a'.repeat(9_000)}`]) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      const refused = await statusAndError(token);
      expect(refused.status).toBe(401);
      expect(refused.message).toMatch(/^Authentication Error, Validation fails: /);
      expect(refused.message).not.toContain(token.slice(0, 30));
    }
  });

  it('401: unknown key ids cause at most one read of the key set', async () => {
    const readsBefore = issuer.state.reads;
    const { privateKey } = await generateKeyPair('RS256');
    const tokens = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        issuer.token({ sub: 'anna' }, { kid: `unknown-${index}`, key: privateKey }),
      ),
    );
    const statuses = await Promise.all(tokens.map(async (token) => (await statusAndError(token)).status));
    expect(statuses.every((status) => status === 401)).toBe(true);
    expect(issuer.state.reads - readsBefore).toBeLessThanOrEqual(1);
  });
});

describe('the bearer of a token', () => {
  const tokenOf = (claims: Json): Promise<string> => issuer.token(claims);

  it('is stored as a user; the spend row has user, customer, and the first team that allows the model', async () => {
    const token = await tokenOf({
      sub: 'bert',
      email: 'Bert@example.org',
      groups: ['unknown-team', 'blue', 'red'],
      customer: 'c1',
    });
    const answer = await send(token, '/v1/chat/completions', { ...chat(), user: 'forged' });
    expect(answer.status).toBe(200);
    await expect
      .poll(async () => {
        const rows = await (await app.call('GET', '/spend/logs?user_id=bert')).json();
        return (rows as readonly Json[]).map(({ user, team_id, end_user }) => ({ user, team_id, end_user }));
      })
      .toContainEqual({ user: 'bert', team_id: 'red', end_user: 'c1' });
    const info = (await (await app.call('GET', '/user/info?user_id=bert')).json()) as Json;
    expect(info['user_info']).toMatchObject({ user_id: 'bert', user_email: 'bert@example.org' });
  });

  it('403: no team allows the model, or no team of the token exists', async () => {
    const blueOnly = await tokenOf({ sub: 'bert', groups: ['blue'] });
    expect((await send(blueOnly, '/v1/chat/completions', chat())).status).toBe(403);
    const blueAndRed = await tokenOf({ sub: 'bert', groups: ['blue', 'red'] });
    const answer = await send(blueAndRed, '/v1/chat/completions', chat('third'));
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 403,
      body: { error: { message: 'No team has access to the requested model: third.' } },
    });
    const { status, body } = await send(await tokenOf({ sub: 'bert', groups: ['x', 'y'] }), '/v1/models');
    expect({ status, body }).toEqual(
      envelope(403, "No team of the token exists. Allowed team ids: ['x', 'y']", 'auth_error', 'None'),
    );
  });

  it('has the role of its scope, of its role claim, or of its user', async () => {
    const listStatus = async (claims: Json): Promise<number> =>
      (await send(await tokenOf(claims), '/user/list')).status;
    const creationStatus = async (claims: Json): Promise<number> =>
      (await send(await tokenOf(claims), '/user/new', { user_id: `of-${String(claims['sub'])}` })).status;
    expect(await listStatus({ sub: 'root', scope: 'openid litellm_proxy_admin' })).toBe(200);
    expect(await creationStatus({ sub: 'root', scope: 'openid litellm_proxy_admin' })).toBe(200);
    expect(await listStatus({ sub: 'carla', realm: { roles: ['auditor'] } })).toBe(200);
    expect(await creationStatus({ sub: 'carla', realm: { roles: ['auditor'] } })).toBe(403);
    expect(await listStatus({ sub: 'plain' })).toBe(403);
    expect(await creationStatus({ sub: 'plain', scope: 'litellm_proxy_admin_not' })).toBe(401);
    await app.call('POST', '/user/new', { user_id: 'stored-admin', user_role: 'proxy_admin' });
    expect(await listStatus({ sub: 'stored-admin' })).toBe(200);
    expect(await listStatus({ sub: 'stored-admin', realm: { roles: ['person'] } })).toBe(403);
  });

  it('422: the budget of the user is used up', async () => {
    await app.call('POST', '/user/new', { user_id: 'poor', max_budget: 0 });
    const { status, body } = await send(await tokenOf({ sub: 'poor' }), '/v1/chat/completions', {
      ...chat('priced'),
    });
    expect([status, (body as { error: { type: string } }).error.type]).toEqual([422, 'budget_exceeded']);
  });

  it('401: the team of the token is blocked', async () => {
    await app.call('POST', '/team/new', { team_id: 'shut' });
    const token = await tokenOf({ sub: 'bert', groups: ['shut'] });
    expect((await send(token, '/v1/models')).status).toBe(200);
    await app.call('POST', '/team/block', { team_id: 'shut' });
    expect(await send(token, '/v1/models')).toMatchObject({ status: 401 });
  });

  it('may use the graph', async () => {
    const query = { query: '{ viewer { role } }' };
    const answer = await send(await tokenOf({ sub: 'bert' }), '/graphql', query);
    expect(answer).toMatchObject({ status: 200, body: { data: { viewer: { role: 'INTERNAL_USER' } } } });
  });
});

describe('the team header', () => {
  const modelsWithHeader = async (value: string, name = 'x-gateway-team-id') => {
    const { status, body } = await send(
      await issuer.token({ sub: 'bert', groups: ['red', 'blue'] }),
      '/v1/models',
      undefined,
      {
        [name]: value,
      },
    );
    return { status, models: ((body['data'] ?? []) as readonly { id: string }[]).map(({ id }) => id) };
  };

  it('selects a team by id and by alias', async () => {
    expect(await modelsWithHeader('red')).toEqual({ status: 200, models: ['demo'] });
    expect(await modelsWithHeader('red-alias', 'x-litellm-team-id')).toEqual({ status: 200, models: ['demo'] });
    // The team allows only a model that is not configured.
    expect(await modelsWithHeader('blue')).toEqual({ status: 200, models: [] });
  });

  it('403: a team outside the token, an unknown team, and an alias that several teams share', async () => {
    await app.call('POST', '/team/new', { team_id: 'red-2', team_alias: 'blue-alias' });
    for (const value of ['red-2', 'unknown', 'blue-alias']) {
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      const token = await issuer.token({ sub: 'bert', groups: ['red', 'blue'] });
      // oxlint-disable-next-line no-await-in-loop -- sequential requests
      const { status, body } = await send(token, '/v1/models', undefined, { 'x-gateway-team-id': value });
      expect({ status, body }).toEqual(
        envelope(
          403,
          "The team header matches no team id and no team alias among your JWT's allowed teams. Allowed team ids: ['blue', 'red']",
          'auth_error',
          'None',
        ),
      );
    }
  });
});
