import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

it.each([
  ['--help', /^Lensgate 0[\s\S]*LITELLM_MASTER_KEY, general_settings\.master_key\n/],
  ['--version', /^Lensgate \d+\.\d+\.\d+\n$/],
])('%s is answered without a start', async (argument, expected) => {
  const child = spawnMain([argument], { LENSGATE_DATA_DIR: join(folder, 'data') });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  expect([code, expected.test(output), existsSync(join(folder, 'data'))]).toEqual([0, true, false]);
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
      `Lensgate cannot start with this configuration:\n${config}:2: model_list.0.litellm_params: is missing; expected a map\n`,
    ]);
  });

  it('refuses a section without an effect when strict_config is set', async () => {
    const config = join(folder, 'strict.yaml');
    writeFileSync(config, 'strict_config: true\n\nmcp_tools: { search: {} }\n');
    expect(await refusalOf(['--config', config])).toEqual([
      1,
      `Lensgate cannot start with this configuration:\n${config}:3: mcp_tools: has no effect: no MCP tool is offered\n`,
    ]);
  });

  it('reports a port in use', async () => {
    const portHolder = createServer().listen(0, '127.0.0.1');
    await once(portHolder, 'listening');
    const { port } = portHolder.address() as AddressInfo;
    const answer = await refusalOf(['--port', String(port)]);
    portHolder.close();
    expect(answer).toEqual([
      1,
      `Lensgate cannot start: port ${port} on 127.0.0.1 is in use. Choose another with --port.\n`,
    ]);
  });

  it.each(['auto', 'node:sqlite'])('names a damaged database and does not change it, over %s', async (driver) => {
    const file = join(folder, 'data', 'lensgate.db');
    mkdirSync(join(folder, 'data'));
    writeFileSync(file, 'not a database, but still needed');
    expect(await refusalOf(['--port', '0'], { LENSGATE_SQLITE_DRIVER: driver })).toEqual([
      1,
      `Lensgate cannot start: ${file} is damaged or no SQLite database. It was not changed: restore it, or move it away.\n`,
    ]);
    expect(readFileSync(file, 'utf8')).toBe('not a database, but still needed');
  });

  it.each(['auto', 'node:sqlite'])('names a folder in place of the database file, over %s', async (driver) => {
    const file = join(folder, 'data', 'lensgate.db');
    mkdirSync(file, { recursive: true });
    expect(await refusalOf(['--port', '0'], { LENSGATE_SQLITE_DRIVER: driver })).toEqual([
      1,
      `Lensgate cannot start: The database cannot be used at the moment. (${file}: SQLITE_CANTOPEN)\n`,
    ]);
  });
});
