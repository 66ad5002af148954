import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { readSettings } from '../../../src/runtime/settings/settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-connections-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The limit of connections with this setting in the file, and this variable if it is given. */
function limitOf(inFile: string, variable?: string): number {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, `general_settings: { ${inFile} }`);
  const env = {
    LENSGATE_DATA_DIR: join(folder, 'data'),
    ...(variable === undefined ? {} : { LENSGATE_MAX_CONNECTIONS: variable }),
  };
  return readSettings(['--config', file], env, keyGenerator).maxConnections;
}

it('the limit of connections is 10,000 by default, or set by the file or the environment', () => {
  expect([limitOf(''), limitOf('max_connections: 50'), limitOf('max_connections: 50', '0')]).toEqual([10_000, 50, 0]);
});

it.each(['-1', '1.5', '1000001', 'many'])('a limit of %s connections is refused', (limit) => {
  expect(() => limitOf(`max_connections: ${limit}`)).toThrow('general_settings.max_connections');
  expect(() => limitOf('', limit)).toThrow('LENSGATE_MAX_CONNECTIONS');
});
