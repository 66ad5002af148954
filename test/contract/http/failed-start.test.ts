import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../support/start-app.ts';

let dataDir: string;
let portHolder: Server;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-failed-start-'));
  portHolder = createServer().listen(0, '127.0.0.1');
  await once(portHolder, 'listening');
});
afterAll(() => {
  portHolder.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Files that exist beside a SQLite database only while a connection is open. */
const openFiles = (): readonly string[] => readdirSync(dataDir).filter((name) => /-wal$|-shm$|\.holder$/.test(name));

it('a start that fails at the port closes the database, and the next start succeeds', async () => {
  const { port } = portHolder.address() as AddressInfo;
  await expect(startApp({ dataDir, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(openFiles()).toEqual([]);
  const app = await startApp({ dataDir });
  expect((await app.call('GET', '/health/readiness')).status).toBe(200);
  expect(openFiles()).not.toEqual([]);
  await app.stop({ keepData: true });
  expect(openFiles()).toEqual([]);
});
