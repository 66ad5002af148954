import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLiteHome, type LiteHome } from '../support/lite-process.ts';

let home: LiteHome;
let url = '';
const seen: string[] = [];
const server = createServer(({ method, url: path, headers }, response) => {
  seen.push(`${method} ${path} ${headers.authorization}`);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ scanned: 3, residual_legacy: method === 'GET' ? 2 : 0 }));
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  home = createLiteHome();
});
afterEach(() => home.remove());

it('lite encryption migrate checks, tries or runs the migration of a server', async () => {
  const migrate = (...words: string[]) =>
    home.run(['--base-url', url, '--api-key', 'sk-x', 'encryption', 'migrate', ...words]);
  const output = (left: number) => ({
    code: 0,
    stdout: `${JSON.stringify({ scanned: 3, residual_legacy: left }, null, 2)}\n`,
    stderr: `residual_legacy: ${left} secrets have the former encryption.\n`,
  });
  expect(await migrate('--check')).toEqual(output(2));
  expect(await migrate('--dry-run')).toEqual(output(0));
  expect(await migrate()).toEqual(output(0));
  expect(seen).toEqual([
    'GET /credentials/migrate-encryption/check Bearer sk-x',
    'POST /credentials/migrate-encryption?dry_run=true Bearer sk-x',
    'POST /credentials/migrate-encryption Bearer sk-x',
  ]);
});
