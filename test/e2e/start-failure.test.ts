import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawnMain } from '../support/spawn-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-start-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a start that fails', () => {
  async function refusalOf(args: readonly string[], env: Record<string, string> = {}) {
    const child = spawnMain(args, { LENSGATE_DATA_DIR: join(folder, 'data'), LENSGATE_LOG_LEVEL: 'error', ...env });
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    const [code] = await once(child, 'exit');
    return [code, errors];
  }

  it('names file, line and key of a faulty configuration', async () => {
    const config = join(folder, 'bad.yaml');
    writeFileSync(config, 'model_list:\n  - model_name: smart\n');
    expect(await refusalOf(['--config', config])).toEqual([
      1,
      `Lensgate cannot start with this configuration:\n${config}:2: model_list.0.litellm_params: Invalid input: expected object, received undefined\n`,
    ]);
  });

  it('says that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const answer = await refusalOf(['--port', String(port)]);
    other.close();
    expect(answer).toEqual([
      1,
      `Lensgate cannot start: port ${port} on 127.0.0.1 is in use. Choose another with --port.\n`,
    ]);
  });

  it.each(['auto', 'node:sqlite'])('names a damaged database and leaves it as it is, over %s', async (driver) => {
    const file = join(folder, 'data', 'lensgate.db');
    mkdirSync(join(folder, 'data'));
    writeFileSync(file, 'not a database, but somebody needs it');
    expect(await refusalOf(['--port', '0'], { LENSGATE_SQLITE_DRIVER: driver })).toEqual([
      1,
      `Lensgate cannot start: ${file} is damaged or no SQLite database. It was left as it is: restore it, or move it away.\n`,
    ]);
    expect(readFileSync(file, 'utf8')).toBe('not a database, but somebody needs it');
  });

  it.each(['auto', 'node:sqlite'])('says what stands in the way of the database, over %s', async (driver) => {
    const file = join(folder, 'data', 'lensgate.db');
    mkdirSync(file, { recursive: true });
    expect(await refusalOf(['--port', '0'], { LENSGATE_SQLITE_DRIVER: driver })).toEqual([
      1,
      `Lensgate cannot start: The database cannot be used at the moment. (${file}: SQLITE_CANTOPEN)\n`,
    ]);
  });
});
