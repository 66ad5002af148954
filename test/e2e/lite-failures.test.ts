import { statSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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

/** Result of a command without failures. */
const OK = { code: 0, stderr: '' };

describe('failures', () => {
  it.each([['keys', 'list'], ['models', 'list'], ['traces']])(
    'a refused key is one line on stderr: %s %s',
    async (...words) => {
      const key = 'sk-this-key-is-wrong-0123456789';
      const { code, stdout, stderr } = await home.run(['--base-url', app.url, '--api-key', key, ...words]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^Error: HTTP 401: .+\n$/);
      expect(stderr).not.toContain(key);
    },
  );

  it('an unreachable server is one line on stderr, and no failure of `version`', async () => {
    const url = 'http://127.0.0.1:9';
    const { code, stdout, stderr } = await home.run(['--base-url', url, '--api-key', 'sk-x', 'keys', 'list']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: Cannot reach the server at http:\/\/127\.0\.0\.1:9: .+\n$/);
    const version = await home.run(['--base-url', url, 'version']);
    expect(version).toMatchObject({ ...OK, stdout: expect.stringContaining('Could not retrieve server version: ') });
  });

  it.each([
    [['nonsense'], "No such command 'nonsense'."],
    [['--nonsense'], "No such option '--nonsense'."],
    [['models', 'nonsense'], "No such command 'nonsense'."],
    [['models', 'get', '--nonsense'], "No such option '--nonsense'."],
    [['models', 'get'], 'Either --id or --name must be provided'],
    [['models', 'list', '--format', 'xml'], "Invalid value for '--format': 'xml' is not one of 'table', 'json'."],
    [['keys', 'list', '--page', 'two'], "Invalid value for '--page': 'two' is not a valid integer."],
    [['http', 'request', 'GET'], "Missing argument 'URI'."],
    [['http', 'request', 'GET', '/x', '-d', 'y'], 'A GET request has no body: pass neither --data nor --json'],
    [['encryption', 'migrate', '--check', '--dry-run'], 'Pass only one of --check and --dry-run'],
    [['config', 'set', 'foo', 'x'], "Unknown config key 'foo'. Allowed keys: base_url, hidden_commands"],
    [['--base-url', 'localhost', 'whoami'], '--base-url must be a full http(s) URL, such as http://localhost:4000'],
  ])('wrong use has exit code 2, the usage and a message: %j', async (words, message) => {
    const { code, stdout, stderr } = await home.run(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: lite .*\nTry 'lite.* --help' for help\.\n\nError: /);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`Error: ${message}`);
  });

  it('the former name `litellm-proxy` is a line on stderr before the same output and exit code', async () => {
    const notice =
      'The `litellm-proxy` command is deprecated and will be removed in a future release; run `lite` instead, it ' +
      'takes the same commands and options.\n';
    const script = 'litellm-proxy';
    expect(await home.run(['config', 'get'], { script })).toEqual({
      code: 0,
      stdout: '(no config set)\n',
      stderr: notice,
    });
    expect(await home.run(['config', 'get', 'base_url'], { script })).toEqual({
      code: 1,
      stdout: '',
      stderr: `${notice}base_url is not set\n`,
    });
  });

  it('a group without a command has exit code 2, and prints its help on stderr', async () => {
    const { code, stdout, stderr } = await home.run(['models']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('  import  Import models');
    expect(await home.run(['models', '--help'])).toEqual({ code: 0, stdout: stderr, stderr: '' });
  });
});

describe('settings', () => {
  it('are stored in files that only the user may read; they select the server and hide commands', async () => {
    expect(await home.run(['config', 'get'])).toEqual({ ...OK, stdout: '(no config set)\n' });
    const set = await home.run(['config', 'set', 'base_url', `${app.url}/`]);
    expect(set).toEqual({ ...OK, stdout: `Set base_url = ${app.url} in ${home.file('config.json')}\n` });
    expect(statSync(home.file('')).mode & 0o777).toBe(0o700);
    expect(statSync(home.file('config.json')).mode & 0o777).toBe(0o600);
    expect(await home.run(['--api-key', app.adminKey, 'models', 'list'])).toMatchObject(OK);
    await home.run(['config', 'set', 'hidden_commands', 'up, chat,up']);
    expect((await home.run(['config', 'get'])).stdout).toBe(`base_url = ${app.url}\nhidden_commands = chat,up\n`);
    const help = (await home.run(['--help'])).stdout;
    expect(help).not.toMatch(/^ {2}(?:chat|up) /m);
    expect(help).toMatch(/^ {2}claude /m);
    expect((await home.run(['config', 'unset', 'base_url'])).stdout).toBe(
      `Removed base_url from ${home.file('config.json')}\n`,
    );
    expect((await home.run(['config', 'unset', 'base_url'])).stdout).toBe('base_url was not set\n');
    expect(await home.run(['config', 'get', 'base_url'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'base_url is not set\n',
    });
  });

  it('in a damaged file are ignored with a warning', async () => {
    await home.run(['config', 'set', 'hidden_commands', 'up']);
    writeFileSync(home.file('config.json'), '{');
    const { code, stdout, stderr } = await home.run(['config', 'get']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '(no config set)\n' });
    expect(stderr).toContain(`Warning: ignoring ${home.file('config.json')}: `);
  });
});
