import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings, type Settings } from '../../../src/runtime/settings/settings.ts';

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
  const wholeEnv = { LENSGATE_DATA_DIR: join(folder, 'data'), ...env };
  return readSettings(store === null ? [] : ['--config', file], wholeEnv, keyGenerator);
}

const URL = 'http://u:sk-pass@ch.test:8123';

/** The default limits of inserts. */
const INSERTS = { bytes: 67_108_864, timeoutMs: 30_000 };

it('traces are stored in ClickHouse where an address is set; the file takes precedence over the environment', () => {
  const storeAt = (url: string, database = 'lensgate') => ({ url, database, readerUrl: null, inserts: INSERTS });
  expect(read(null).clickHouse).toBeNull();
  expect(read(null, { CLICKHOUSE_URL: '' }).clickHouse).toBeNull();
  expect(read(null, { CLICKHOUSE_URL: URL }).clickHouse).toEqual(storeAt(URL));
  expect(read('clickhouse', { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'own' }).clickHouse).toEqual(
    storeAt(URL, 'own'),
  );
  const inFile = '{ type: clickhouse, url: os.environ/ELSEWHERE, database: ours, retention_days: 3 }';
  const envWithOther = { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'own', ELSEWHERE: 'clickhouse://ch:8123' };
  expect(read(inFile, envWithOther).clickHouse).toEqual(storeAt('clickhouse://ch:8123', 'ours'));
  expect(read('postgresql', { CLICKHOUSE_URL: URL }).clickHouse).toBeNull();
});

it('an address without a type is enough in the file, and the type is case-insensitive', () => {
  expect(read(`{ url: "${URL}" }`).clickHouse?.url).toBe(URL);
  expect(read('{ type: ClickHouse }', { CLICKHOUSE_URL: URL }).clickHouse?.url).toBe(URL);
});

it('limits of inserts and the address for reads are read from variables', () => {
  const env = {
    CLICKHOUSE_URL: URL,
    CLICKHOUSE_READER_URL: 'https://reader.test',
    CLICKHOUSE_TRACE_MAX_INSERT_BYTES: '1000',
    CLICKHOUSE_INSERT_TIMEOUT_SECONDS: '5',
  };
  expect(read(null, env).clickHouse).toEqual({
    url: URL,
    database: 'lensgate',
    readerUrl: 'https://reader.test',
    inserts: { bytes: 1_000, timeoutMs: 5_000 },
  });
  const empty = { CLICKHOUSE_READER_URL: '', CLICKHOUSE_TRACE_MAX_INSERT_BYTES: '' };
  expect(read(null, { CLICKHOUSE_URL: URL, ...empty }).clickHouse?.inserts).toEqual(INSERTS);
});

it.each([
  ['CLICKHOUSE_TRACE_MAX_INSERT_BYTES', 2_147_483_647],
  ['CLICKHOUSE_INSERT_TIMEOUT_SECONDS', 3_600],
])('%s is a whole number from 1 to %i, also where no ClickHouse address is set', (name, max) => {
  for (const value of ['0', '-1', '1.5', 'many', String(max + 1)])
    expect(() => read(null, { [name]: value })).toThrow(
      `environment: ${name}: "${value}" is not a whole number from 1 to ${max}`,
    );
});

it('an address for reads causes a warning where the database stores the traces', () => {
  const { clickHouse, warnings } = read(null, { CLICKHOUSE_READER_URL: URL });
  expect(clickHouse).toBeNull();
  expect(warnings).toEqual(['CLICKHOUSE_READER_URL has no effect: the database stores the traces.']);
});

it('the database stores traces, with a warning, where ClickHouse is named without an address', () => {
  const { clickHouse, warnings } = read('clickhouse');
  expect(clickHouse).toBeNull();
  expect(warnings).toEqual([
    'The configuration names ClickHouse for traces, but CLICKHOUSE_URL is not set: the database stores them.',
  ]);
});

it.each(['clickhose', `"${URL}"`, '{ type: mysql, url: "http://ch.test:8123" }'])(
  'the database stores traces, with a warning, where the store is unknown: %s',
  (store) => {
    const { clickHouse, warnings } = read(store, { CLICKHOUSE_URL: URL });
    expect(clickHouse).toBeNull();
    expect(warnings).toEqual([
      'The configuration names a store of traces that is not known: the database stores them.',
    ]);
  },
);

it.each(['sqlite', 'postgres', 'PostgreSQL', 'database', '{ retention_days: 3 }'])(
  'there is no warning where the database is named: %s',
  (store) => {
    expect(read(store)).toMatchObject({ clickHouse: null, warnings: [] });
  },
);

it('an invalid address or name is reported with its place, never with its value', () => {
  const address = 'is not an address like http://user:password@host:8123';
  expect(() => read(null, { CLICKHOUSE_URL: 'sk-pass@host' })).toThrow(`environment: CLICKHOUSE_URL: ${address}`);
  expect(() => read(null, { CLICKHOUSE_READER_URL: 'sk-pass' })).toThrow(
    `environment: CLICKHOUSE_READER_URL: ${address}`,
  );
  expect(() => read('{ url: "sk-pass" }')).toThrow(`config.yaml:3: general_settings.tracing.store.url: ${address}`);
  expect(() => read(null, { CLICKHOUSE_URL: URL, CLICKHOUSE_DATABASE: 'a; drop' })).toThrow(
    'environment: CLICKHOUSE_DATABASE: is not letters, digits and underscores',
  );
});
