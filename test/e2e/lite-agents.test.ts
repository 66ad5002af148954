import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLiteHome, type LiteHome, type LiteResult } from '../support/lite-process.ts';
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

const environment = (extra: Record<string, string> = {}) => ({
  LITELLM_PROXY_URL: app.url,
  LITELLM_PROXY_API_KEY: app.adminKey,
  ...extra,
});
/** Runs a command against the app with the admin key. */
const lite = (words: readonly string[], extra?: Record<string, string>): Promise<LiteResult> =>
  home.run(words, { env: environment(extra) });

/** The output of an installed program, which follows the first line of the command. */
const agentOutputOf = ({ stdout }: LiteResult): { words: string[]; env: Record<string, string> } =>
  JSON.parse(stdout.split('\n')[1] ?? '') as { words: string[]; env: Record<string, string> };

/** Writes the settings file of Claude Code. */
function putSettings(text: string): void {
  mkdirSync(dirname(home.claudeSettings), { recursive: true });
  writeFileSync(home.claudeSettings, text);
}
const settings = (): string => readFileSync(home.claudeSettings, 'utf8');
const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Stores a valid login for the app. */
function putLogin(): void {
  mkdirSync(home.file(''), { recursive: true });
  const login = { base_url: app.url, key: app.adminKey, timestamp: Date.now() / 1_000 };
  writeFileSync(home.file('token.json'), JSON.stringify(login));
}

describe('a coding agent', () => {
  it('claude gets address, key and unchanged arguments; lite ends with its exit code', async () => {
    home.install('claude', 7);
    const result = await lite(['claude', '-p', 'say hi', '--help', '--model=x'], { ANTHROPIC_API_KEY: 'sk-ant-other' });
    expect(result).toMatchObject({ code: 7, stderr: '' });
    expect(result.stdout.split('\n')[0]).toBe(`litellm: routing Claude Code through proxy at ${app.url}`);
    expect(agentOutputOf(result)).toEqual({
      words: ['-p', 'say hi', '--help', '--model=x'],
      env: {
        ANTHROPIC_AUTH_TOKEN: app.adminKey,
        ANTHROPIC_BASE_URL: app.url,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        ENABLE_TOOL_SEARCH: 'true',
      },
    });
  });

  it('codex gets its provider as arguments before those of the user, without the key', async () => {
    home.install('codex');
    const { words, env } = agentOutputOf(await lite(['codex', 'exec', 'x']));
    expect(words.slice(-2)).toEqual(['exec', 'x']);
    expect(words).toContain('model_provider="litellm"');
    expect(words).toContain(`model_providers.litellm.base_url="${app.url}/v1"`);
    expect(words).toContain('model_providers.litellm.wire_api="responses"');
    expect(words).toContain('model_providers.litellm.supports_websockets=false');
    expect(words).toContain('model_providers.litellm.env_key="OPENAI_API_KEY"');
    expect(words.join(' ')).not.toContain(app.adminKey);
    expect(env).toEqual({ OPENAI_API_KEY: app.adminKey, OPENAI_BASE_URL: `${app.url}/v1` });
  });

  it('opencode gets the models of the key, unless the user has set a configuration', async () => {
    home.install('opencode');
    const { env } = agentOutputOf(await lite(['opencode']));
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toEqual({
      provider: {
        litellm: {
          npm: '@ai-sdk/openai-compatible',
          name: 'LiteLLM',
          options: { baseURL: `${app.url}/v1`, apiKey: '{env:OPENAI_API_KEY}' },
          models: { demo: { name: 'demo' } },
        },
      },
    });
    const own = agentOutputOf(await lite(['opencode'], { OPENCODE_CONFIG_CONTENT: '{}' }));
    expect(own.env['OPENCODE_CONFIG_CONTENT']).toBe('{}');
  });

  it('is not started with a wrong key, with an unreachable server, without a key, or without its program', async () => {
    home.install('claude');
    expect(await lite(['claude'], { LITELLM_PROXY_API_KEY: 'sk-wrong' })).toMatchObject({
      code: 1,
      stderr:
        'Error: LiteLLM rejected your key (HTTP 401). Run `lite login` to refresh it, or pass a valid --api-key.\n',
    });
    const away = await lite(['claude'], { LITELLM_PROXY_URL: 'http://127.0.0.1:9' });
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('Is it running, and is --base-url') });
    expect(await lite(['claude', '--skip-verify', 'x'], { LITELLM_PROXY_URL: 'http://127.0.0.1:9' })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"words":["x"]'),
    });
    expect(await home.run(['claude'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Error: No LiteLLM key found\. Set LITELLM_PROXY_API_KEY \(or pass --api-key\)/),
    });
    expect(await lite(['codex'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: Could not find `codex` on your PATH.'),
    });
  });
});

it('lite start runs the server, and ends with 0 after SIGTERM', async () => {
  const env = { LENSGATE_DATA_DIR: home.file('data'), LENSGATE_CATALOG_REFRESH_SECONDS: '0' };
  const server = home.start(['start', '--port', '0'], { env });
  const [, url = ''] = await server.printed(/ready at (http:\S+)/);
  expect((await fetch(`${url}/health/liveliness`)).status).toBe(200);
  server.process.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 0 });
});

describe('lite up', () => {
  const ORIGINAL = '{\n    "model": "opus", "apiKeyHelper": "x",\n  "env": {"A": "b", "ANTHROPIC_API_KEY": "mine"}}\n';

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('restores the settings to the byte after %s', async (signal) => {
    putLogin();
    putSettings(ORIGINAL);
    const up = home.start(['--base-url', app.url, 'up']);
    await up.printed(/Press Ctrl-C to stop/);
    expect(JSON.parse(settings())).toEqual({
      model: 'opus',
      env: {
        A: 'b',
        ENABLE_TOOL_SEARCH: 'true',
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        ANTHROPIC_BASE_URL: app.url,
        ANTHROPIC_AUTH_TOKEN: app.adminKey,
      },
    });
    expect(statSync(home.claudeSettings).mode & 0o777).toBe(0o600);
    expect(statSync(home.file('claude_settings_backup.json')).mode & 0o777).toBe(0o600);
    up.process.kill(signal);
    expect(await up.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Restored ${home.claudeSettings} to its original contents.\n`),
    });
    expect(settings()).toBe(ORIGINAL);
    expect(exists(home.file('claude_settings_backup.json'))).toBe(false);
  });

  it('removes settings that did not exist', async () => {
    putLogin();
    const up = home.start(['--base-url', app.url, 'up']);
    await up.printed(/Press Ctrl-C to stop/);
    up.process.kill('SIGINT');
    expect((await up.ended).stdout).toContain(
      `Removed ${home.claudeSettings} (it did not exist before \`lite up\`).\n`,
    );
    expect(exists(home.claudeSettings)).toBe(false);
  });

  it('keeps a setting that the user adds meanwhile', async () => {
    putLogin();
    putSettings(ORIGINAL);
    const up = home.start(['--base-url', app.url, 'up']);
    await up.printed(/Press Ctrl-C to stop/);
    const changed = JSON.parse(settings()) as Record<string, unknown>;
    putSettings(JSON.stringify({ ...changed, theme: 'dark' }));
    up.process.kill('SIGINT');
    await up.ended;
    expect(JSON.parse(settings())).toEqual({ ...(JSON.parse(ORIGINAL) as object), theme: 'dark' });
  });

  it('after a crash refuses to run until lite down has restored the settings', async () => {
    putLogin();
    putSettings(ORIGINAL);
    const up = home.start(['--base-url', app.url, 'up']);
    await up.printed(/Press Ctrl-C to stop/);
    up.process.kill('SIGKILL');
    await up.ended;
    expect(await home.run(['--base-url', app.url, 'up'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Run `lite down` first.\n'),
    });
    expect(await lite(['configure', 'claude'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('`lite up` is currently'),
    });
    // The path in the backup selects the file, not the present CLAUDE_CONFIG_DIR.
    const elsewhere = { CLAUDE_CONFIG_DIR: home.file('elsewhere') };
    expect((await home.run(['down'], { env: elsewhere })).stdout).toBe(
      `Restored ${home.claudeSettings} to its original contents.\n`,
    );
    expect(settings()).toBe(ORIGINAL);
    expect(exists(home.file('elsewhere'))).toBe(false);
    expect(await home.run(['down'])).toEqual({ code: 0, stdout: 'Nothing to restore.\n', stderr: '' });
  });

  it('changes nothing without a fresh login, and with settings that are no JSON', async () => {
    expect(await lite(['up'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: No fresh LiteLLM login found for this proxy. Run `lite login` first.\n',
    });
    putLogin();
    putSettings('{ not json');
    expect(await home.run(['--base-url', app.url, 'up'])).toMatchObject({
      code: 1,
      stderr: `Error: ${home.claudeSettings} contains invalid JSON; cannot proceed safely.\n`,
    });
    expect(settings()).toBe('{ not json');
    expect(exists(home.file('claude_settings_backup.json'))).toBe(false);
  });
});

describe('lite configure', () => {
  const words = (model: string) => [
    'configure',
    'claude',
    '--api-key',
    app.adminKey,
    '--gateway-url',
    app.url,
    '--model',
    model,
  ];

  it('writes the settings, applies the saved setup again, and is undone', async () => {
    const before = { model: 'opus', env: { A: 'b', ANTHROPIC_API_KEY: 'mine' }, apiKeyHelper: 'x' };
    putSettings(JSON.stringify(before));
    const { code, stdout, stderr } = await home.run(words('demo'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Configured Claude Code: ${home.claudeSettings} now routes through ${app.url}.\n`);
    expect(stdout).not.toContain(app.adminKey);
    expect(JSON.parse(settings())).toMatchObject({
      model: 'demo',
      env: { A: 'b', ANTHROPIC_BASE_URL: app.url, ANTHROPIC_AUTH_TOKEN: app.adminKey, ANTHROPIC_MODEL: 'demo' },
    });
    expect(await home.run(['configure', 'claude'])).toMatchObject({ code: 0, stderr: '' });
    expect(await home.run(['unconfigure', 'claude'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Saved setup retained. Run `lite configure claude` to apply it again.\n'),
    });
    expect(JSON.parse(settings())).toEqual(before);
    expect((await home.run(['unconfigure', '--forget'])).stdout).toContain('Forgot saved claude setup');
    expect(await home.run(['configure'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: `lite configure` asks questions, so it needs a terminal.'),
    });
  });

  it('keeps a changed address when it is undone, and does not restore the former credential for that address', async () => {
    putSettings(
      JSON.stringify({ env: { ANTHROPIC_BASE_URL: 'https://one.example.org', ANTHROPIC_AUTH_TOKEN: 'of-one' } }),
    );
    await home.run(words('demo'));
    const changed = JSON.parse(settings()) as { env: Record<string, string> };
    putSettings(JSON.stringify({ ...changed, env: { ...changed.env, ANTHROPIC_BASE_URL: 'https://two.example.org' } }));
    const undone = await home.run(['unconfigure', 'claude']);
    expect(undone.stdout).toContain('Left as you changed them since: env.ANTHROPIC_BASE_URL.\n');
    expect(undone.stderr).toContain('env.ANTHROPIC_AUTH_TOKEN');
    expect(JSON.parse(settings())).toEqual({ env: { ANTHROPIC_BASE_URL: 'https://two.example.org' } });
  });

  it('refuses a wrong key, an unknown model and a missing key, and changes nothing', async () => {
    expect(await home.run(words('absent'))).toMatchObject({
      code: 1,
      stderr: `Error: 'absent' is not served by ${app.url} for this key. /v1/models lists: demo.\n`,
    });
    expect(await home.run(['configure', 'claude', '--api-key', 'sk-wrong', '--gateway-url', app.url])).toMatchObject({
      code: 1,
      stderr: 'Error: LiteLLM rejected your key (HTTP 401). Pass a valid --api-key.\n',
    });
    putLogin();
    expect(await home.run(['--base-url', app.url, 'configure', 'claude'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs a long-lived virtual key'),
    });
    expect(exists(home.claudeSettings)).toBe(false);
  });
});
