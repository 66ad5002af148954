import { expect, it } from 'vitest';
import { VERSION } from '../../../src/domain/version.ts';
import { helpOrVersion } from '../../../src/runtime/settings/command-line.ts';
import { nearestOf } from '../../../src/runtime/settings/nearest-name.ts';
import type { Setting } from '../../../src/runtime/settings/setting.ts';
import { SETTING_GROUPS, SETTINGS } from '../../../src/runtime/settings/table.ts';
import { faultsFrom } from '../../support/read-settings.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);

it('--help names every argument, variable and key of the table, with texts of at most 110 characters a line', () => {
  const help = helpOrVersion(['--port', '1', '--help']) ?? '';
  for (const { argument, env = [], file } of ROWS)
    for (const name of [argument, ...env, file]) expect(help).toContain(name ?? '');
  expect(help).toContain(
    '  --port, PORT\n      Port to listen on. 0 takes a free port. Value: whole number from 0 to 65535. Default: 4000.\n',
  );
  expect(help.split('\n').filter((line) => /^ {6}/.test(line) && line.length > 110)).toEqual([]);
});

it('--version prints the version, and other arguments start the server', () => {
  expect(helpOrVersion(['--version'])).toBe(`Lensgate ${VERSION}\n`);
  expect(helpOrVersion(['--port', '1'])).toBeNull();
});

it('every setting is in one group, and every name is used once', () => {
  expect(SETTING_GROUPS.flatMap(({ settings }) => Object.keys(settings)).toSorted()).toEqual(
    Object.keys(SETTINGS).toSorted(),
  );
  const names = ROWS.flatMap(({ argument, env = [], file }) => [argument, ...env, file]).filter((name) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

it('all wrong values of arguments, environment and file are reported together', () => {
  const yaml = 'general_settings:\n  max_connections: -1\n  master_key: hunter2\nbilling_settings: 3\n';
  const env = { LENSGATE_MAX_CONNECTIONS: 'many', CLICKHOUSE_URL: 'hunter2', LENSGATE_LOG_LEVEL: 'loud' };
  const faults = faultsFrom({ yaml, env, args: ['--port', 'http'] });
  expect(faults).toEqual([
    'config.yaml:2: general_settings.max_connections: "-1" is not a whole number from 0 to 1000000',
    'config.yaml:3: general_settings.master_key: must begin with "sk-", followed by 1 to 509 printable ASCII characters without spaces',
    'config.yaml:4: billing_settings: is not a map of settings',
    'arguments: --port: "http" is not a whole number from 0 to 65535',
    'environment: LENSGATE_MAX_CONNECTIONS: "many" is not a whole number from 0 to 1000000',
    'environment: LENSGATE_LOG_LEVEL: "loud" is not one of debug, info, warn, error, silent',
    'environment: CLICKHOUSE_URL: is not an address like http://user:password@host:8123',
  ]);
  expect(faults.join()).not.toContain('hunter2');
});

it.each([
  ['databse_url', 'database_url'],
  ['prot', 'port'],
  ['colour', null],
  ['', null],
])('the suggested name for %j is %j', (name, nearest) => {
  expect(nearestOf(name, ['port', 'host', 'database_url'])).toBe(nearest);
});

it.each([
  ['https://app.example', null],
  ['*', null],
  [
    'https://app.example/path',
    '"https://app.example/path" is neither * nor an origin such as https://app.example.com, in lower case',
  ],
  ['app.example', '"app.example" is neither * nor an origin such as https://app.example.com, in lower case'],
])('the CORS origin %s has the fault %j', (origin, message) => {
  const faults = faultsFrom({ env: { LENSGATE_CORS_ORIGINS: origin } });
  expect(faults).toEqual(message === null ? [] : [`environment: LENSGATE_CORS_ORIGINS: ${message}`]);
});
