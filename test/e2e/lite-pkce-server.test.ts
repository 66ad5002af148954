import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { hiddenFields } from '../support/authorization-client.ts';
import { createLiteHome, type LiteHome, type LiteResult } from '../support/lite-process.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let home: LiteHome;
beforeAll(async () => {
  app = await startApp({ env: { UI_PASSWORD: 'a-long-password-of-a-test' } });
});
afterAll(() => app.stop());
beforeEach(() => {
  home = createLiteHome();
});
afterEach(() => home.remove());

const ADMIN = { username: 'admin', password: 'a-long-password-of-a-test' };

const run = (...words: string[]): Promise<LiteResult> => home.run(['--base-url', app.url, ...words]);
const stored = (): Record<string, unknown> =>
  JSON.parse(readFileSync(home.file('token.json'), 'utf8')) as Record<string, unknown>;
const change = (members: object): void =>
  writeFileSync(home.file('token.json'), JSON.stringify({ ...stored(), ...members }));

/** Signs in with a scripted browser, which sends the form with these values. */
async function logIn(values: Record<string, string> = ADMIN): Promise<LiteResult> {
  const login = home.start(['--base-url', app.url, 'login', '--pkce']);
  const [, address = ''] = await login.printed(/Opening browser to: (\S+)\n/);
  const page = await fetch(address);
  const [cookie = ''] = (page.headers.get('set-cookie') ?? '').split(';', 1);
  const form = { ...hiddenFields(await page.text()), ...values };
  // The answer redirects to the command, as in a browser.
  const callback = await fetch(`${app.url}/authorize`, {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams(form),
  });
  await callback.text();
  return login.ended;
}

it('lite signs in with PKCE at this server, uses and renews the key, and signs out', async () => {
  const { code, stdout, stderr } = await logIn();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Login successful!\n');
  const first = stored();
  expect(first).toEqual({
    base_url: app.url,
    key: expect.stringMatching(/^sk-/),
    user_id: 'default_user_id',
    user_email: null,
    user_role: 'cli',
    auth_header_name: 'Authorization',
    jwt_token: first['key'],
    timestamp: expect.any(Number),
    expires_at: expect.any(Number),
    refresh_token: expect.stringMatching(/^rt-/),
    client_id: expect.stringMatching(/^llm_dcrc_/),
    token_endpoint: `${app.url}/token`,
    revocation_endpoint: `${app.url}/revoke`,
    resource: app.url,
  });
  expect(statSync(home.file('token.json')).mode & 0o777).toBe(0o600);
  expect((await run('whoami')).stdout).toContain('Key expires in: 24.0 hours, renewed on next use\n');
  expect((await run('models', 'list')).code).toBe(0);
  change({ expires_at: Date.now() / 1_000 + 60 });
  const renewed = await run('auth', 'print-token');
  expect(renewed).toEqual({ code: 0, stdout: `${String(stored()['key'])}\n`, stderr: '' });
  expect(stored()['refresh_token']).not.toBe(first['refresh_token']);
  const key = String(stored()['key']);
  const statusOf = async (): Promise<number> =>
    (await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${key}` })).status;
  expect(await statusOf()).toBe(200);
  expect((await run('logout')).stdout).toContain('Logged out successfully.');
  expect(await statusOf()).toBe(401);
});

it('two commands that renew at the same time leave a usable login', async () => {
  await logIn();
  change({ expires_at: Date.now() / 1_000 + 60 });
  const both = await Promise.all([run('auth', 'print-token'), run('auth', 'print-token')]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  change({ expires_at: Date.now() / 1_000 + 60 });
  expect((await run('models', 'list')).code).toBe(0);
});

it('lite shows the refusal of the person', async () => {
  const { code, stdout } = await logIn({ decision: 'refuse' });
  expect(code).toBe(0);
  expect(stdout).toContain('Authentication failed: The person refused the sign-in.\n');
});

it('a new login revokes the former one', async () => {
  await logIn();
  const former = String(stored()['key']);
  await logIn();
  const answer = await app.call('GET', '/v1/models', undefined, { authorization: `Bearer ${former}` });
  expect(answer.status).toBe(401);
});
