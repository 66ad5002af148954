import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServerProcess, spawnMain, spawnServer } from '../support/spawn-server.ts';

let folder: string;
let running: ServerProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-second-'));
  running = [];
});
afterEach(async () => {
  for (const server of running) await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const dataDir = (): string => join(folder, 'data');
const holderFile = (): string => join(dataDir(), 'lensgate.db.holder');

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await spawnServer(dataDir(), { env });
  running.push(server);
  return server;
}

/** Exit code and standard error of a process that cannot start. */
async function refusal(env: Record<string, string> = {}): Promise<readonly [number | null, string]> {
  const child = spawnMain(['--port', '0'], { LENSGATE_DATA_DIR: dataDir(), LENSGATE_LOG_LEVEL: 'error', ...env });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return [code, errors];
}

describe('a second process on one SQLite database', () => {
  it('is refused with the process id of the first, which continues', async () => {
    const first = await start();
    const holder = readFileSync(holderFile(), 'utf8');
    expect(holder).toMatch(new RegExp(`^pid ${first.process.pid} on host ${hostname()}, since \\S+Z$`));
    expect(await refusal()).toEqual([
      1,
      `Lensgate cannot start: The database is in use by another Lensgate process (${holder}). ` +
        'Stop that process, or give this one a folder of its own with LENSGATE_DATA_DIR. ' +
        `Several processes can share a PostgreSQL database (DATABASE_URL). (${join(dataDir(), 'lensgate.db')})\n`,
    ]);
    expect((await fetch(`${first.url}/health/readiness`)).status).toBe(200);
  });

  it('is refused for the same database, even with another data folder', async () => {
    const database = { DATABASE_URL: `sqlite://${join(folder, 'shared.db')}` };
    await start(database);
    const otherFolder = { ...database, LENSGATE_DATA_DIR: join(folder, 'other') };
    const [code, errors] = await refusal(otherFolder);
    expect([code, errors]).toEqual([1, expect.stringContaining(`(${join(folder, 'shared.db')})`)]);
    expect((await refusal({ DATABASE_URL: database.DATABASE_URL }))[0]).toBe(1);
  });

  it('starts after the first was killed, and writes its own holder file', async () => {
    const first = await start();
    await first.end('SIGKILL');
    expect(existsSync(holderFile())).toBe(true);
    const second = await start();
    expect(readFileSync(holderFile(), 'utf8')).toContain(`pid ${second.process.pid} `);
  });

  it('starts after the first was stopped, which removes its holder file', async () => {
    const first = await start();
    // Signal handlers are installed before the first answer.
    expect((await fetch(`${first.url}/health/readiness`)).status).toBe(200);
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(holderFile())).toBe(false);
    await start();
  });
});
