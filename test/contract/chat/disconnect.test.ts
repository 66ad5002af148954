import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const PATH = '/v1/chat/completions';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({ config: { model_list: [{ model_name: 'assistant', litellm_params: params }] } });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

describe('a client that disconnects', () => {
  it.each([false, true])('cancels the upstream call (stream: %s)', async (stream) => {
    const arrived = Promise.withResolvers<void>();
    upstream.answer((response) => {
      if (stream) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
      }
      arrived.resolve();
    });
    const controller = new AbortController();
    const call = fetch(`${app.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}` },
      body: JSON.stringify({ model: 'assistant', messages: MESSAGES, stream }),
      signal: controller.signal,
    });
    await arrived.promise;
    if (stream) await call;
    controller.abort();
    await call.catch(() => {});
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
  });
});
