import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keySmith } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function read(store: string | null, env: NodeJS.ProcessEnv = {}): Settings {
  const file = join(folder, 'config.yaml');
  if (store !== null) writeFileSync(file, `general_settings:\n  tracing:\n    store: ${store}\n`);
  const all = { LENSGATE_DATA_DIR: join(folder, 'data'), ...env };
  return readSettings(store === null ? [] : ['--config', file], all, keySmith);
}

const URL = 'http://u:sk-pass@ch.test:8123';

it('traces are kept in ClickHouse where an address says so, in the file before the environment', () => {
  const at = (url: string, database = 'lensgate') => ({ url, database });
  expect(read(null).clickHouse).toBeNull();
  expect(read(null, { CLICKHOUSE_URL: '' }).clickHouse).toBeNull();
  expect(read(null, { CLICKHOUSE_URL: URL }).clickHouse).toEqual(at(URL));
  expect(read('clickhouse', { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'own' }).clickHouse).toEqual(at(URL, 'own'));
  const inFile = '{ type: clickhouse, url: os.environ/ELSEWHERE, database: ours, retention_days: 3 }';
  const both = { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'own', ELSEWHERE: 'clickhouse://ch:8123' };
  expect(read(inFile, both).clickHouse).toEqual(at('clickhouse://ch:8123', 'ours'));
  expect(read('postgresql', { CLICKHOUSE_URL: URL }).clickHouse).toBeNull();
});

it('the database keeps them, and that is said, where ClickHouse is named without an address', () => {
  const { clickHouse, warnings } = read('clickhouse');
  expect(clickHouse).toBeNull();
  expect(warnings).toEqual([
    'Traces are to be kept in ClickHouse, but there is no CLICKHOUSE_URL: the database keeps them.',
  ]);
});

it('what is no address or no name is told with its place, never with what it says', () => {
  const address = 'is not an address like http://user:password@host:8123';
  expect(() => read(null, { CLICKHOUSE_URL: 'sk-pass@host' })).toThrow(`environment: CLICKHOUSE_URL: ${address}`);
  expect(() => read('{ url: "sk-pass" }')).toThrow(`config file: general_settings.tracing.store.url: ${address}`);
  expect(() => read(null, { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'a; drop' })).toThrow(
    'environment: CLICKHOUSE_DATABASE: is not letters, digits and underscores',
  );
});
