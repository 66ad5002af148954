import { describe, expect, it } from 'vitest';
import {
  assertRemovable,
  assertWritable,
  type DeclaredConfig,
  OwnedByFile,
  settingViewOf,
} from '../../../src/domain/settings/ownership.ts';
import { redacted } from '../../../src/domain/settings/redaction.ts';
import { isOfKind } from '../../../src/domain/settings/value-kinds.ts';

const config: DeclaredConfig = {
  file: 'c.yaml',
  files: ['c.yaml'],
  declared: { general_settings: { a: 1, none: null, ref: 'os.environ/X', pass_through_endpoints: [] } },
  resolved: { general_settings: { a: 1, none: null, ref: '5', pass_through_endpoints: [] } },
  placeOf: (_section, name) => ({ source: 'c.yaml', line: name === 'a' ? 2 : 3 }),
};
const stored = new Map([
  ['general_settings', { a: 2, none: 3, ref: 'os.environ/X', open: 4, cleared: null, pass_through_endpoints: [1] }],
]);
const view = (name: string) => settingViewOf(config, stored, 'general_settings', name);

describe('the source of a setting', () => {
  it('is the file for declared settings, also null, and different stored values are ignored', () => {
    expect(view('a')).toEqual({
      section: 'general_settings',
      name: 'a',
      source: 'config',
      editable: false,
      declaredValue: 1,
      effectiveValue: 1,
      ignoredStoredValue: 2,
    });
    expect(view('none')).toMatchObject({ source: 'config', effectiveValue: null, ignoredStoredValue: 3 });
    expect(view('ref')).toMatchObject({ declaredValue: 'os.environ/X', effectiveValue: '5' });
    expect(view('ref').ignoredStoredValue).toBeUndefined();
  });

  it('is the database where the file has no value; a stored null counts as no value', () => {
    expect(view('open')).toMatchObject({ source: 'db', editable: true, effectiveValue: 4 });
    expect(view('cleared')).toMatchObject({ source: 'unset', editable: true, effectiveValue: null });
    // The file never owns this setting, although it declares a value.
    expect(view('pass_through_endpoints')).toMatchObject({ source: 'db', effectiveValue: [1] });
  });
});

describe('a write', () => {
  const write = (name: string, value: unknown) => () =>
    assertWritable(config, stored, { section: 'general_settings', writes: [{ name, value }] });

  it('to a declared setting is accepted with the effective value only, and to other settings with any value', () => {
    expect(write('a', 1)).not.toThrow();
    expect(write('ref', '5')).not.toThrow();
    expect(write('none', null)).not.toThrow();
    expect(write('open', 9)).not.toThrow();
    for (const refused of [write('a', '1'), write('ref', 'os.environ/X'), write('none', 0)])
      expect(refused).toThrow(OwnedByFile);
  });

  it('fails with all refused settings, sorted, and those with an ignored value', () => {
    const writes = [
      { name: 'ref', value: 1 },
      { name: 'a', value: 5 },
    ];
    const refused = (): void => assertWritable(config, stored, { section: 'general_settings', writes });
    expect(refused).toThrow(
      expect.objectContaining({
        keys: ['a', 'ref'],
        ignored: ['a'],
        message:
          "general_settings keys 'a', 'ref' are set in the config file, so only the file can change them. The database has another value for a, which is ignored.",
        resolution:
          'edit c.yaml:2, c.yaml:3 to change them, or remove them from the file to store them in the database',
      }),
    );
  });

  it('that removes a declared setting is refused', () => {
    expect(() => assertRemovable(config, stored, 'general_settings', 'a')).toThrow(OwnedByFile);
    expect(() => assertRemovable(config, stored, 'general_settings', 'open')).not.toThrow();
  });
});

it('secrets are hidden from every caller, and values of further settings from read-only administrators only', () => {
  expect(redacted('master_key', 'sk-1', 'admin')).toBe('REDACTED');
  expect(redacted('master_key', 'os.environ/KEY', 'admin')).toBe('os.environ/KEY');
  expect(redacted('max_tokens', 5, 'viewer')).toBe(5);
  expect(redacted('pass_through_endpoints', [{ path: '/p' }], 'admin')).toEqual([{ path: '/p' }]);
  expect(redacted('pass_through_endpoints', [{ path: '/p' }], 'viewer')).toBe('REDACTED');
  expect(
    redacted('list', [{ api_key: 'k', name: 'n', headers: { any: 'h' }, extra_headers: { 'x-vendor': 'v' } }], 'admin'),
  ).toEqual([
    { api_key: 'REDACTED', name: 'n', headers: { any: 'REDACTED' }, extra_headers: { 'x-vendor': 'REDACTED' } },
  ]);
  const hook = 'https://hooks.example.org/T0/secret';
  expect(redacted('alert_to_webhook_url', { budget_alerts: hook, all: [hook, 'os.environ/HOOK'] }, 'admin')).toEqual({
    budget_alerts: 'REDACTED',
    all: ['REDACTED', 'os.environ/HOOK'],
  });
  expect(redacted('credential_values', { region: 'r', nested: { id: 'x' } }, 'admin')).toEqual({
    region: 'REDACTED',
    nested: { id: 'REDACTED' },
  });
  expect(redacted('url', 'redis://:pass@host:6379', 'admin')).toBe('REDACTED');
  expect(redacted('url', 'redis://host:6379/user@x', 'admin')).toBe('redis://host:6379/user@x');
  // A value at a depth of more than ten levels is hidden.
  const deep = JSON.parse(`${'{"a":'.repeat(15)}"x"${'}'.repeat(15)}`) as unknown;
  expect(JSON.stringify(redacted('deep', deep, 'admin'))).toContain('REDACTED');
});

it.each([
  ['integer', [0, 1, '7', null, 2.0], ['1.5', 1.5, 'abc', [], {}, true, -1, '-1', 1e300, 'NaN']],
  ['number', [0, 1.5, '1.5', null], ['', 'x', [], true, -0.5, '-1', 'NaN', 'Infinity', '0x10']],
  ['duration', ['30d', '0d', '10m'], ['', '30', 'd', 30, '-1d', []]],
  ['window', ['1d', '1mo'], ['', '30', 'd', 30, '-1d', []]],
  [
    'address',
    ['', 'http://a.example/x.png', 'https://a.example'],
    ['javascript:alert(1)', 'data:image/png,x', '/a.png', 'file:///a', 1, []],
  ],
  ['texts', [[], ['a']], [[1], 'a', {}, [null]]],
  ['flag', [true, 'true', 0, 1, null], [2, 'maybe', []]],
  ['text', ['', 'x', null], [1, []]],
  ['list', [[], [1], null], [{}, 'x']],
  ['map', [{}, null], [[], 'x']],
  ['objects', [[{}], [], null], [[1], {}]],
] as const)('%s accepts valid values only', (kind, valid, invalid) => {
  expect(valid.filter((value) => !isOfKind(kind, value))).toEqual([]);
  expect(invalid.filter((value) => isOfKind(kind, value))).toEqual([]);
});
