import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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

const read = (env: Record<string, string>): Settings =>
  readSettings([], { LENSGATE_DATA_DIR: join(folder, 'data'), ...env }, keyGenerator);

it.each([
  [{}, 5_000],
  [{ LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '250' }, 250],
  // PostgreSQL has no timeout at 0, so the minimum is 1 ms.
  [{ LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '0' }, 1],
])('the lock timeout of the database with %j is %i ms', (env, lockTimeoutMs) => {
  expect(read(env).lockTimeoutMs).toBe(lockTimeoutMs);
});

it('the lock timeout of the database is at most a minute', () => {
  const message = '"60001" is not a whole number from 0 to 60000';
  expect(() => read({ LENSGATE_DATABASE_LOCK_TIMEOUT_MS: '60001' })).toThrow(
    new ConfigError([{ source: 'environment', line: null, key: 'LENSGATE_DATABASE_LOCK_TIMEOUT_MS', message }]),
  );
});
