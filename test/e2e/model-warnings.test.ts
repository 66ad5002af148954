import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { POLLING } from '../support/polling.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

let folder: string;
let server: ServerProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-model-warnings-'));
  const env = { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' };
  server = await spawnServer(join(folder, 'data'), { env });
});
afterAll(async () => {
  await server?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

async function send(path: string, body: object): Promise<number> {
  const key = readFileSync(join(folder, 'data', 'admin-key'), 'utf8').trim();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  return answer.status;
}

it('a stored model with only an input price is logged when it is created and when it is changed', async () => {
  const model = { model: 'openai/of-no-catalog', api_key: 'sk-of-the-model', api_base: 'http://127.0.0.1:9/v1' };
  const createModel = (id: string, prices: object) =>
    send('/model/new', { model_name: id, litellm_params: { ...model, ...prices }, model_info: { id } });
  expect(await createModel('whole', { input_cost_per_token: 0.001, output_cost_per_token: 0.001 })).toBe(200);
  expect(await createModel('half', { input_cost_per_token: 0.001 })).toBe(200);
  expect(await send('/model/update', { model_name: 'renamed', model_info: { id: 'half' } })).toBe(200);
  const lines = (): readonly unknown[] =>
    server
      .errors()
      .split('\n')
      .filter((line) => line.includes('output is free'))
      .map((line) => JSON.parse(line) as unknown);
  const warning =
    'Input has a price and output has none: output is free. Set output_cost_per_token, 0 for free output.';
  // Level 40 is `warn`.
  const line = (name: string) => ({ level: 40, id: 'half', model: name, warning });
  await vi.waitFor(() => expect(lines()).toMatchObject([line('half'), line('renamed')]), POLLING);
  expect(server.errors()).not.toContain('sk-of-the-model');
});

it('a router of the file beside a stored one of the same limited classifier is logged at the start, and both are served', async () => {
  const data = mkdtempSync(join(tmpdir(), 'lensgate-router-warnings-'));
  const router = (id: string) => ({
    model_name: id,
    litellm_params: {
      model: 'auto_router/complexity_router',
      complexity_router_config: { tiers: { SIMPLE: 'demo', REASONING: 'demo' }, classifier_type: 'heuristic_v2' },
    },
    model_info: { id },
  });
  const env = {
    STORE_MODEL_IN_DB: 'True',
    LITELLM_SALT_KEY: 'a-salt-key',
    LITELLM_MASTER_KEY: 'sk-of-the-routers-0123',
  };
  const headers = { authorization: `Bearer ${env.LITELLM_MASTER_KEY}`, 'content-type': 'application/json' };
  const config = join(data, 'config.yaml');
  writeFileSync(config, JSON.stringify({ model_list: [router('of-file')] }));
  try {
    const first = await spawnServer(data, { env });
    const body = JSON.stringify(router('of-store'));
    const stored = await fetch(`${first.url}/model/new`, { method: 'POST', headers, body });
    expect([stored.status, await stored.text()]).toEqual([200, expect.stringContaining('of-store')]);
    expect(first.errors()).not.toContain('heuristic_v2');
    await first.end('SIGTERM');
    const second = await spawnServer(data, { env, args: ['--config', config] });
    expect(second.errors()).toContain(
      String.raw`2 auto routers have the classifier_type 'heuristic_v2', of which 1 can be registered: \"of-file\" (of-file), \"of-store\" (of-store).`,
    );
    const models = await (await fetch(`${second.url}/v1/models`, { headers })).text();
    expect([models.includes('of-file'), models.includes('of-store')]).toEqual([true, true]);
    await second.end('SIGTERM');
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
});
