import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { chat, envelope, tenancyClient } from '../../support/tenancy-client.ts';

const PASSWORD = 'a-long-password-of-a-test';
const client = tenancyClient({ env: { UI_PASSWORD: PASSWORD } });
const blockedNamesClient = tenancyClient();
const controlPlaneClient = tenancyClient({
  config: { general_settings: { control_plane_url: 'https://control.example' } },
});

async function signInByForm(username: string, password: string): Promise<Response> {
  return fetch(`${client.app().url}/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ username, password }),
  });
}
const signInByJson = (username: string, password: string) => client.post('/v2/login', { username, password }, '');

const REFUSED = envelope(
  401,
  "Invalid credentials: check the user name and the password, which is the user's key.",
  'auth_error',
  'invalid_credentials',
);

/** Names and values of the cookies of an answer. */
const cookiesOf = (answer: Response): ReadonlyMap<string, string> =>
  new Map(
    answer.headers.getSetCookie().map((text): [string, string] => {
      const [name = '', value = ''] = (text.split(';')[0] ?? '').split('=');
      return [name, value];
    }),
  );

describe('signIn.form', () => {
  it('303: with cookies that pages of other origins cannot use', async () => {
    const answer = await signInByForm('admin', client.app().adminKey);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'ui?login=success']);
    const [session = '', csrf = ''] = answer.headers.getSetCookie();
    expect(session).toMatch(/^lensgate_session=sk-[^;]+; HttpOnly; Path=\/; SameSite=Strict; Max-Age=86400$/);
    expect(csrf).toMatch(/^lensgate_csrf=[^;]+; Path=\/; SameSite=Strict; Max-Age=86400$/);
    const cookies = cookiesOf(answer);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const listUsers = (headers: Record<string, string>) => fetch(`${client.app().url}/user/list`, { headers });
    expect((await listUsers({ cookie, 'x-csrf-token': cookies.get('lensgate_csrf') ?? '' })).status).toBe(200);
    expect((await listUsers({ cookie })).status).toBe(401);
    expect((await listUsers({ cookie, 'x-csrf-token': 'other' })).status).toBe(401);
  });

  it('422: without a body', async () => {
    const answer = await fetch(`${client.app().url}/login`, { method: 'POST' });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body'] }] },
    });
  });

  it('401: wrong credentials', async () => {
    const answer = await signInByForm('someone', 'wrong');
    expect({ status: answer.status, body: await answer.json() }).toEqual(REFUSED);
  });

  it('401: a browser gets the form with the error', async () => {
    const answer = await fetch(`${client.app().url}/login`, {
      method: 'POST',
      headers: { accept: 'text/html,*/*;q=0.8' },
      body: new URLSearchParams({ username: '<b>', password: 'wrong' }),
    });
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      401,
      'text/html; charset=utf-8',
      'no-store',
    ]);
    const page = await answer.text();
    expect(page).toContain('<p class="notice" role="alert">Invalid credentials: check the user name');
    expect(page).toContain('<form action="login" method="post">');
  });

  it.each([
    ['signIn.form', '/login', 303],
    ['signIn.json', '/v2/login', 200],
    // This route is absent without `control_plane_url`.
    ['signIn.code', '/v3/login', 404],
  ])('%s 403: a cross-site form', async (_row, path, sameOriginStatus) => {
    // `fetch` does not allow these headers.
    const send = async (site: string) => {
      const outgoing = request(`${client.app().url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': site,
          'sec-fetch-mode': 'navigate',
        },
      });
      outgoing.end(new URLSearchParams({ username: 'admin', password: PASSWORD }).toString());
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      return { status: answer.statusCode, cookies: answer.headers['set-cookie'] ?? [], body: await textOf(answer) };
    };
    const { status, cookies, body } = await send('cross-site');
    expect({ status, body: JSON.parse(body) as unknown }).toEqual(
      envelope(403, 'Sign in on a page of this server.', 'auth_error', 'None'),
    );
    expect(cookies).toEqual([]);
    expect((await send('same-origin')).status).toBe(sameOriginStatus);
  });

  it('429: after six failures of a name, also with the right password; other names are not blocked', async () => {
    const send = (username: string, password: string) =>
      fetch(`${blockedNamesClient.app().url}/login`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ username, password }),
      });
    const statuses: number[] = [];
    for (const password of ['1', '2', '3', '4', '5', '6', blockedNamesClient.app().adminKey])
      // oxlint-disable-next-line no-await-in-loop -- sequential attempts
      statuses.push((await send('admin', password)).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429]);
    const refused = await send('ADMIN', 'x');
    const seconds = refused.headers.get('retry-after') ?? '';
    expect(Number(seconds)).toBeGreaterThan(200);
    expect({ status: refused.status, body: await refused.json() }).toEqual(
      envelope(429, `Too many failed sign-in attempts. Try again in ${seconds} seconds.`, 'auth_error', 'username'),
    );
    expect((await send('other', 'x')).status).toBe(401);
  });
});

describe('signIn.json', () => {
  it('200: the administrator, with the password or the admin key', async () => {
    for (const password of [PASSWORD, client.app().adminKey]) {
      // oxlint-disable-next-line no-await-in-loop -- two sign-ins
      const { status, body } = await signInByJson('admin', password);
      expect({ status, body }).toEqual({
        status: 200,
        body: { redirect_url: '/ui?login=success', token: expect.stringMatching(/^sk-/) },
      });
      // oxlint-disable-next-line no-await-in-loop -- two sign-ins
      expect((await client.get('/user/list', String(body['token']))).status).toBe(200);
    }
  });

  it('200: a user with its key, by id or email; the session ends when the user is deleted', async () => {
    const key = await client.user({ user_id: 'anna', user_email: 'anna@example.org', user_role: 'internal_user' });
    expect((await signInByJson('Anna@example.org', key)).status).toBe(200);
    const { body } = await signInByJson('anna', key);
    const token = String(body['token']);
    expect((await client.get('/user/info?user_id=anna', token)).status).toBe(200);
    await client.post('/user/delete', { user_ids: ['anna'] });
    expect((await client.get('/user/info?user_id=anna', token)).status).toBe(401);
  });

  it('200: a demoted administrator loses the routes of administrators', async () => {
    const key = await client.user({ user_id: 'boss', user_role: 'proxy_admin' });
    const token = String((await signInByJson('boss', key)).body['token']);
    expect((await client.get('/config/list?config_type=general_settings', token)).status).toBe(200);
    await client.post('/user/update', { user_id: 'boss', user_role: 'internal_user' });
    expect((await client.get('/config/list?config_type=general_settings', token)).status).toBe(401);
  });

  it('401: a wrong password, an unknown name, the name of another user, and a key without a user', async () => {
    const key = await client.user({ user_id: 'carl', user_role: 'internal_user' });
    expect(await signInByJson('admin', 'wrong')).toEqual(REFUSED);
    expect(await signInByJson('nobody', key)).toEqual(REFUSED);
    expect(await signInByJson('admin', key)).toEqual(REFUSED);
    expect(await signInByJson('admin', await client.key({}))).toEqual(REFUSED);
  });

  it('200: the administrator, also while its stored user has a lower role', async () => {
    expect((await client.post('/team/new', { team_id: 'own' })).status).toBe(200);
    const { body } = await client.get('/user/info?user_id=default_user_id');
    expect(body['user_info']).toMatchObject({ user_id: 'default_user_id', user_role: 'internal_user' });
    const token = String((await signInByJson('admin', PASSWORD)).body['token']);
    expect((await client.get('/user/list', token)).status).toBe(200);
  });

  it('401: a tracing key, also with the name of the administrator', async () => {
    const { body } = await client.post('/lens/tracing/keys', { name: 'sender' });
    const key = String(body['key']);
    expect(key).toMatch(/^lens-trace-/);
    expect(await signInByJson('admin', key)).toEqual(REFUSED);
    expect(await signInByJson('default_user_id', key)).toEqual(REFUSED);
  });

  it('200: a session has the models, rate limit and expiry of the key that is used as password, and a budget of zero', async () => {
    await client.post('/user/new', { user_id: 'dora', user_role: 'internal_user' });
    await client.post('/team/new', { team_id: 'doras', members_with_roles: [{ role: 'user', user_id: 'dora' }] });
    const key = await client.key({
      user_id: 'dora',
      team_id: 'doras',
      models: ['cheap'],
      max_budget: 1,
      duration: '1h',
      rpm_limit: 7,
      metadata: { project: 'x' },
    });
    const token = String((await signInByJson('dora', key)).body['token']);
    const info = (await client.get('/key/info', token)).body['info'] as Record<string, unknown>;
    expect(info).toMatchObject({
      user_id: 'dora',
      team_id: 'doras',
      models: ['cheap'],
      max_budget: 0,
      rpm_limit: 7,
      metadata: { project: 'x', session: true },
    });
    const minutes = (new Date(String(info['expires'])).getTime() - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(50);
    expect(minutes).toBeLessThanOrEqual(60);
    expect((await client.post('/v1/chat/completions', chat('other'), token)).status).toBe(403);
  });

  it('200: a session has the routes of the key that is used as password', async () => {
    const key = await client.key({ user_id: 'anna2', allowed_routes: ['/key/info'] });
    const token = String((await signInByJson('anna2', key)).body['token']);
    expect((await client.get('/key/info', token)).status).toBe(200);
    expect((await client.post('/v1/chat/completions', chat(), token)).status).toBe(403);
  });

  it('422: without a password', async () => {
    expect(await client.post('/v2/login', { username: 'admin' }, '')).toEqual({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'password'], msg: 'Field required' }] },
    });
  });

  it('429: while a name is blocked', async () => {
    const attempts = Array.from({ length: 8 }, () =>
      blockedNamesClient.post('/v2/login', { username: 'eve', password: 'x' }, ''),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(6);
    expect((await blockedNamesClient.post('/v2/login', { username: 'eve', password: 'x' }, '')).status).toBe(429);
  });
});

describe('signIn.code', () => {
  const send = (username: string, password: string) => controlPlaneClient.post('/v3/login', { username, password }, '');

  it('200: a code that can be exchanged once; signIn.exchange 200 and 401', async () => {
    const { status, body } = await send('admin', controlPlaneClient.app().adminKey);
    expect({ status, body }).toEqual({
      status: 200,
      body: { code: expect.stringMatching(/^.{20,}$/), expires_in: 60 },
    });
    const { code } = body;
    const exchanged = await controlPlaneClient.post('/v3/login/exchange', { code }, '');
    expect(exchanged).toEqual({
      status: 200,
      body: { token: expect.stringMatching(/^sk-/), redirect_url: '/ui?login=success' },
    });
    expect((await controlPlaneClient.get('/user/list', String(exchanged.body['token']))).status).toBe(200);
    expect((await controlPlaneClient.post('/v3/login/exchange', { code }, '')).status).toBe(401);
  });

  it('401: wrong credentials; 422: without a password; 429: while a name is blocked', async () => {
    expect((await send('admin', 'wrong')).status).toBe(401);
    expect((await controlPlaneClient.post('/v3/login', { username: 'admin' }, '')).status).toBe(422);
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 7; attempt += 1)
      // oxlint-disable-next-line no-await-in-loop -- sequential attempts
      statuses.push((await send('eve', 'x')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 401, 429]);
  });

  it('404: without `control_plane_url`; signIn.exchange 404, 400 and 422', async () => {
    expect((await client.post('/v3/login', { username: 'admin', password: PASSWORD }, '')).status).toBe(404);
    expect((await client.post('/v3/login/exchange', { code: 'x' }, '')).status).toBe(404);
    expect((await controlPlaneClient.post('/v3/login/exchange', {}, '')).status).toBe(400);
    expect((await controlPlaneClient.post('/v3/login/exchange', { code: 1 }, '')).status).toBe(422);
  });
});

describe('signIn.end', () => {
  it.each(['/logout', '/session/logout'])('200: %s ends the session and removes its cookies', async (path) => {
    const signedIn = await signInByForm('admin', PASSWORD);
    const cookies = cookiesOf(signedIn);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, 'x-csrf-token': cookies.get('lensgate_csrf') ?? '' };
    const listUsers = () => fetch(`${client.app().url}/user/list`, { headers });
    expect((await listUsers()).status).toBe(200);
    const answer = await fetch(`${client.app().url}${path}`, { method: 'POST', headers });
    expect([answer.status, await answer.json()]).toEqual([200, { message: 'Signed out.' }]);
    expect(answer.headers.getSetCookie()).toEqual([
      'lensgate_session=; HttpOnly; Path=/; SameSite=Strict; Max-Age=0',
      'lensgate_csrf=; Path=/; SameSite=Strict; Max-Age=0',
    ]);
    expect((await listUsers()).status).toBe(401);
  });

  it('401: without a session, and without the CSRF token', async () => {
    const cookies = cookiesOf(await signInByForm('admin', PASSWORD));
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const headers of [{}, { cookie }] as Record<string, string>[])
      // oxlint-disable-next-line no-await-in-loop -- two requests
      expect((await fetch(`${client.app().url}/logout`, { method: 'POST', headers })).status).toBe(401);
    expect((await client.post('/logout', {}, '')).status).toBe(401);
  });

  it('403: a key that is not a session', async () => {
    expect(await client.post('/logout', {}, await client.key({}))).toEqual(
      envelope(403, 'Only a session can be signed out.', 'auth_error', 'None'),
    );
  });
});

describe('signIn.page', () => {
  it('200: a form without scripts; 405: GET /login', async () => {
    for (const path of ['/fallback/login', '/sso/key/generate']) {
      // oxlint-disable-next-line no-await-in-loop -- two pages
      const answer = await fetch(`${client.app().url}${path}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      // oxlint-disable-next-line no-await-in-loop -- two pages
      const page = await answer.text();
      expect(new URL(/<form action="([^"]+)"/.exec(page)?.[1] ?? '', answer.url).pathname).toBe('/login');
      expect(page).not.toContain('<script');
    }
    const { status, body } = await client.get('/login');
    expect([status, body]).toEqual([405, { detail: 'Method Not Allowed' }]);
  });
});
