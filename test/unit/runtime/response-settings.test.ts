import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-responses-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function settingsOf(general: string) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `general_settings: { ${general} }`);
  const env = { LENSGATE_DATA_DIR: join(folder, 'data') };
  const { storeResponses, responseRetentionDays } = readSettings(['--config', file], env, keyGenerator);
  return { storeResponses, responseRetentionDays };
}

it('responses are stored for 30 days by default, and the file sets another time or disables the storage', () => {
  expect(settingsOf('')).toEqual({ storeResponses: true, responseRetentionDays: 30 });
  expect(settingsOf('store_responses: false, response_retention_days: 0')).toEqual({
    storeResponses: false,
    responseRetentionDays: 0,
  });
});

it.each(['-1', '36501', '1.5'])('%s days are refused', (days) => {
  expect(() => settingsOf(`response_retention_days: ${days}`)).toThrow('general_settings.response_retention_days');
});
