import { describe, expect, it } from 'vitest';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

describe('settings of shared limits', () => {
  const urlOf = (sources: Parameters<typeof settingsFrom>[0]): string | null =>
    settingsFrom(sources).sharing.redis?.url.reveal() ?? null;

  it('have no Redis server by default', () => {
    expect(settingsFrom({}).sharing).toEqual({ isOn: true, redis: null });
  });

  it('read the address from the environment, router settings and cache settings', () => {
    expect(urlOf({ env: { REDIS_URL: 'rediss://u:p@r:1/2' } })).toBe('rediss://u:p@r:1/2');
    expect(urlOf({ yaml: 'router_settings: { redis_url: redis://r }' })).toBe('redis://r');
    expect(urlOf({ yaml: 'router_settings: { redis_host: r, redis_port: 6380, redis_password: "p/w" }' })).toBe(
      'redis://:p%2Fw@r:6380',
    );
    const cache = 'litellm_settings: { cache_params: { type: redis, host: c, port: 6381, password: q, namespace: n } }';
    expect(urlOf({ yaml: cache })).toBe('redis://:q@c:6381');
    expect(settingsFrom({ yaml: cache }).sharing.redis?.namespace).toBe('n');
    expect(urlOf({ yaml: cache.replace('type: redis', 'type: local') })).toBe(null);
    expect(urlOf({ yaml: `${cache}\nrouter_settings: { redis_host: r }` })).toBe('redis://r:6379');
  });

  it('build an address from host, user and password', () => {
    const env = { REDIS_HOST: '::1', REDIS_USERNAME: 'u', REDIS_PASSWORD: 'p@', REDIS_SSL: 'true' };
    expect(urlOf({ env })).toBe('rediss://u:p%40@[::1]:6379');
  });

  it('build an address from host and user, without a password', () => {
    expect(urlOf({ env: { REDIS_HOST: 'r', REDIS_USERNAME: 'u@x' } })).toBe('redis://u%40x@r:6379');
  });

  it('can disable sharing', () => {
    const env = { REDIS_URL: 'redis://r', LENSGATE_SHARED_LIMITS: 'off' };
    expect(settingsFrom({ env }).sharing).toEqual({ isOn: false, redis: null });
  });

  it('refuse an invalid address without showing it', () => {
    const faults = faultsFrom({ env: { REDIS_URL: 'http://u:secret-word@r' } });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('REDIS_URL');
    expect(faults[0]).not.toContain('secret-word');
  });
});
