import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const client = tenancyClient({ env: { UI_PASSWORD: PASSWORD, LITELLM_CLI_JWT_EXPIRATION_HOURS: '2' } });
const rateLimitClient = tenancyClient();

interface Login {
  readonly login_id: string;
  readonly poll_secret: string;
  readonly user_code: string;
}

async function start(): Promise<Login> {
  const { status, body } = await client.post('/sso/cli/start', {}, '');
  expect(status).toBe(200);
  return body as unknown as Login;
}

async function poll({ login_id, poll_secret }: Login, query = '') {
  const answer = await client.app().call('GET', `/sso/cli/poll/${login_id}${query}`, undefined, {
    authorization: '',
    'x-litellm-cli-poll-secret': poll_secret,
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

async function complete(login: Login, form: { code?: string; username: string; password: string; accept?: string }) {
  const answer = await fetch(`${client.app().url}/sso/cli/complete/${login.login_id}`, {
    method: 'POST',
    headers: form.accept === undefined ? {} : { accept: form.accept },
    body: new URLSearchParams({
      user_code: form.code ?? login.user_code,
      username: form.username,
      password: form.password,
    }),
  });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

/** Starts and completes a login. Returns the answer to one poll. */
async function logIn(username: string, password: string, query = '') {
  const login = await start();
  expect((await complete(login, { username, password })).status).toBe(200);
  return poll(login, query);
}

/** Creates a user with memberships of new teams. Returns the key of the user, which is also the login password. */
async function newMember(userId: string, teams: readonly string[], role = 'internal_user'): Promise<string> {
  const key = await client.user({ user_id: userId, user_role: role });
  for (const team of teams) {
    // oxlint-disable-next-line no-await-in-loop -- in the order of the memberships
    await client.post('/team/new', { team_id: team, team_alias: `${team}-alias` });
    // oxlint-disable-next-line no-await-in-loop -- in the order of the memberships
    await client.post('/team/member_add', { team_id: team, member: { role: 'user', user_id: userId } });
  }
  return key;
}

const malformed = envelope(400, 'The id of the login is malformed.', 'auth_error', 'None');
const unknownLogin = envelope(400, 'The login is unknown or has expired. Start it again.', 'auth_error', 'None');

describe('signIn.cliStart', () => {
  it('200: an id, a poll secret and a code', async () => {
    const { status, body } = await client.post('/sso/cli/start', {}, '');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        login_id: expect.stringMatching(/^cli-[\w-]{36}$/),
        poll_secret: expect.stringMatching(/^.{20,}$/),
        user_code: expect.stringMatching(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/),
        expires_in: 600,
      },
    });
  });

  it('429: more than thirty logins a minute from one network', async () => {
    const answers = await Promise.all(Array.from({ length: 31 }, () => rateLimitClient.post('/sso/cli/start', {}, '')));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
  });
});

describe('signIn.page', () => {
  it('200: the form of a login has its id, and no other text of the query', async () => {
    const login = await start();
    const pageOf = async (key: string) =>
      (await fetch(`${client.app().url}/sso/key/generate?source=litellm-cli&key=${encodeURIComponent(key)}`)).text();
    expect(await pageOf(login.login_id)).toContain(`action="../../sso/cli/complete/${login.login_id}"`);
    expect(await pageOf('cli-"><script>')).toContain('action="../../login"');
  });
});

describe('signIn.cliComplete', () => {
  it('200: a page; 400: a completed login', async () => {
    const login = await start();
    const done = await complete(login, { username: 'admin', password: PASSWORD });
    expect([done.status, done.type]).toEqual([200, 'text/html; charset=utf-8']);
    expect((await complete(login, { username: 'admin', password: PASSWORD })).status).toBe(400);
  });

  it('400: a wrong code, an unknown login, a malformed id; the fifth wrong code ends the login', async () => {
    const login = await start();
    const wrong = { code: 'AAAA-AAAA', username: 'admin', password: PASSWORD };
    const first = await complete(login, { ...wrong, accept: 'text/html' });
    expect([first.status, first.type]).toEqual([400, 'text/html; charset=utf-8']);
    expect(first.text).toContain('The verification code is not the one that the command line shows.');
    for (let attempt = 2; attempt <= 5; attempt += 1)
      // oxlint-disable-next-line no-await-in-loop -- sequential attempts
      expect((await complete(login, wrong)).status).toBe(400);
    expect(await poll(login)).toEqual(unknownLogin);
    expect((await complete({ ...login, login_id: 'cli-unknown' }, wrong)).status).toBe(400);
    expect((await complete({ ...login, login_id: 'x' }, wrong)).status).toBe(400);
  });

  it('401: wrong credentials with the right code', async () => {
    const login = await start();
    expect((await complete(login, { username: 'admin', password: 'wrong' })).status).toBe(401);
    expect(await poll(login)).toEqual({ status: 200, body: { status: 'pending' } });
  });

  it('403: a form on a page of another site', async () => {
    // `fetch` does not allow these headers.
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    };
    const { login_id: id } = await start();
    const outgoing = request(`${client.app().url}/sso/cli/complete/${id}`, { method: 'POST', headers });
    outgoing.end('user_code=x');
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });

  it('429: while a name is blocked', async () => {
    const login = await start();
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 7; attempt += 1)
      // oxlint-disable-next-line no-await-in-loop -- sequential attempts
      statuses.push((await complete(login, { username: 'eve', password: 'x' })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });
});

describe('signIn.cliPoll', () => {
  it('200: pending, then the session, which is returned once and expires after the configured hours', async () => {
    const login = await start();
    expect(await poll(login)).toEqual({ status: 200, body: { status: 'pending' } });
    await complete(login, {
      code: login.user_code.toLowerCase().replace('-', ' '),
      username: 'admin',
      password: PASSWORD,
    });
    const ready = await poll(login);
    expect(ready).toEqual({
      status: 200,
      body: {
        status: 'ready',
        key: expect.stringMatching(/^sk-/),
        user_id: 'default_user_id',
        team_id: null,
        teams: [],
        team_details: [],
      },
    });
    expect(await poll(login)).toEqual(unknownLogin);
    const key = String(ready.body['key']);
    const { info } = (await client.get('/key/info', key)).body as { info: { expires: string } };
    const hours = (new Date(info.expires).getTime() - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(1.9);
    expect(hours).toBeLessThanOrEqual(2);
    expect((await client.post('/logout', {}, key)).status).toBe(200);
    expect((await client.get('/key/info', key)).status).toBe(401);
  });

  it('200: asks for a team if there are several, or `team_id=skip` selects the first; 403: a team that the user is not in', async () => {
    const key = await newMember('anna', ['one', 'two']);
    const login = await start();
    await complete(login, { username: 'anna', password: key });
    expect(await poll(login)).toEqual({
      status: 200,
      body: {
        status: 'ready',
        user_id: 'anna',
        teams: ['one', 'two'],
        team_details: [
          { team_id: 'one', team_alias: 'one-alias' },
          { team_id: 'two', team_alias: 'two-alias' },
        ],
        requires_team_selection: true,
      },
    });
    expect(await poll(login, '?team_id=three')).toEqual(
      envelope(403, "Team 'three' is not in your team memberships.", 'auth_error', 'None'),
    );
    expect(await poll(login, '?team_id=two')).toMatchObject({ status: 200, body: { team_id: 'two', user_id: 'anna' } });
    expect(await logIn('anna', key, '?team_id=skip')).toMatchObject({ status: 200, body: { team_id: 'one' } });
  });

  it('403: a wrong secret; 400: a malformed and an unknown id', async () => {
    const login = await start();
    expect(await poll({ ...login, poll_secret: 'wrong' })).toEqual(
      envelope(403, 'The poll secret is wrong.', 'auth_error', 'None'),
    );
    expect(await poll({ ...login, login_id: 'x' })).toEqual(malformed);
    expect(await poll({ ...login, login_id: 'cli-x' })).toEqual(unknownLogin);
  });
});

describe('a session of the command line', () => {
  it('403: the user is removed from the team; 401: the user is deleted', async () => {
    const password = await newMember('bert', ['berts']);
    const key = String((await logIn('bert', password)).body['key']);
    expect((await client.get('/v1/models', key)).status).toBe(200);
    await client.post('/team/member_delete', { team_id: 'berts', user_id: 'bert' });
    expect(await client.get('/v1/models', key)).toEqual(
      envelope(403, "Team 'berts' is not in your team memberships.", 'auth_error', 'None'),
    );
    await client.post('/user/delete', { user_ids: ['bert'] });
    expect((await client.get('/v1/models', key)).status).toBe(401);
  });

  it('403: a demoted administrator on routes of administrators', async () => {
    const password = await newMember('boss', [], 'proxy_admin');
    const key = String((await logIn('boss', password)).body['key']);
    expect((await client.get('/user/list', key)).status).toBe(200);
    await client.post('/user/update', { user_id: 'boss', user_role: 'internal_user' });
    expect((await client.get('/user/list', key)).status).toBe(403);
  });
});
