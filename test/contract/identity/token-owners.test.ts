import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startIssuer, type Issuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { envelope, type Json } from '../../support/tenancy-client.ts';

let issuer: Issuer;
let app: TestApp;

beforeAll(async () => {
  issuer = await startIssuer(['ES256']);
  app = await startApp({
    config: {
      general_settings: {
        enable_jwt_auth: true,
        litellm_jwtauth: {
          user_id_jwt_field: 'sub',
          user_email_jwt_field: 'email',
          fallback_to_db_teams: true,
          user_allowed_routes: ['/v1/models', '/user/info'],
        },
      },
    },
    env: { ...tokenEnvironment(issuer), JWT_PUBLIC_KEY_URL: issuer.discoveryUrl },
  });
  await app.call('POST', '/team/new', { team_id: 'one', team_alias: 'First', models: ['demo'] });
  await app.call('POST', '/team/new', { team_id: 'two', team_alias: 'Second', models: ['other'] });
  await app.call('POST', '/user/new', { user_id: 'anna' });
  for (const team of ['one', 'two'])
    // oxlint-disable-next-line no-await-in-loop -- two rows
    await app.call('POST', '/team/member_add', { team_id: team, member: { role: 'user', user_id: 'anna' } });
});
afterAll(async () => {
  await app.stop();
  await issuer.stop();
});

const token = (claims: Json): Promise<string> => issuer.token(claims, { alg: 'ES256' });

async function get(claims: Json, headers: Record<string, string> = {}, path = '/v1/models') {
  const answer = await app.call('GET', path, undefined, { authorization: `Bearer ${await token(claims)}`, ...headers });
  return { status: answer.status, body: (await answer.json()) as Json };
}

describe('a token without teams', () => {
  it('200: has the memberships of its user; the header selects one', async () => {
    const answer = await get({ sub: 'anna' }, { 'x-litellm-team-id': 'First' });
    expect(answer).toMatchObject({ status: 200, body: { data: [{ id: 'demo' }] } });
  });

  it('403: a team of which the user is not a member, and a team after the membership was removed', async () => {
    const refused = envelope(
      403,
      'The team header matches no team id and no team alias among your team memberships.',
      'auth_error',
      'None',
    );
    await app.call('POST', '/team/new', { team_id: 'three' });
    expect(await get({ sub: 'anna' }, { 'x-litellm-team-id': 'three' })).toEqual(refused);
    const bearer = await token({ sub: 'anna' });
    const headers = { authorization: `Bearer ${bearer}`, 'x-gateway-team-id': 'two' };
    expect((await app.call('GET', '/v1/models', undefined, headers)).status).toBe(200);
    await app.call('POST', '/team/member_delete', { team_id: 'two', user_id: 'anna' });
    expect((await app.call('GET', '/v1/models', undefined, headers)).status).toBe(403);
  });

  it('401: an unknown user, and a deleted user', async () => {
    const refused = envelope(401, "Authentication Error, user 'bert' does not exist.", 'token_not_found_in_db', 'key');
    expect(await get({ sub: 'bert' })).toEqual(refused);
    const bearer = await token({ sub: 'bert' });
    const headers = { authorization: `Bearer ${bearer}` };
    await app.call('POST', '/user/new', { user_id: 'bert' });
    expect((await app.call('GET', '/v1/models', undefined, headers)).status).toBe(200);
    await app.call('POST', '/user/delete', { user_ids: ['bert'] });
    expect((await app.call('GET', '/v1/models', undefined, headers)).status).toBe(401);
  });

  it('403: a route that is not allowed, and the graph', async () => {
    expect((await get({ sub: 'anna' }, {}, '/user/info')).status).toBe(200);
    expect((await get({ sub: 'anna' }, {}, '/key/list')).status).toBe(403);
    const authorization = `Bearer ${await token({ sub: 'anna' })}`;
    const answer = await app.call('POST', '/graphql', { query: '{ __typename }' }, { authorization });
    expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });
});

describe('the email of a user', () => {
  it('users.update 403: cannot be changed by the user, because tokens of another user would match', async () => {
    const created = await app.call('POST', '/user/new', { user_id: 'mallory', user_email: 'mallory@corp.example' });
    const { key } = (await created.json()) as { key: string };
    const ownHeaders = { authorization: `Bearer ${key}` };
    const change = { user_id: 'mallory', user_email: 'boss@corp.example' };
    const answer = await app.call('POST', '/user/update', change, ownHeaders);
    expect({ status: answer.status, body: await answer.json() }).toEqual(
      envelope(403, 'Only proxy admins change emails, because signed tokens name their users by email.'),
    );
    const aliasChange = await app.call('POST', '/user/update', { user_id: 'mallory', user_alias: 'M' }, ownHeaders);
    expect(aliasChange.status).toBe(200);
    expect((await get({ sub: 'boss', email: 'boss@corp.example' })).status).toBe(401);
    expect((await app.call('POST', '/user/update', change)).status).toBe(200);
  });
});

describe('a WebSocket of the graph', () => {
  /** First message of a new socket, or the code with which the server closes it. */
  const firstMessageOrCode = async (key: string): Promise<string> => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { authorization: `Bearer ${key}` },
    });
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    const ready = once(socket, 'message') as Promise<[Buffer]>;
    const answer = await Promise.race([ready.then(([text]) => text.toString()), closed.then(([code]) => String(code))]);
    socket.close();
    await closed;
    return answer;
  };

  it('is accepted with a valid token, and closed with an invalid token', async () => {
    expect(await firstMessageOrCode(await token({ scope: 'litellm_proxy_admin' }))).toBe('{"type":"connection_ack"}');
    expect(await firstMessageOrCode(await issuer.token({ sub: 'anna' }, { alg: 'ES256', audience: 'other' }))).toBe(
      '4403',
    );
  });
});

describe('an issuer that fails', () => {
  it('503: its tokens are refused with a retry time', async () => {
    const failingIssuer = await startIssuer(['ES256']);
    failingIssuer.state.status = 500;
    const appOfFailingIssuer = await startApp({
      config: { general_settings: { enable_jwt_auth: true } },
      env: tokenEnvironment(failingIssuer),
    });
    try {
      const headers = { authorization: `Bearer ${await failingIssuer.token({}, { alg: 'ES256' })}` };
      const answer = await appOfFailingIssuer.call('GET', '/v1/models', undefined, headers);
      expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true]);
    } finally {
      await appOfFailingIssuer.stop();
      await failingIssuer.stop();
    }
  });
});

describe('without `enable_jwt_auth`', () => {
  it('401: the error names the setting that enables tokens', async () => {
    const appWithoutTokens = await startApp();
    try {
      const answer = await appWithoutTokens.call('GET', '/v1/models', undefined, {
        authorization: `Bearer ${await token({})}`,
      });
      expect(answer.status).toBe(401);
      expect(JSON.stringify(await answer.json())).toContain('set `general_settings.enable_jwt_auth` to accept it');
    } finally {
      await appWithoutTokens.stop();
    }
  });
});
