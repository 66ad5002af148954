import { describe, expect, it } from 'vitest';
import type { CacheSettings } from '../../../src/domain/response-cache/cache-settings.ts';
import { cacheSettingsIn } from '../../../src/runtime/settings/response-cache.ts';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

type Stored = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Cache settings from a file and stored settings. `server` is the URL and prefix. Null for no cache. */
function cacheOf(yaml: string, { env = {}, stored = {} }: { env?: Record<string, string>; stored?: Stored } = {}) {
  const settings = settingsFrom({ yaml: `litellm_settings: ${yaml}\n`, env });
  const found = cacheSettingsIn(settings.config, new Map(Object.entries(stored)), settings.cacheServer);
  return found && { ...found, server: found.server && [found.server.url.reveal(), found.server.prefix] };
}

const LOCAL: Omit<CacheSettings, 'server'> & { server: null } = {
  type: 'local',
  mode: 'default_on',
  scope: 'team',
  namespace: null,
  ttlSeconds: 600,
  callTypes: new Set(['acompletion', 'atext_completion', 'aembedding', 'aresponses', 'anthropic_messages']),
  maxMessages: 4,
  server: null,
};

describe('settings of the cache of answers', () => {
  it('the cache is off by default, and with parameters of a server but without `cache`', () => {
    expect(cacheOf('{}')).toBeNull();
    expect(cacheOf('{ cache: false, cache_params: { type: local } }')).toBeNull();
    expect(cacheOf('{ cache_params: { type: redis, host: c } }')).toBeNull();
  });

  it('without parameters the cache is in memory; with a host in Redis', () => {
    expect(cacheOf('{ cache: true }')).toEqual(LOCAL);
    expect(cacheOf('{ cache: true, cache_params: { host: c } }')).toEqual({
      ...LOCAL,
      type: 'redis',
      ttlSeconds: 60,
      server: ['redis://c:6379', 'lensgate'],
    });
  });

  it('reads every parameter', () => {
    const params =
      '{ type: local, mode: default_off, scope: all, namespace: n, ttl: 5, supported_call_types: [completion, aembedding], max_messages: null }';
    expect(cacheOf(`{ cache: true, cache_params: ${params} }`)).toEqual({
      ...LOCAL,
      mode: 'default_off',
      scope: 'all',
      namespace: 'n',
      ttlSeconds: 5,
      callTypes: new Set(['acompletion', 'aembedding']),
      maxMessages: null,
    });
    expect(cacheOf('{ cache: true, cache_params: { type: local, default_in_memory_ttl: 7 } }')?.ttlSeconds).toBe(7);
    expect(cacheOf('{ cache: true, cache_params: { type: redis, default_in_redis_ttl: 8 } }')?.ttlSeconds).toBe(8);
  });

  it('the server may refer to variables, and has user, password and URL of the environment', () => {
    const params = '{ type: redis, host: os.environ/H, db: 2, ssl: true, namespace: n }';
    const env = { H: 'c', REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p' };
    expect(cacheOf(`{ cache: true, cache_params: ${params} }`, { env })?.server).toEqual([
      'rediss://u:p@c:6379/2',
      'n',
    ]);
    expect(
      cacheOf('{ cache: true, cache_params: { type: redis } }', { env: { REDIS_URL: 'redis://r' } })?.server,
    ).toEqual(['redis://r', 'lensgate']);
    expect(cacheOf('{ cache: true, cache_params: { type: redis } }')?.server).toBeNull();
  });

  it('a stored server turns the cache on, and gets no password of the environment or of the file', () => {
    const env = { REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p' };
    const stored = { cache_settings: { host: 'evil', port: '7', ttl: 9 } };
    expect(cacheOf('{}', { env, stored })).toEqual({
      ...LOCAL,
      type: 'redis',
      ttlSeconds: 9,
      server: ['redis://evil:7', 'lensgate'],
    });
    expect(cacheOf('{ cache: false }', { stored })).toBeNull();
    const file = '{ cache: true, cache_params: { type: redis, password: of-the-file } }';
    expect(cacheOf(file, { stored })?.server).toBeNull();
  });

  it.each(['disk', 's3', 'gcs', 'azure-blob', 'redis-semantic', 'qdrant-semantic', 'valkey-semantic'])(
    'the start fails for the type %s',
    (type) => {
      expect(faultsFrom({ yaml: `litellm_settings: { cache: true, cache_params: { type: ${type} } }\n` })).toEqual([
        `config.yaml:1: litellm_settings.cache_params.type: "${type}" is not a supported cache of answers: use \`local\` or \`redis\``,
      ]);
    },
  );

  it('the start fails for a call type that does not exist', () => {
    const yaml = 'litellm_settings: { cache: true, cache_params: { supported_call_types: [guess] } }\n';
    expect(faultsFrom({ yaml })).toEqual([
      expect.stringContaining('"guess" is not one of completion, text_completion'),
    ]);
  });
});
