import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let dataDir: string;
let app: TestApp | null = null;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-settings-read-at-start-'));
});
afterEach(async () => {
  await app?.stop({ keepData: true });
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(general: object, env: Record<string, string> = {}): Promise<TestApp> {
  await app?.stop({ keepData: true });
  app = await startApp({ dataDir, env, config: { general_settings: { demo_model: true, ...general } } });
  return app;
}

const store = async (server: TestApp, name: string, value: unknown): Promise<number> =>
  (
    await server.call('POST', '/config/field/update', {
      config_type: 'general_settings',
      field_name: name,
      field_value: value,
    })
  ).status;

/** Status of a chat with a body of more than 1 MiB. */
async function statusOfLargeCall(server: TestApp): Promise<number> {
  const messages = [{ role: 'user', content: 'x'.repeat(1 << 20) }];
  return (await server.call('POST', '/v1/chat/completions', { model: 'demo', messages })).status;
}

it('a stored max_request_size_mb applies after a restart; the file has precedence', async () => {
  const appBeforeRestart = await start({});
  expect(await store(appBeforeRestart, 'max_request_size_mb', 1)).toBe(200);
  expect(await statusOfLargeCall(appBeforeRestart)).toBe(200);
  expect(await statusOfLargeCall(await start({}))).toBe(400);
  expect(await statusOfLargeCall(await start({ max_request_size_mb: 4 }))).toBe(200);
});

it('a stored store_prompts_in_spend_logs applies after a restart; the file has precedence', async () => {
  const query = '{ traces(first: 1) { nodes { spans { nodes { input } } } } }';
  async function inputOf(server: TestApp): Promise<string> {
    await server.call('POST', '/v1/chat/completions', {
      model: 'demo',
      messages: [{ role: 'user', content: 'a-prompt' }],
    });
    return (await server.call('POST', '/graphql', { query })).text();
  }
  const appBeforeRestart = await start({});
  expect(await store(appBeforeRestart, 'store_prompts_in_spend_logs', true)).toBe(200);
  expect(await inputOf(appBeforeRestart)).not.toContain('a-prompt');
  expect(await inputOf(await start({}))).toContain('a-prompt');
  expect(await inputOf(await start({ store_prompts_in_spend_logs: false }))).not.toContain('a-prompt');
});
