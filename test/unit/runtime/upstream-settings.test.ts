import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';
import type { UpstreamSettings } from '../../../src/runtime/settings/upstream.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-upstream-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function settingsOf(general = '', env: Record<string, string> = {}): UpstreamSettings {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `general_settings: { ${general} }`);
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: join(folder, 'data'), ...env }, keyGenerator).upstream;
}

const DEFAULTS: UpstreamSettings = {
  client: 'native',
  connections: 256,
  connectionShare: 0.75,
  silenceSeconds: 300,
  stalledReaderSeconds: 120,
};

it('upstreams are called by the native client over 256 connections by default, or as configured', () => {
  expect(settingsOf()).toEqual(DEFAULTS);
  const general =
    'http_client: undici, upstream_connections: 8, upstream_connection_share: 1, upstream_silence_seconds: 5, stalled_reader_seconds: 0.5';
  const generalSettings = {
    client: 'undici',
    connections: 8,
    connectionShare: 1,
    silenceSeconds: 5,
    stalledReaderSeconds: 0.5,
  };
  expect(settingsOf(general)).toEqual(generalSettings);
  const env = { LENSGATE_HTTP_CLIENT: 'native', LENSGATE_UPSTREAM_CONNECTIONS: '16' };
  expect(settingsOf(general, env)).toEqual({ ...generalSettings, client: 'native', connections: 16 });
});

it.each(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'])(
  '%s selects undici where no client is configured',
  (name) => {
    const env = { [name]: 'http://user:secret@proxy.test:3128' };
    expect(settingsOf('', env).client).toBe('undici');
    expect(settingsOf('http_client: auto', env).client).toBe('undici');
    expect(settingsOf('http_client: native', env).client).toBe('native');
    expect(settingsOf('', { [name]: '' }).client).toBe('native');
    expect(settingsOf('', { NO_PROXY: 'x' }).client).toBe('native');
  },
);

it('an invalid proxy is refused without showing its credential', () => {
  const readInvalid = (): unknown => settingsOf('', { HTTP_PROXY: 'user:secret@proxy.test:3128' });
  expect(readInvalid).toThrow('environment: HTTP_PROXY: is not an http:// or https:// address');
  expect(readInvalid).not.toThrow('secret');
});

it.each([
  ['http_client: fetch', 'general_settings.http_client'],
  ['upstream_connections: 0', 'general_settings.upstream_connections'],
  ['upstream_connections: 1.5', 'general_settings.upstream_connections'],
  ['upstream_connection_share: 0', 'general_settings.upstream_connection_share'],
  ['upstream_connection_share: 1.1', 'general_settings.upstream_connection_share'],
  ['stalled_reader_seconds: 0', 'general_settings.stalled_reader_seconds'],
  ['stalled_reader_seconds: 86401', 'general_settings.stalled_reader_seconds'],
])('%s is refused', (general, key) => {
  expect(() => settingsOf(general)).toThrow(key);
});

it.each([
  ['LENSGATE_HTTP_CLIENT', 'fetch'],
  ['LENSGATE_UPSTREAM_CONNECTIONS', '0'],
  ['LENSGATE_UPSTREAM_CONNECTIONS', 'many'],
])('%s=%s is refused', (name, value) => {
  expect(() => settingsOf('', { [name]: value })).toThrow(name);
});
