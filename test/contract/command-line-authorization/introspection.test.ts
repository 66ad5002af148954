import { describe, expect, it } from 'vitest';
import { authorizationClient, type JsonAnswer } from '../../support/authorization-client.ts';
import { tenancyClient } from '../../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const server = tenancyClient({ env: { UI_PASSWORD: PASSWORD } });
const client = authorizationClient(() => server.app().url);
const ADMIN = { username: 'admin', password: PASSWORD };
const INACTIVE: JsonAnswer = { status: 200, body: { active: false } };

async function introspect(token: string, key: string | null = server.app().adminKey): Promise<JsonAnswer> {
  const answer = await fetch(`${server.app().url}/introspect`, {
    method: 'POST',
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
    body: new URLSearchParams(token === '' ? {} : { token }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('commandLineAuthorization.introspect', () => {
  it('200: a key and a refresh token of a login are active, until the login ends', async () => {
    const { body, clientId } = await client.logIn(ADMIN);
    const [key, refreshToken] = [String(body['access_token']), String(body['refresh_token'])];
    const shared = {
      active: true,
      sub: 'default_user_id',
      team_id: null,
      client_name: 'litellm-cli',
      iat: expect.any(Number),
      exp: expect.any(Number),
    };
    const ofKey = { status: 200, body: { ...shared, token_type: 'Bearer' } };
    expect(await introspect(key)).toEqual(ofKey);
    expect(await introspect(key, key)).toEqual(ofKey);
    expect(await introspect(refreshToken)).toEqual({ status: 200, body: { ...shared, token_type: 'refresh_token' } });
    await client.post('/revoke', { token: refreshToken, client_id: clientId });
    expect(await introspect(key)).toEqual(INACTIVE);
    expect(await introspect(refreshToken)).toEqual(INACTIVE);
  });

  it('200: a replaced refresh token, a key of no login, any other text, and a token of another user are inactive', async () => {
    const login = await client.logIn(ADMIN);
    const [key, refreshToken] = [String(login.body['access_token']), String(login.body['refresh_token'])];
    const other = await server.user({ user_id: 'emil' });
    expect(await introspect(key, other)).toEqual(INACTIVE);
    expect(await introspect(refreshToken, other)).toEqual(INACTIVE);
    expect(await introspect(other)).toEqual(INACTIVE);
    expect(await introspect('unknown')).toEqual(INACTIVE);
    await client.post('/token', {
      grant_type: 'refresh_token',
      client_id: login.clientId,
      refresh_token: refreshToken,
    });
    expect(await introspect(refreshToken)).toEqual(INACTIVE);
    // The key before is valid until its expiry.
    expect(await introspect(key)).toMatchObject({ body: { active: true } });
  });

  it('200: a key is inactive while its team is blocked', async () => {
    await server.user({ user_id: 'greta' });
    await server.post('/team/new', { team_id: 'team-g' });
    const password = await server.key({ user_id: 'greta', team_id: 'team-g' });
    const { body } = await client.logIn({ username: 'greta', password });
    const key = String(body['access_token']);
    expect(await introspect(key)).toMatchObject({ body: { active: true, team_id: 'team-g' } });
    expect((await server.post('/team/block', { team_id: 'team-g' })).status).toBe(200);
    expect(await introspect(key)).toEqual(INACTIVE);
    expect((await server.post('/team/unblock', { team_id: 'team-g' })).status).toBe(200);
    expect(await introspect(key)).toMatchObject({ body: { active: true } });
  });

  it('400: no token; 401: no key', async () => {
    expect(await introspect('')).toEqual({
      status: 400,
      body: { error: 'invalid_request', error_description: 'token is missing.' },
    });
    expect(await introspect('x', null)).toEqual({
      status: 401,
      body: { error: 'invalid_client', error_description: expect.stringMatching(/^No api key passed in\./) },
    });
  });

  it('429: introspections count as token requests of a network', async () => {
    let answer = await introspect('unknown');
    for (let count = 0; count < 300 && answer.status === 200; count += 1) answer = await introspect('unknown');
    expect(answer).toEqual({
      status: 429,
      body: {
        error: 'temporarily_unavailable',
        error_description: 'Too many token requests from your address. Try again later.',
      },
    });
  });
});
