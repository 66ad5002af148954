import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createLiteHome, type LiteHome } from '../support/lite-process.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let home: LiteHome;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());
beforeEach(() => {
  home = createLiteHome();
});
afterEach(() => home.remove());

const run = (...words: string[]) => home.run(words, { env: { LITELLM_PROXY_URL: app.url } });
/** Result of a command without failures. */
const OK = { code: 0, stderr: '' };

/** Completes a login as a browser does: opens the page, then submits the form. Returns the status. */
async function completeInBrowser(page: string, code: string, username = 'admin', key = app.adminKey): Promise<number> {
  const html = await (await fetch(page)).text();
  const action = /action="([^"]+)"/.exec(html)?.[1] ?? '';
  const form = new URLSearchParams({ user_code: code, username, password: key });
  return (await fetch(new URL(action, page), { method: 'POST', body: form })).status;
}

/** Signs in through the browser flow. Returns what the command printed. */
async function logIn(words: readonly string[] = ['login']): Promise<string> {
  const login = home.start(words, { env: { LITELLM_PROXY_URL: app.url } });
  const [, page = ''] = await login.printed(/Opening browser to: (\S+)\n/);
  const [, code = ''] = await login.printed(/Verification code: (\S+)\n/);
  await login.printed(/Waiting for authentication\.\.\.\n/);
  expect(await completeInBrowser(page, 'AAAA-AAAA')).toBe(400);
  expect(await completeInBrowser(page, code)).toBe(200);
  const result = await login.ended;
  expect(result).toMatchObject({ ...OK, stdout: expect.stringContaining('Login successful!\n') });
  return result.stdout;
}

const storedKey = (): string => (JSON.parse(readFileSync(home.file('token.json'), 'utf8')) as { key: string }).key;

/** Stores a login in `token.json`, as LiteLLM's command does. */
function putLogin(members: Record<string, unknown>): void {
  mkdirSync(home.file(''), { recursive: true });
  writeFileSync(
    home.file('token.json'),
    JSON.stringify({ base_url: app.url, user_id: 'u1', user_role: 'cli', ...members }),
  );
}

const nowSeconds = (): number => Date.now() / 1_000;

describe('a login in the browser', () => {
  it('is stored in a file that only the user may read, and authenticates later commands', async () => {
    const printed = await logIn();
    const key = storedKey();
    expect(printed).toContain('\nLogin successful!\n');
    expect(printed).toContain(`JWT Token: ${key.slice(0, 20)}...\n`);
    expect(printed).toContain(`Credential stored in ${home.file('token.json')} (owner-only).\n`);
    expect(printed).not.toContain(key);
    expect(statSync(home.file('')).mode & 0o777).toBe(0o700);
    expect(statSync(home.file('token.json')).mode & 0o777).toBe(0o600);
    expect(await run('models', 'list')).toMatchObject(OK);
    expect(await run('auth', 'print-token')).toEqual({ ...OK, stdout: `${key}\n` });
    expect((await run('whoami')).stdout).toMatch(
      /^Authenticated\nUser Email: Unknown\nUser ID: default_user_id\nUser Role: cli\nToken age: 0\.0 hours\n$/,
    );
    expect(await run('logout')).toEqual({ ...OK, stdout: 'Logged out successfully. Authentication token cleared.\n' });
    expect((await run('whoami')).stdout).toBe("Not authenticated. Run 'lite login' to authenticate.\n");
  });

  it('asks a member of several teams which team to use', async () => {
    const post = async (path: string, body: unknown) =>
      (await (await app.call('POST', path, body)).json()) as Record<string, string>;
    const { key = '' } = await post('/user/new', { user_id: 'two-teams' });
    const members_with_roles = [{ role: 'user', user_id: 'two-teams' }];
    const [first, second] = await Promise.all(
      ['first', 'second'].map((team_alias) => post('/team/new', { team_alias, members_with_roles })),
    );
    // The administrator joins the teams that it creates. Later sign-ins would ask it for a team.
    onTestFinished(async () => {
      await post('/team/delete', { team_ids: [first?.['team_id'], second?.['team_id']] });
    });
    const login = home.start(['login'], { env: { LITELLM_PROXY_URL: app.url }, input: '9\nnone\n2\n' });
    const [, page = ''] = await login.printed(/Opening browser to: (\S+)\n/);
    const [, code = ''] = await login.printed(/Verification code: (\S+)\n/);
    expect(await completeInBrowser(page, code, 'two-teams', key)).toBe(200);
    const { stdout } = await login.ended;
    expect(stdout).toContain('Invalid selection. Please enter a number between 1 and 2\n');
    expect(stdout).toContain("Invalid input. Please enter a number or 'skip'\n");
    const [, teamId] = /Selected team: (?:first|second) \((\S+)\)\n/.exec(stdout) ?? [];
    expect(teamId).toEqual(expect.any(String));
    expect((await run('whoami')).stdout).toContain(`User ID: two-teams\nUser Role: cli\nTeam ID: ${teamId}\n`);
    const info = await app.call('GET', `/key/info?key=${storedKey()}`);
    expect(await info.json()).toMatchObject({ info: { team_id: teamId, user_id: 'two-teams' } });
  });

  it('also configures Claude Code with --config-claude, which unconfigure undoes', async () => {
    await logIn(['login', '--config-claude']);
    expect(JSON.parse(readFileSync(home.claudeSettings, 'utf8'))).toMatchObject({
      env: { ANTHROPIC_BASE_URL: app.url, ANTHROPIC_AUTH_TOKEN: storedKey() },
    });
    expect((await run('unconfigure', 'claude')).stdout).toContain(`Removed ${home.claudeSettings}`);
    expect(statSync(home.claudeSettings, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('is cancelled by Ctrl-C, and keeps the former login', async () => {
    putLogin({ key: 'sk-former', timestamp: nowSeconds() });
    const login = home.start(['login'], { env: { LITELLM_PROXY_URL: app.url } });
    await login.printed(/Waiting for authentication/);
    login.process.kill('SIGINT');
    const { code, stdout } = await login.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('Authentication cancelled by user.\n');
    expect(storedKey()).toBe('sk-former');
  });

  it('fails with a message at an unreachable server, and keeps the former login', async () => {
    putLogin({ key: 'sk-former', timestamp: nowSeconds() });
    const { code, stdout } = await home.run(['--base-url', 'http://127.0.0.1:9', 'login']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Authentication failed: Cannot reach the server at http:\/\/127\.0\.0\.1:9: .+\n$/);
    expect(storedKey()).toBe('sk-former');
  });
});

describe('a stored login', () => {
  it('for another server is never sent', async () => {
    putLogin({ base_url: 'https://other.example.org', key: app.adminKey, timestamp: nowSeconds() });
    expect(await run('models', 'list')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: HTTP 401: /) });
    expect(await run('auth', 'print-token')).toEqual({
      code: 1,
      stdout: '',
      stderr: "Not authenticated for this server. Run 'lite login'.\n",
    });
    // Without an explicit server, the server of the stored login is used.
    expect(await home.run(['auth', 'print-token'])).toEqual({ ...OK, stdout: `${app.adminKey}\n` });
  });

  it('older than its lifetime is reported as expired', async () => {
    putLogin({ key: app.adminKey, timestamp: nowSeconds() - 25 * 3_600 });
    expect((await run('whoami')).stdout).toContain('Warning: Token is more than 24 hours old and may have expired.\n');
    expect(await run('auth', 'print-token')).toEqual({
      code: 1,
      stdout: '',
      stderr: "Token expired. Run 'lite login' again.\n",
    });
    const longer = { LITELLM_PROXY_URL: app.url, LITELLM_CLI_JWT_EXPIRATION_HOURS: '48' };
    expect(await home.run(['auth', 'print-token'], { env: longer })).toMatchObject(OK);
  });

  it('without a key is reported as unreadable: its key is in a keychain', async () => {
    putLogin({ timestamp: nowSeconds() });
    expect((await run('whoami')).stdout).toContain('Signed in, but the credential cannot be read\n');
    expect(await run('auth', 'print-token')).toMatchObject({ code: 1, stdout: '' });
  });

  it('that is damaged is ignored, with a warning that does not repeat the key', async () => {
    mkdirSync(home.file(''), { recursive: true });
    writeFileSync(home.file('token.json'), '{"key":"sk-in-a-damaged-file"');
    const { code, stdout, stderr } = await run('whoami');
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Not authenticated. Run 'lite login' to authenticate.\n" });
    expect(stderr).toBe(`Warning: ignoring ${home.file('token.json')}: it is no JSON\n`);
  });
});
