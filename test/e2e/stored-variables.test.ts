import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const ADMIN = 'sk-of-the-stored-variables-1';
const SECRET = 'sk-kept-over-a-restart';

const authorizations: string[] = [];
const upstream = createServer((request, response) => {
  authorizations.push(request.headers.authorization ?? '');
  response.writeHead(503).end('{}');
});
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-stored-variables-'));
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const post = (server: ServerProcess, path: string, body: object): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

it('a stored variable is encrypted, and read by models of the file after a restart', async () => {
  const config = join(folder, 'config.yaml');
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  writeFileSync(
    config,
    `model_list:
  - { model_name: m, litellm_params: { model: openai/m, api_base: ${base}, api_key: os.environ/STORED_KEY } }
litellm_settings: { num_retries: 0 }
`,
  );
  const data = join(folder, 'data');
  const start = () => spawnServer(data, { args: ['--config', config], env: { LITELLM_MASTER_KEY: ADMIN } });
  const first = await start();
  const stored = await post(first, '/config/update', { environment_variables: { STORED_KEY: SECRET } });
  expect([stored.status, await stored.json()]).toEqual([200, { message: 'Config updated successfully' }]);
  expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const readable = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(SECRET));
  expect([files.length > 0, readable.map(({ name }) => name)]).toEqual([true, []]);

  const second = await start();
  const call = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
  expect((await post(second, '/v1/chat/completions', call)).status).toBe(503);
  expect(authorizations).toEqual([`Bearer ${SECRET}`]);
  expect(`${second.output()}${second.errors()}`).not.toContain(SECRET);
  expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
}, 120_000);
