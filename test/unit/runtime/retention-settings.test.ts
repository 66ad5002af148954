import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-settings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function daysOf(store: string | null, variable?: string): number {
  const file = join(folder, 'config.yaml');
  if (store !== null) writeFileSync(file, `general_settings:\n  tracing:\n    store: ${store}\n`);
  const env = { LENSGATE_DATA_DIR: join(folder, 'data'), AGENT_TRACING_RETENTION_DAYS: variable };
  return readSettings(store === null ? [] : ['--config', file], env, keyGenerator).retentionDays;
}

it('traces are stored for 14 days by default, and the file precedes the environment', () => {
  expect(daysOf(null)).toBe(14);
  expect(daysOf('clickhouse')).toBe(14);
  expect(daysOf('{ retention_days: 30 }')).toBe(30);
  expect(daysOf('clickhouse', '7')).toBe(7);
  expect(daysOf(null, '0')).toBe(0);
  expect(daysOf('{ retention_days: 30 }', '7')).toBe(30);
  expect(daysOf('{ retention_days: 0 }', '7')).toBe(0);
});

it('a number that is not whole or out of range is refused, with its variable or with its file, line and key', () => {
  for (const days of ['-1', '1.5', 'soon', '36501'])
    expect(() => daysOf('{ retention_days: 30 }', days)).toThrow(
      `environment: AGENT_TRACING_RETENTION_DAYS: "${days}" is not a whole number from 0 to 36500`,
    );
  for (const days of ['soon', '1.5', '-1', '36501'])
    expect(() => daysOf(`{ retention_days: ${days} }`)).toThrow(
      `config.yaml:3: general_settings.tracing.store.retention_days: "${days}" is not a whole number from 0 to 36500`,
    );
});
