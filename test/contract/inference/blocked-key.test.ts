import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let key: string;

// The key is blocked in the store while no process runs, so that no cache has the key.
beforeAll(async () => {
  const before = await startApp();
  const response = await before.call('POST', '/key/generate', { key_alias: 'shut' });
  ({ key } = (await response.json()) as { key: string });
  await before.stop({ keepData: true });
  const store = new DatabaseSync(join(before.dataDir, 'lensgate.db'));
  store.exec("update virtual_key set blocked = 1 where alias = 'shut'");
  store.close();
  app = await startApp({ dataDir: before.dataDir });
});

afterAll(() => app.stop());

const MESSAGE = "Authentication Error, Key is blocked. Update via `/key/unblock` if you're an admin.";
const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'x' }], max_tokens: 5 };

async function refusal(method: string, path: string, body?: object) {
  const response = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: response.status, body: (await response.json()) as unknown };
}

describe('401: a blocked key', () => {
  it.each([
    ['POST', '/v1/chat/completions', CHAT],
    ['POST', '/v1/embeddings', { model: 'demo', input: 'x' }],
    ['POST', '/v1/responses', { model: 'demo', input: 'x' }],
    ['POST', '/ide/chat/completions', { model: 'demo', input: 'x' }],
    ['GET', '/v1/models', undefined],
    ['GET', '/model/info', undefined],
  ])('is refused on %s %s', async (method, path, body) => {
    expect(await refusal(method, path, body)).toEqual({
      status: 401,
      body: { error: { message: MESSAGE, type: 'auth_error', param: 'None', code: '401' } },
    });
  });

  it('is refused on paths of Anthropic and Google in their error formats', async () => {
    expect(await refusal('POST', '/v1/messages', CHAT)).toEqual({
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: MESSAGE } },
    });
    expect(await refusal('POST', '/v1beta/models/demo:generateContent', { contents: [] })).toEqual({
      status: 401,
      body: { error: { code: 401, message: MESSAGE, status: 'UNAUTHENTICATED' } },
    });
  });
});
