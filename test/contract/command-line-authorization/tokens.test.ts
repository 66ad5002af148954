import { describe, expect, it } from 'vitest';
import { authorizationClient, codeIn, type JsonAnswer } from '../../support/authorization-client.ts';
import { tenancyClient } from '../../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const server = tenancyClient({ env: { UI_PASSWORD: PASSWORD, LITELLM_CLI_JWT_EXPIRATION_HOURS: '2' } });
const limitedServer = tenancyClient();
const client = authorizationClient(() => server.app().url);
const ADMIN = { username: 'admin', password: PASSWORD };

const failed = (status: number, error: string, description: string): JsonAnswer => ({
  status,
  body: { error, error_description: description },
});
const refusedGrant = (description: string) => failed(400, 'invalid_grant', description);
const UNKNOWN_CODE = refusedGrant('The code is unknown, was used or has expired.');
const UNKNOWN_TOKEN = refusedGrant('The refresh token is unknown, was revoked or has expired.');
const ENDED = refusedGrant('The sign-in is no longer valid. Sign in again.');
const REUSED = refusedGrant('The refresh token was used before. The session has ended: sign in again.');

const TOO_MANY = failed(429, 'temporarily_unavailable', 'Too many token requests from your address. Try again later.');

const text = (answer: JsonAnswer, name: string): string => String(answer.body[name]);
const refresh = (clientId: string, token: string, more: Record<string, string> = {}): Promise<JsonAnswer> =>
  client.post('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token, ...more });
const statusOfKey = async (key: string): Promise<number> => (await server.get('/v1/models', key)).status;

/** A code of the administrator, and the parameters that exchange it. */
async function newCode(): Promise<Record<string, string>> {
  const clientId = await client.clientId();
  return {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: codeIn(await client.signIn(client.request(clientId), ADMIN)),
    redirect_uri: client.redirectUri,
    code_verifier: client.verifier,
    resource: server.app().url,
  };
}

describe('commandLineAuthorization.token', () => {
  it('200: a key of the user with the lifetime of logins, and a refresh token', async () => {
    const answer = await fetch(`${server.app().url}/token`, {
      method: 'POST',
      body: new URLSearchParams(await newCode()),
    });
    const body = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^sk-[\w-]{32}$/),
        token_type: 'Bearer',
        expires_in: 7_200,
        refresh_token: expect.stringMatching(/^rt-[\w-]{32}\.[\w-]{32}$/),
        user_id: 'default_user_id',
        team_id: null,
      },
    ]);
    expect([answer.headers.get('cache-control'), answer.headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect((await server.get('/user/list', String(body['access_token']))).status).toBe(200);
  });

  it('400: a code is exchanged once; its second use ends the session', async () => {
    const form = await newCode();
    const first = await client.post('/token', form);
    expect(first.status).toBe(200);
    expect(await statusOfKey(text(first, 'access_token'))).toBe(200);
    expect(await client.post('/token', form)).toEqual(UNKNOWN_CODE);
    expect(await statusOfKey(text(first, 'access_token'))).toBe(401);
    expect(await refresh(form['client_id'] ?? '', text(first, 'refresh_token'))).toEqual(UNKNOWN_TOKEN);
  });

  it('400: concurrent exchanges of a code have one success at most', async () => {
    const form = await newCode();
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.post('/token', form)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
  });

  it.each([
    [{ code_verifier: 'x'.repeat(43) }, refusedGrant('code_verifier does not match the code_challenge.')],
    [
      { redirect_uri: 'http://127.0.0.1:1/callback' },
      refusedGrant('redirect_uri is not the one of the authorization request.'),
    ],
    [{ client_id: 'llm_dcrc_other' }, refusedGrant('The code is of another client.')],
  ])('400: a code is bound to %j, and a wrong attempt uses it up', async (change, refusal) => {
    const form = await newCode();
    expect(await client.post('/token', { ...form, ...change })).toEqual(refusal);
    expect(await client.post('/token', form)).toEqual(UNKNOWN_CODE);
  });

  it.each([
    [{ grant_type: '' }, failed(400, 'invalid_request', 'grant_type is missing.')],
    [
      { grant_type: 'password' },
      failed(400, 'unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.'),
    ],
    [{ client_id: '' }, failed(400, 'invalid_request', 'client_id is missing.')],
    [{ code: '' }, failed(400, 'invalid_request', 'code is missing.')],
    [{ redirect_uri: '' }, failed(400, 'invalid_request', 'redirect_uri is missing.')],
    [{ code_verifier: '' }, failed(400, 'invalid_request', 'code_verifier is missing.')],
    [{ grant_type: 'refresh_token' }, failed(400, 'invalid_request', 'refresh_token is missing.')],
  ])('400: %j', async (change, refusal) => {
    const form = { grant_type: 'authorization_code', client_id: 'c', code: 'c', redirect_uri: 'r', code_verifier: 'v' };
    expect(await client.post('/token', { ...form, ...change })).toEqual(refusal);
  });

  it('400: another resource, a parameter that was sent twice, and another media type', async () => {
    const { url } = server.app();
    expect(await client.post('/token', { ...(await newCode()), resource: 'https://evil.example.org' })).toEqual(
      failed(400, 'invalid_target', `resource must be ${url}.`),
    );
    const twice = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=refresh_token&grant_type=refresh_token',
    });
    expect([twice.status, await twice.json()]).toEqual([
      400,
      failed(400, 'invalid_request', 'grant_type was sent more than once.').body,
    ]);
    const json = await fetch(`${url}/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"grant_type":"refresh_token"}',
    });
    expect([json.status, await json.json()]).toEqual([
      400,
      failed(400, 'invalid_request', 'The body must have the media type application/x-www-form-urlencoded.').body,
    ]);
  });

  it('200: a renewal replaces both tokens; the key before stays valid, and the one before it does not', async () => {
    const first = await client.logIn(ADMIN);
    const { clientId } = first;
    const second = await refresh(clientId, text(first, 'refresh_token'), { resource: server.app().url });
    expect(second).toEqual({
      status: 200,
      body: {
        ...first.body,
        access_token: expect.stringMatching(/^sk-/),
        refresh_token: expect.stringMatching(/^rt-[\w-]{32}\.[\w-]{32}$/),
      },
    });
    expect(text(second, 'access_token')).not.toBe(text(first, 'access_token'));
    expect(text(second, 'refresh_token')).not.toBe(text(first, 'refresh_token'));
    const third = await refresh(clientId, text(second, 'refresh_token'));
    const keys = [first, second, third].map((answer) => text(answer, 'access_token'));
    expect(await Promise.all(keys.map(statusOfKey))).toEqual([401, 200, 200]);
  });

  it('400: a refresh token of an earlier renewal ends the session', async () => {
    const first = await client.logIn(ADMIN);
    const second = await refresh(first.clientId, text(first, 'refresh_token'));
    const third = await refresh(first.clientId, text(second, 'refresh_token'));
    expect(third.status).toBe(200);
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(REUSED);
    expect(await refresh(first.clientId, text(third, 'refresh_token'))).toEqual(UNKNOWN_TOKEN);
    expect(await statusOfKey(text(second, 'access_token'))).toBe(401);
    expect(await statusOfKey(text(third, 'access_token'))).toBe(401);
  });

  it('400: the refresh token that was just replaced; the session continues', async () => {
    const first = await client.logIn(ADMIN);
    const second = await refresh(first.clientId, text(first, 'refresh_token'));
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(
      refusedGrant('The refresh token was replaced a moment ago.'),
    );
    expect((await refresh(first.clientId, text(second, 'refresh_token'))).status).toBe(200);
  });

  it('400: concurrent renewals have one success, and the session continues', async () => {
    const first = await client.logIn(ADMIN);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => refresh(first.clientId, text(first, 'refresh_token'))),
    );
    const renewed = answers.filter(({ status }) => status === 200);
    expect(renewed).toHaveLength(1);
    expect(answers.filter(({ body }) => body['error'] === 'invalid_grant')).toHaveLength(3);
    const [winner] = renewed;
    expect(await statusOfKey(String(winner?.body['access_token']))).toBe(200);
    expect((await refresh(first.clientId, String(winner?.body['refresh_token']))).status).toBe(200);
  });

  it('400: a refresh token of another client, an invented one, and one of a deleted key', async () => {
    const first = await client.logIn(ADMIN);
    expect(await refresh(await client.clientId(), text(first, 'refresh_token'))).toEqual(
      refusedGrant('The refresh token is of another client.'),
    );
    expect(await refresh(first.clientId, 'rt-unknown')).toEqual(UNKNOWN_TOKEN);
    expect(await refresh(first.clientId, `rt-${'x'.repeat(32)}.${'y'.repeat(32)}`)).toEqual(UNKNOWN_TOKEN);
    await server.post('/key/delete', { keys: [text(first, 'access_token')] });
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(ENDED);
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(UNKNOWN_TOKEN);
  });

  it('400: the key of the sign-in was replaced, the person left the team, or the user was deleted', async () => {
    const password = await server.user({ user_id: 'bert' });
    await server.post('/team/new', { team_id: 'berts' });
    await server.post('/team/member_add', { team_id: 'berts', member: { role: 'user', user_id: 'bert' } });
    const first = await client.logIn({ username: 'bert', password });
    expect(first.body).toMatchObject({ user_id: 'bert', team_id: 'berts' });
    await server.post('/team/member_delete', { team_id: 'berts', user_id: 'bert' });
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(ENDED);
    const second = await client.logIn({ username: 'bert', password });
    expect(second.body).toMatchObject({ user_id: 'bert', team_id: null });
    const { body } = await server.post('/key/regenerate', { key: password });
    expect(await refresh(second.clientId, text(second, 'refresh_token'))).toEqual(ENDED);
    const third = await client.logIn({ username: 'bert', password: String(body['key']) });
    expect(third.status).toBe(200);
    await server.post('/user/delete', { user_ids: ['bert'] });
    expect(await refresh(third.clientId, text(third, 'refresh_token'))).toEqual(ENDED);
  });

  it('400: a code of a key that was replaced since, and of another sign-in route', async () => {
    const password = await server.user({ user_id: 'cora' });
    const clientId = await client.clientId();
    const code = codeIn(await client.signIn(client.request(clientId), { username: 'cora', password }));
    await server.post('/key/regenerate', { key: password });
    const form = { ...(await newCode()), client_id: clientId, code };
    expect(await client.post('/token', form)).toEqual(ENDED);
  });

  it('200: the session of a demoted administrator has no rights of administrators, also after a renewal', async () => {
    const password = await server.user({ user_id: 'boss', user_role: 'proxy_admin' });
    const first = await client.logIn({ username: 'boss', password });
    expect((await server.get('/user/list', text(first, 'access_token'))).status).toBe(200);
    await server.post('/user/update', { user_id: 'boss', user_role: 'internal_user' });
    expect((await server.get('/user/list', text(first, 'access_token'))).status).toBe(403);
    const second = await refresh(first.clientId, text(first, 'refresh_token'));
    expect(second.status).toBe(200);
    expect((await server.get('/user/list', text(second, 'access_token'))).status).toBe(403);
  });

  it('200: a session of a key has the limits of the key', async () => {
    await server.user({ user_id: 'dora' });
    const password = await server.key({ user_id: 'dora', models: ['only-this'], duration: '1h' });
    const { body } = await client.logIn({ username: 'dora', password });
    expect(body['expires_in']).toBeLessThanOrEqual(3_600);
    const { info } = (await server.get('/key/info', String(body['access_token']))).body as {
      readonly info: { readonly models: readonly string[] };
    };
    expect(info.models).toEqual(['only-this']);
  });
});

describe('commandLineAuthorization.token, many requests', () => {
  it('429: more than three hundred a minute of one client, which do not count for another one', async () => {
    const limited = authorizationClient(() => limitedServer.app().url);
    const [busy, other] = [await limited.clientId(), await limited.clientId()];
    const form = (clientId: string) => ({
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: 'rt-unknown',
    });
    for (let count = 0; count < 300; count += 1)
      expect(await limited.post('/token', form(busy))).toEqual(UNKNOWN_TOKEN);
    const tooMany = failed(
      429,
      'temporarily_unavailable',
      'Too many token requests from this client. Try again later.',
    );
    expect(await limited.post('/token', form(busy))).toEqual(tooMany);
    expect(await limited.post('/revoke', { token: 'rt-unknown', client_id: busy })).toEqual(tooMany);
    expect(await limited.post('/token', form(other))).toEqual(UNKNOWN_TOKEN);
    // Other forms of the same id are no registered clients: they count by network.
    for (const same of [`${busy}=`, `${busy}!`]) {
      const request = { ...limited.request(same), redirect_uri: limited.redirectUri };
      expect((await limited.open(request)).status).toBe(400);
    }
  });

  it('429: more than three hundred a minute from one network without a registered client', async () => {
    const limited = authorizationClient(() => limitedServer.app().url);
    const form = { grant_type: 'refresh_token', client_id: 'c', refresh_token: 'rt-unknown' };
    for (let count = 0; count < 300; count += 1) expect(await limited.post('/token', form)).toEqual(UNKNOWN_TOKEN);
    expect(await limited.post('/token', form)).toEqual(TOO_MANY);
  });

  it('commandLineAuthorization.revoke 429: revocations count as well', async () => {
    const limited = authorizationClient(() => limitedServer.app().url);
    const form = { token: 'rt-unknown', client_id: 'c' };
    for (let count = 0; count < 301; count += 1) await limited.post('/revoke', form);
    expect(await limited.post('/revoke', form)).toEqual(TOO_MANY);
  });
});

describe('commandLineAuthorization.revoke', () => {
  const revoke = (token: string, clientId: string) => client.post('/revoke', { token, client_id: clientId });
  const REVOKED = { status: 200, body: {} };
  const UNKNOWN_CLIENT = failed(
    401,
    'invalid_client',
    'The client is unknown, or its registration has expired. Register it again.',
  );

  it('200: ends a session by its refresh token, its key, or the key before', async () => {
    const first = await client.logIn(ADMIN);
    const second = await refresh(first.clientId, text(first, 'refresh_token'));
    expect(await revoke(text(second, 'refresh_token'), first.clientId)).toEqual(REVOKED);
    expect(await statusOfKey(text(first, 'access_token'))).toBe(401);
    expect(await statusOfKey(text(second, 'access_token'))).toBe(401);
    expect(await refresh(first.clientId, text(second, 'refresh_token'))).toEqual(UNKNOWN_TOKEN);
    const third = await client.logIn(ADMIN, first.clientId);
    const fourth = await refresh(first.clientId, text(third, 'refresh_token'));
    expect(await revoke(text(third, 'access_token'), first.clientId)).toEqual(REVOKED);
    expect(await statusOfKey(text(fourth, 'access_token'))).toBe(401);
    const other = await client.logIn(ADMIN, first.clientId);
    expect(await revoke(text(other, 'access_token'), first.clientId)).toEqual(REVOKED);
    expect(await statusOfKey(text(other, 'access_token'))).toBe(401);
    expect(await refresh(first.clientId, text(other, 'refresh_token'))).toEqual(UNKNOWN_TOKEN);
  });

  it('200: an unknown token, twice; a key that is not a session is kept', async () => {
    const clientId = await client.clientId();
    expect(await revoke('unknown', clientId)).toEqual(REVOKED);
    expect(await revoke('unknown', clientId)).toEqual(REVOKED);
    const key = await server.user({ user_id: 'emil' });
    expect(await revoke(key, clientId)).toEqual(REVOKED);
    expect(await statusOfKey(key)).toBe(200);
  });

  it('400: no token', async () => {
    expect(await revoke('', await client.clientId())).toEqual(failed(400, 'invalid_request', 'token is missing.'));
  });

  it('401: no client, an unknown one, and that of another session', async () => {
    const login = await client.logIn(ADMIN);
    expect(await revoke('unknown', '')).toEqual(UNKNOWN_CLIENT);
    expect(await revoke('unknown', 'llm_dcrc_x')).toEqual(UNKNOWN_CLIENT);
    expect(await revoke(text(login, 'refresh_token'), await client.clientId())).toEqual(UNKNOWN_CLIENT);
    expect(await statusOfKey(text(login, 'access_token'))).toBe(200);
  });
});
