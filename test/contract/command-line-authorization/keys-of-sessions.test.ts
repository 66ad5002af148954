import { describe, expect, it } from 'vitest';
import { authorizationClient, type JsonAnswer } from '../../support/authorization-client.ts';
import { chat, tenancyClient } from '../../support/tenancy-client.ts';

const server = tenancyClient();
const client = authorizationClient(() => server.app().url);

const failed = (status: number, error: string, description: string): JsonAnswer => ({
  status,
  body: { error, error_description: description },
});
const text = (answer: JsonAnswer, name: string): string => String(answer.body[name]);
const refresh = (clientId: string, token: string): Promise<JsonAnswer> =>
  client.post('/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: token });

describe('commandLineAuthorization.token, sessions that a key opened', () => {
  it('200: the session of a demoted key has no rights of administrators', async () => {
    await server.user({ user_id: 'carl', user_role: 'proxy_admin' });
    const password = await server.key({ user_id: 'carl', user_role: 'proxy_admin' });
    const first = await client.logIn({ username: 'carl', password });
    expect((await server.get('/user/list', text(first, 'access_token'))).status).toBe(200);
    expect((await server.post('/key/update', { key: password, user_role: 'internal_user' })).status).toBe(200);
    expect((await server.get('/user/list', text(first, 'access_token'))).status).toBe(403);
    const second = await refresh(first.clientId, text(first, 'refresh_token'));
    expect((await server.get('/user/list', text(second, 'access_token'))).status).toBe(403);
  });

  it('200: all sessions of a key count in the limits of the key', async () => {
    await server.user({ user_id: 'gina' });
    const password = await server.key({ user_id: 'gina', rpm_limit: 2 });
    const sessions = [
      await client.logIn({ username: 'gina', password }),
      await client.logIn({ username: 'gina', password }),
    ];
    const call = async (key: string) => (await server.post('/v1/chat/completions', chat(), key)).status;
    expect([await call(text(sessions[0] as JsonAnswer, 'access_token')), await call(password)]).toEqual([200, 200]);
    expect(await call(text(sessions[1] as JsonAnswer, 'access_token'))).toBe(429);
  });

  it('400: the key of the sign-in was moved to another team', async () => {
    await server.user({ user_id: 'erna' });
    for (const team_id of ['team-1', 'team-2']) await server.post('/team/new', { team_id });
    const password = await server.key({ user_id: 'erna', team_id: 'team-1' });
    const first = await client.logIn({ username: 'erna', password });
    expect(first.body).toMatchObject({ team_id: 'team-1' });
    expect((await server.post('/key/update', { key: password, team_id: 'team-2' })).status).toBe(200);
    expect(await refresh(first.clientId, text(first, 'refresh_token'))).toEqual(
      failed(400, 'invalid_grant', 'The sign-in is no longer valid. Sign in again.'),
    );
  });

  it('429: more than twenty renewals of a session in ten minutes', async () => {
    const password = await server.user({ user_id: 'fred' });
    const { clientId, ...first } = await client.logIn({ username: 'fred', password });
    let token = text(first, 'refresh_token');
    for (let renewal = 0; renewal < 20; renewal += 1) token = text(await refresh(clientId, token), 'refresh_token');
    expect(await refresh(clientId, token)).toEqual(
      failed(429, 'temporarily_unavailable', 'Too many renewals from this login. Try again later.'),
    );
  });
});
