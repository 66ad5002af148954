import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/runtime/settings/config-fault.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(yaml: string | null, env: Record<string, string> = {}, args: string[] = []): Settings {
  const file = join(folder, 'config.yaml');
  if (yaml !== null) writeFileSync(file, yaml);
  return readSettings(
    [...(yaml === null ? [] : ['--config', file]), ...args],
    { LENSGATE_DATA_DIR: join(folder, 'data'), ...env },
    keyGenerator,
  );
}

/** The error message for a configuration, or `accepted`. */
function refusal(...args: Parameters<typeof read>): string {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(folder, '<folder>');
    throw error;
  }
  return 'accepted';
}

describe('settings', () => {
  it('store prompts unless messages are turned off', () => {
    const stored = 'general_settings: { store_prompts_in_spend_logs: true }\n';
    expect(read(null).capturePrompts).toBe(false);
    expect(read(stored).capturePrompts).toBe(true);
    expect(read(`${stored}litellm_settings: { turn_off_message_logging: true }\n`).capturePrompts).toBe(false);
  });

  it('have defaults without file, arguments and environment', () => {
    const { host, port, databaseUrl, deployments, demoModel, catalogRefreshSeconds, masterKeySource } = read(null);
    expect({ host, port, databaseUrl, deployments, demoModel, catalogRefreshSeconds, masterKeySource }).toEqual({
      host: '127.0.0.1',
      port: 4000,
      databaseUrl: null,
      deployments: [],
      demoModel: true,
      catalogRefreshSeconds: 60,
      masterKeySource: 'generated',
    });
  });

  it('include a strong admin key, generated once into a file that only its owner can read', () => {
    const generatedKey = read(null).masterKey.reveal();
    const file = join(folder, 'data', 'admin-key');
    expect(generatedKey).toMatch(/^sk-[\w-]{32}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8').trim()).toBe(generatedKey);
    chmodSync(file, 0o644);
    const nextStart = read(null);
    expect([nextStart.masterKey.reveal(), nextStart.masterKeySource]).toEqual([generatedKey, 'data folder']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('are read from arguments before environment, and from environment before file', () => {
    const yaml = 'general_settings:\n  master_key: sk-from-the-file\n  database_url: sqlite:///from-file\n';
    const env = { PORT: '5000', HOST: '127.0.0.2', LITELLM_MASTER_KEY: 'sk-from-env', DATABASE_URL: 'postgres://env' };
    const { port, host, masterKey, databaseUrl } = read(yaml, env, ['--port', '6000']);
    expect([port, host, masterKey.reveal(), databaseUrl]).toEqual([6000, '127.0.0.2', 'sk-from-env', 'postgres://env']);
    const fileOnly = read(yaml);
    expect([fileOnly.masterKey.reveal(), fileOnly.databaseUrl]).toEqual(['sk-from-the-file', 'sqlite:///from-file']);
  });

  it('include deployments with resolved references', () => {
    const yaml = `
model_list:
  - model_name: smart
    litellm_params:
      model: openai/gpt-4o
      api_base: http://127.0.0.1:1/v1/
      api_key: os.environ/UPSTREAM_KEY
      input_cost_per_token: 0.000002
      timeout: 30
    model_info: { id: east, base_model: gpt-4o }
  - model_name: plain
    litellm_params: { model: local-model }
`;
    const { deployments } = read(yaml, { UPSTREAM_KEY: 'sk-upstream' });
    expect(deployments[0]?.apiKey?.reveal()).toBe('sk-upstream');
    expect(JSON.parse(JSON.stringify(deployments.map((deployment) => ({ ...deployment, probe: undefined }))))).toEqual([
      {
        id: 'east',
        modelGroup: 'smart',
        provider: 'openai',
        upstreamModel: 'gpt-4o',
        apiBase: 'http://127.0.0.1:1/v1',
        apiKey: '<secret>',
        options: {},
        secrets: {},
        dropParams: false,
        timeoutSeconds: 30,
        hasOwnTimeout: true,
        priceOverrides: { input_cost_per_token: 0.000002 },
        baseModel: 'gpt-4o',
      },
      {
        id: expect.stringMatching(/^plain#[0-9a-f]{12}$/),
        formerIds: ['plain#2'],
        modelGroup: 'plain',
        provider: 'openai',
        upstreamModel: 'local-model',
        apiBase: null,
        apiKey: null,
        options: {},
        secrets: {},
        dropParams: false,
        timeoutSeconds: 600,
        priceOverrides: {},
        baseModel: null,
        misconfigured: 'The model "plain" has no key: set api_key, or one of OPENAI_API_KEY.',
      },
    ]);
  });

  it('include parameters of providers as options of deployments, with their secrets hidden in JSON', () => {
    const yaml = [
      'model_list:',
      '  - model_name: b',
      '    litellm_params: { model: openai/x, aws_region_name: eu-west-1, aws_secret_access_key: hidden }',
      '  - model_name: c',
      '    litellm_params: { model: openai/x, drop_params: false }',
      'litellm_settings: { drop_params: true }',
    ].join('\n');
    const { deployments } = read(yaml);
    expect(deployments.map(({ options, dropParams }) => ({ options, dropParams }))).toEqual([
      { options: { aws_region_name: 'eu-west-1' }, dropParams: true },
      { options: {}, dropParams: false },
    ]);
    expect(deployments[0]?.secrets['aws_secret_access_key']?.reveal()).toBe('hidden');
    expect(JSON.stringify(deployments)).not.toContain('hidden');
  });

  it('may have names and values of the reference', () => {
    const yaml = 'router_settings: { routing_strategy: simple-shuffle }\nlitellm_settings: { drop_params: true }\n';
    expect(refusal(yaml)).toBe('accepted');
  });

  it('configure a collector for the spans of Lensgate, by address or by callback', () => {
    const yaml =
      'general_settings: { otlp_endpoint: "http://c:4318", otlp_headers: { x-key: os.environ/COLLECTOR } }\n';
    const { otlpExport } = read(yaml, { COLLECTOR: 'hush' });
    expect([otlpExport?.url, otlpExport?.headers['x-key']?.reveal()]).toEqual(['http://c:4318/v1/traces', 'hush']);
    expect(read('litellm_settings: { callbacks: [prometheus, otel] }\n').otlpExport?.url).toBe(
      'http://localhost:4318/v1/traces',
    );
    expect(read('litellm_settings: { callbacks: otel }\n').otlpExport?.url).toBe('http://localhost:4318/v1/traces');
    expect(read('litellm_settings: { callbacks: [prometheus] }\n').otlpExport).toBeNull();
  });

  it('without an effect may refer to unset variables', () => {
    const yaml =
      'litellm_settings: { cache_params: { qdrant_api_key: os.environ/NOT_THERE } }\n' +
      'general_settings: { alerting_webhook: os.environ/NOT_THERE }\n';
    expect(refusal(yaml)).toBe('accepted');
  });
});

describe('a data folder that cannot be used', () => {
  it('is refused where it is a file', () => {
    writeFileSync(join(folder, 'data'), '');
    expect(refusal(null)).toBe('<folder>/data: the data folder cannot be created (EEXIST)');
  });

  it('is refused where the admin key is empty or not a file, and nothing is replaced', () => {
    const file = join(folder, 'data', 'admin-key');
    mkdirSync(join(folder, 'data'));
    writeFileSync(file, '\n');
    expect(refusal(null)).toBe('<folder>/data/admin-key: contains no admin key; delete it to generate a new one');
    expect(readFileSync(file, 'utf8')).toBe('\n');
    rmSync(file);
    mkdirSync(file);
    expect(refusal(null)).toBe('<folder>/data/admin-key: the admin key cannot be read (EISDIR)');
  });
});

describe('a publicly known admin key', () => {
  it('is accepted with a warning on a loopback address', () => {
    const { warnings } = read(null, { LITELLM_MASTER_KEY: 'sk-1234' });
    expect(warnings).toEqual([
      'The admin key in LITELLM_MASTER_KEY is publicly known. Anyone who can reach this port is an admin.',
    ]);
  });

  it('is refused on any other address unless a setting allows it', () => {
    const env = { LITELLM_MASTER_KEY: 'sk-1234', HOST: '0.0.0.0' };
    expect(refusal(null, env)).toBe(
      'environment: LITELLM_MASTER_KEY: is publicly known and refused on 0.0.0.0; set another key, or listen on a loopback address',
    );
    expect(refusal(null, { ...env, LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true' })).toBe('accepted');
  });
});

describe('the free tier', () => {
  it('has a thousand calls a day and trusts no proxy by default', () => {
    const { catalogDailyLimit, trustedProxies, warnings } = read(null);
    expect([catalogDailyLimit, trustedProxies, warnings]).toEqual([1_000, [], []]);
  });

  it('is read from the environment before the file', () => {
    const yaml = 'general_settings:\n  catalog_daily_limit: 0\n  trusted_proxies: [10.0.0.1, "fd00::/8"]\n';
    const fromFile = read(yaml);
    expect([fromFile.catalogDailyLimit, fromFile.trustedProxies]).toEqual([0, ['10.0.0.1', 'fd00::/8']]);
    const env = { LENSGATE_CATALOG_DAILY_LIMIT: '7', LENSGATE_TRUSTED_PROXIES: ' 192.0.2.0/24 ,::1,' };
    const fromEnvironment = read(yaml, env);
    expect([fromEnvironment.catalogDailyLimit, fromEnvironment.trustedProxies]).toEqual([7, ['192.0.2.0/24', '::1']]);
  });

  it.each<[string | null, Record<string, string>, string]>([
    [
      null,
      { LENSGATE_TRUSTED_PROXIES: '10.0.0.1, proxy.local' },
      'environment: LENSGATE_TRUSTED_PROXIES: "proxy.local" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8',
    ],
    [
      'general_settings:\n  trusted_proxies:\n    - 10.0.0.1\n    - 10.0.0.0/99\n',
      {},
      '<folder>/config.yaml:4: general_settings.trusted_proxies.1: "10.0.0.0/99" is neither an IP address nor a block such as 10.0.0.0/8 or fd00::/8',
    ],
    [
      null,
      { LENSGATE_CATALOG_DAILY_LIMIT: '-1' },
      'environment: LENSGATE_CATALOG_DAILY_LIMIT: "-1" is not a whole number from 0 to 1000000000',
    ],
    [
      'general_settings:\n  catalog_daily_limit: 1.5\n',
      {},
      '<folder>/config.yaml:2: general_settings.catalog_daily_limit: "1.5" is not a whole number from 0 to 1000000000',
    ],
  ])('is refused with an invalid value in the file %j or the environment %j', (yaml, env, message) => {
    expect(refusal(yaml, env)).toBe(message);
  });

  it('causes a warning when every address is trusted as a proxy', () => {
    expect(read(null, { LENSGATE_TRUSTED_PROXIES: '10.0.0.1,0.0.0.0/0' }).warnings).toEqual([
      'Every address is trusted as a proxy: clients can forge the address by which they are admitted, limited and counted.',
    ]);
  });
});
