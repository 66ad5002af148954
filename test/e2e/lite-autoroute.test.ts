import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { parse } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLiteHome, type LiteHome, type LiteResult } from '../support/lite-process.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { startTierUpstream, tierModel, type TierUpstream } from '../support/tier-upstream.ts';

let upstream: TierUpstream;
let app: TestApp;
let home: LiteHome;
beforeAll(async () => {
  upstream = await startTierUpstream();
  app = await startApp({
    config: {
      general_settings: { demo_model: false },
      model_list: [tierModel('small', upstream.url), tierModel('large', upstream.url)],
    },
  });
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  home = createLiteHome();
});
afterEach(async () => {
  await home.run(['autoroute', 'stop']);
  home.remove();
});

const env = () => ({
  LITELLM_PROXY_URL: app.url,
  LITELLM_PROXY_API_KEY: app.adminKey,
  LENSGATE_CATALOG_REFRESH_SECONDS: '0',
});
const lite = (words: readonly string[], input = ''): Promise<LiteResult> => home.run(words, { env: env(), input });
const configPath = (): string => home.file('autorouter/config.yaml');
const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const configured = (): Promise<LiteResult> => lite(['autoroute', 'configure'], 'small\n\nlarge\n\nlarge\n\n');

/** A port that no program uses now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function putSettings(text: string): void {
  mkdirSync(dirname(home.claudeSettings), { recursive: true });
  writeFileSync(home.claudeSettings, text);
}
const settings = (): string => readFileSync(home.claudeSettings, 'utf8');

describe('lite autoroute configure', () => {
  it('asks for the models of each tier, and writes the configuration of the local proxy', async () => {
    expect(await configured()).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(`Wrote ${configPath()}. Start the router with \`lite autoroute start\`.\n`),
    });
    expect(statSync(configPath()).mode & 0o777).toBe(0o600);
    const proxied = (name: string) => ({
      model_name: name,
      litellm_params: {
        model: `litellm_proxy/${name}`,
        api_base: `${app.url}/v1`,
        api_key: 'os.environ/LITELLM_PROXY_API_KEY',
      },
    });
    const config = parse(readFileSync(configPath(), 'utf8')) as { general_settings: { master_key: string } };
    expect(config).toEqual({
      model_list: [
        proxied('small'),
        proxied('large'),
        {
          model_name: 'autorouter',
          litellm_params: {
            model: 'auto_router/complexity_router',
            complexity_router_default_model: 'large',
            complexity_router_config: {
              tiers: { SIMPLE: ['small'], MEDIUM: ['small'], COMPLEX: ['large'], REASONING: ['large'] },
              classifier_type: 'heuristic',
            },
          },
        },
      ],
      general_settings: { master_key: expect.stringMatching(/^sk-[\w-]{32}$/) },
    });
    expect(await lite(['autoroute', 'configure'], '1,2\n\n\n\n\nllm\nlarge\n')).toMatchObject({ code: 0 });
    expect(parse(readFileSync(configPath(), 'utf8'))).toMatchObject({
      model_list: [
        {},
        {},
        {
          litellm_params: {
            complexity_router_config: {
              tiers: { SIMPLE: ['small', 'large'], REASONING: ['small', 'large'] },
              classifier_type: 'llm',
              classifier_llm_config: { model: 'large', timeout_ms: 3_000 },
            },
          },
        },
      ],
      general_settings: config.general_settings,
    });
  });

  it('asks again after an unknown model, and writes nothing at the end of the input or without a key', async () => {
    const ended = await lite(['autoroute', 'configure'], 'absent\nsmall\n');
    expect(ended).toMatchObject({
      code: 1,
      stderr: 'Error: Setup cancelled; no configuration was written.\n',
      stdout: expect.stringContaining('No such model. Answer with numbers or names of the list'),
    });
    expect(await home.run(['autoroute', 'configure'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: No LiteLLM key found.'),
    });
    expect(exists(configPath())).toBe(false);
  });
});

describe('lite autoroute start', () => {
  it('routes Claude Code through a local auto router until Ctrl-C, then restores its settings', async () => {
    const original = '{"model": "opus",   "env": {"ANTHROPIC_DEFAULT_OPUS_MODEL": "mine"}}\n';
    putSettings(original);
    await configured();
    const port = await freePort();
    const router = home.start(['autoroute', 'start', '--port', String(port)], { env: env() });
    const url = `http://127.0.0.1:${port}`;
    const [, pid = ''] = await router.printed(/ephemeral auto-router proxy up at \S+ \(pid (\d+)\)/);
    const { general_settings: general } = parse(readFileSync(configPath(), 'utf8')) as {
      general_settings: { master_key: string };
    };
    expect(JSON.parse(settings())).toEqual({
      model: 'autorouter',
      env: {
        ENABLE_TOOL_SEARCH: 'true',
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_AUTH_TOKEN: general.master_key,
        ANTHROPIC_MODEL: 'autorouter',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'autorouter',
        ANTHROPIC_DEFAULT_SONNET_MODEL: 'autorouter',
        ANTHROPIC_DEFAULT_HAIKU_MODEL: 'autorouter',
      },
    });
    expect(JSON.parse(readFileSync(home.file('autorouter/proxy.pid.json'), 'utf8'))).toEqual({
      pid: Number(pid),
      port,
      config_path: configPath(),
      log_path: home.file('autorouter/proxy.log'),
    });
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${general.master_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'autorouter', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect([answer.status, answer.headers.get('x-gateway-router-tier')]).toEqual([200, 'SIMPLE']);
    expect(await answer.json()).toMatchObject({ content: [{ type: 'text', text: 'from small' }] });
    expect(await lite(['autoroute', 'start', '--port', String(port)])).toMatchObject({
      code: 1,
      stderr: `Error: The proxy already runs at ${url} (pid ${pid}). Run \`lite autoroute stop\` first.\n`,
    });
    expect(await lite(['configure', 'claude'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: `lite autoroute start` is currently managing'),
    });
    mkdirSync(home.file(''), { recursive: true });
    const login = { base_url: app.url, key: app.adminKey, timestamp: Date.now() / 1_000 };
    writeFileSync(home.file('token.json'), JSON.stringify(login));
    expect(await lite(['up'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: `lite autoroute start` is currently managing'),
    });
    router.process.kill('SIGINT');
    expect(await router.ended).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(`Restored ${home.claudeSettings} to its original contents.\n`),
    });
    expect(settings()).toBe(original);
    expect(exists(home.file('autorouter/proxy.pid.json'))).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('is stopped from another terminal, also after a crash', async () => {
    await configured();
    const words = ['autoroute', 'start', '--port', String(await freePort())];
    const router = home.start(words, { env: env() });
    await router.printed(/Press Ctrl-C to stop it/);
    expect(await home.run(['autoroute', 'stop'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Stopped the auto-router proxy \(pid \d+\)\.\n/),
    });
    expect(await router.ended).toMatchObject({ code: 0 });
    expect(exists(home.claudeSettings)).toBe(false);

    const crashed = home.start(words, { env: env() });
    await crashed.printed(/Press Ctrl-C to stop it/);
    crashed.process.kill('SIGKILL');
    await crashed.ended;
    expect(exists(home.claudeSettings)).toBe(true);
    expect(await home.run(['autoroute', 'down'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Stopped the auto-router proxy \(pid \d+\)\.\nRemoved \S+ \(it did not exist before `lite autoroute start`\)\.\n$/,
      ),
      stderr:
        '`lite autoroute down` is deprecated and will be removed in a future release; run `lite autoroute stop` ' +
        'instead, it takes the same options.\n',
    });
    expect(exists(home.claudeSettings)).toBe(false);
    expect(await home.run(['autoroute', 'stop'])).toEqual({ code: 0, stdout: 'Nothing to stop.\n', stderr: '' });
  });

  it('changes nothing without a configuration, on the port of the server, and on a used port', async () => {
    expect(await lite(['autoroute', 'start'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: No config found. Run `lite autoroute configure` first.\n',
    });
    expect(await lite(['autoroute', 'up'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^`lite autoroute up` is deprecated .*\nError: No config found\. /),
    });
    await configured();
    expect(await lite(['autoroute', 'start', '--port', '4000'])).toMatchObject({
      code: 1,
      stderr: 'Error: Port 4000 is the port of the server. Choose another one with --port.\n',
    });
    expect(await lite(['autoroute', 'start', '--port', '0'])).toMatchObject({ code: 2 });
    const { port } = new URL(app.url);
    expect(await lite(['autoroute', 'start', '--port', port])).toMatchObject({
      code: 1,
      stderr: `Error: Port ${port} is in use. Choose another one with --port.\n`,
    });
    expect(exists(home.claudeSettings)).toBe(false);
  });

  it('sends no key to another server than that of the configuration', async () => {
    await configured();
    const other = { ...env(), LITELLM_PROXY_URL: 'http://127.0.0.1:9' };
    expect(await home.run(['autoroute', 'start'], { env: other })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Error: ${configPath()} is for ${app.url}, not for http://127.0.0.1:9.`),
    });
  });
});
