import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { configOver, lineFor, newKey, send, serveFiles, upload } from '../files/file-client.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({ config: configOver(upstream, { proxy_batch_polling_interval: 0 }) });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

it('a batch whose client leaves while its upstream creates the batch is stored, so that it is charged', async () => {
  const key = await newKey(app, {});
  serveFiles(upstream);
  const { id } = await upload(app, { purpose: 'batch' }, { key, content: lineFor('assistant') });
  const leaving = new AbortController();
  let answerNow: () => void = () => undefined;
  upstream.answer((response) => {
    answerNow = () => {
      response.setHeader('content-type', 'application/json');
      response.end('{"id":"up-batch","object":"batch","status":"validating"}');
    };
    leaving.abort();
  });
  const started = fetch(`${app.url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' }),
    signal: leaving.signal,
  });
  await expect(started).rejects.toThrow();
  // The server has seen the end of the connection when a later request on a new one is answered.
  expect((await send(app, 'GET', '/v1/models', { key })).status).toBe(200);
  answerNow();
  serveFiles(upstream, { status: 'in_progress' });
  const list = async () => {
    const answer = await send(app, 'GET', '/v1/batches', { key });
    return ((await answer.json()) as { readonly data: readonly object[] }).data.length;
  };
  await expect.poll(list, POLLING).toBe(1);
});
