import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'lensgate-http-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function httpSettings(general: string, env: Record<string, string> = {}) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, general === '' ? '{}\n' : `general_settings:\n  ${general}\n`);
  return readSettings(['--config', file], { LENSGATE_DATA_DIR: folder, ...env }, keyGenerator).http;
}

it('CORS is disabled, and all optimizations are enabled by default', () => {
  expect(httpSettings('')).toEqual({
    corsOrigins: [],
    fastPath: true,
    graphPlans: true,
    jsonScan: true,
    sharedSubscriptions: true,
    writeCoalescing: true,
  });
});

it.each([
  ['LENSGATE_GRAPH_PLANS', 'graphPlans'],
  ['LENSGATE_JSON_SCAN', 'jsonScan'],
  ['LENSGATE_SHARED_SUBSCRIPTIONS', 'sharedSubscriptions'],
  ['LENSGATE_WRITE_COALESCING', 'writeCoalescing'],
] as const)('%s disables %s', (variable, setting) => {
  expect(httpSettings('', { [variable]: 'off' })[setting]).toBe(false);
});

it('origins are read from the environment, otherwise from the file', () => {
  const list = 'cors_allowed_origins: ["https://a.example", "http://localhost:3000", "capacitor://localhost"]';
  expect(httpSettings(list).corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:3000',
    'capacitor://localhost',
  ]);
  expect(httpSettings(list, { LENSGATE_CORS_ORIGINS: ' *, https://b.example ,' }).corsOrigins).toEqual([
    '*',
    'https://b.example',
  ]);
});

it.each(['https://a.example/', 'a.example', 'https://A.example', 'https://a.example/path', '**', 'null'])(
  '%s is not an origin',
  (origin) => {
    const message = `"${origin}" is neither * nor an origin such as https://app.example.com, in lower case`;
    expect(() => httpSettings(`cors_allowed_origins: ["${origin}"]`)).toThrow(
      `general_settings.cors_allowed_origins.0: ${message}`,
    );
    expect(() => httpSettings('', { LENSGATE_CORS_ORIGINS: origin })).toThrow(`LENSGATE_CORS_ORIGINS: ${message}`);
  },
);

it('the environment disables the fast path, with `off` only', () => {
  expect(httpSettings('', { LENSGATE_FAST_PATH: 'off' }).fastPath).toBe(false);
  expect(() => httpSettings('', { LENSGATE_FAST_PATH: 'no' })).toThrow(
    'LENSGATE_FAST_PATH: "no" is not one of on, off',
  );
});
