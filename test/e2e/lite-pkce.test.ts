import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLiteHome, type LiteHome, type LiteResult } from '../support/lite-process.ts';
import { type PkceServer, startPkceServer } from '../support/pkce-server.ts';

let server: PkceServer;
let home: LiteHome;
beforeEach(async () => {
  server = await startPkceServer();
  home = createLiteHome();
});
afterEach(() => {
  server.stop();
  home.remove();
});

const run = (...words: string[]): Promise<LiteResult> => home.run(['--base-url', server.url, ...words]);
const stored = (): Record<string, unknown> =>
  JSON.parse(readFileSync(home.file('token.json'), 'utf8')) as Record<string, unknown>;

/** Signs in. `visit` replaces the browser, which opens the printed address. Returns the result of the command. */
async function logIn(visit: (address: URL) => Promise<unknown> = (address) => fetch(address)): Promise<LiteResult> {
  const login = home.start(['--base-url', server.url, 'login', '--pkce']);
  const [, address = ''] = await login.printed(/Opening browser to: (\S+)\n/);
  await visit(new URL(address));
  return login.ended;
}

it('signs in with a code and PKCE, and stores the refresh token and endpoints', async () => {
  const pages: string[] = [];
  const { code, stdout, stderr } = await logIn(async (address) => {
    expect(address.searchParams.get('resource')).toBe(server.url);
    const callback = address.searchParams.get('redirect_uri') ?? '';
    expect((await fetch(new URL('/other', callback))).status).toBe(404);
    const { origin } = new URL(callback);
    expect((await fetch(`${origin}//`)).status).toBe(404);
    expect((await fetch(`${callback}?code=stolen&state=wrong`)).status).toBe(400);
    pages.push(await (await fetch(address)).text());
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(pages).toEqual(['Signed in. You may close this page.\n']);
  expect(stdout).toContain('Login successful!\n');
  expect(stored()).toEqual({
    base_url: server.url,
    key: server.issued[0],
    user_id: 'u1',
    user_email: null,
    user_role: 'cli',
    auth_header_name: 'Authorization',
    jwt_token: server.issued[0],
    timestamp: expect.any(Number),
    expires_at: expect.any(Number),
    team_id: 't1',
    refresh_token: 'refresh-0',
    client_id: 'client-0',
    token_endpoint: `${server.url}/token`,
    revocation_endpoint: `${server.url}/revoke`,
    resource: server.url,
  });
  expect(statSync(home.file('token.json')).mode & 0o777).toBe(0o600);
  expect((await run('whoami')).stdout).toContain('Key expires in: 1.0 hours, renewed on next use\n');
});

it('renews a key that expires within 360 s, and stores the next refresh token', async () => {
  server.lifetime = 300;
  await logIn();
  server.lifetime = 3_600;
  expect((await run('auth', 'print-token')).stdout).toBe('sk-issued-1-0123456789abcdef\n');
  expect(stored()).toMatchObject({ key: server.issued[1], refresh_token: 'refresh-1' });
  expect((await run('models', 'list')).code).toBe(0);
  expect(server.issued).toHaveLength(2);
});

it('reports an expired key that cannot be renewed', async () => {
  await logIn();
  writeFileSync(home.file('token.json'), JSON.stringify({ ...stored(), expires_at: 1, refresh_token: 'unknown' }));
  expect(await run('auth', 'print-token')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      "Warning: the key has expired and could not be renewed (HTTP 400: invalid_grant). Run 'lite login --pkce'.\n" +
      "Key expired. Run 'lite login --pkce' again.\n",
  });
});

it('revokes the refresh token at logout, and keeps the login after status 503', async () => {
  await logIn();
  server.revocationStatus = 503;
  expect(await run('logout')).toMatchObject({ code: 1, stderr: expect.stringContaining('You are still logged in.') });
  expect(stored()).toHaveProperty('refresh_token', 'refresh-0');
  server.revocationStatus = 200;
  expect(await run('logout')).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged out successfully.') });
  expect(server.revoked).toEqual(['refresh-0']);
  expect(statSync(home.file('token.json'), { throwIfNoEntry: false })).toBeUndefined();
});

it('revokes the former refresh token at a new login', async () => {
  await logIn();
  await logIn();
  expect(server.revoked).toEqual(['refresh-0']);
  expect(stored()).toMatchObject({ refresh_token: 'refresh-1' });
});

it('shows the reason of a refused sign-in', async () => {
  const refused = await logIn((address) => {
    const callback = new URL(address.searchParams.get('redirect_uri') ?? '');
    callback.search = new URLSearchParams({
      error: 'access_denied',
      state: address.searchParams.get('state') ?? '',
    }).toString();
    return fetch(callback);
  });
  expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining('Authentication failed: access_denied\n') });
});

it.each([
  [{ contract_version: 2 }, 'the server has another version of the login'],
  [
    { token_endpoint: 'https://evil.example.org/token' },
    "token_endpoint 'https://evil.example.org/token' is not an address of",
  ],
  [{ registration_endpoint: null }, 'the server names no registration_endpoint'],
])('refuses a discovery document with %j: %s', async (document, reason) => {
  server.document = document;
  const { code, stdout } = await run('login', '--pkce');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`Authentication failed: ${reason}`) });
});
