import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newKey, send } from '../files/file-client.ts';

type Json = Readonly<Record<string, unknown>>;

let app: TestApp;
let upstream: FaultServer;
beforeAll(async () => {
  upstream = await startFaultServer();
  const at = (model_name: string, model: string, prices: Json) => ({
    model_name,
    litellm_params: { model, api_base: `${upstream.url}/v1`, api_key: 'k', ...prices },
  });
  app = await startApp({
    config: {
      model_list: [
        at('reader', 'mistral/mistral-ocr-latest', {}),
        at('vectors', 'openai/v', { input_cost_per_token: 0.001, output_cost_per_token: 0 }),
        at('chat', 'openai/c', { input_cost_per_token: 0.001, output_cost_per_token: 0.01 }),
        at('painter', 'openai/p', { output_cost_per_image: 0.25 }),
        at('voice', 'openai/s', { input_cost_per_character: 0.001 }),
        at('order', 'cohere/r', { input_cost_per_query: 0.5 }),
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

interface Row {
  readonly spend: number;
  readonly status: string;
  readonly call_type: string;
}

async function rowsOf(key: string): Promise<readonly Row[]> {
  const rows = await app.call('GET', `/spend/logs?api_key=${key}&summarize=false`);
  return (await rows.json()) as readonly Row[];
}

/** The row of a call whose client leaves when its request has arrived at the upstream. */
async function rowAfterLeaving(path: string, body: Json): Promise<Row | undefined> {
  const key = await newKey(app, {});
  const leaving = new AbortController();
  upstream.answer(() => leaving.abort());
  const call = fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: leaving.signal,
  });
  await expect(call).rejects.toThrow();
  await expect.poll(async () => (await rowsOf(key)).length, POLLING).toBe(1);
  return (await rowsOf(key))[0];
}

const document = { type: 'document_url', document_url: 'https://files.test/a.pdf' };

it.each([
  ['a document: its selected pages', '/v1/ocr', { model: 'reader', document, pages: [0, 1, 2] }, 0.012],
  ['a document: a page by its size', '/v1/ocr', { model: 'reader', document }, 0.004],
  ['images', '/v1/images/generations', { model: 'painter', prompt: 'x', n: 2 }, 0.5],
  ['a rerank', '/v1/rerank', { model: 'order', query: 'x', documents: ['a'] }, 0.5],
])('is charged when its client leaves: %s', async (_call, path, body, spend) => {
  expect(await rowAfterLeaving(path, body)).toMatchObject({ spend, status: 'failure' });
});

it.each([
  ['an embedding', '/v1/embeddings', { model: 'vectors', input: 'hello '.repeat(50) }],
  ['speech', '/v1/audio/speech', { model: 'voice', input: 'hello', voice: 'a' }],
  ['a chat', '/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content: 'hello' }] }],
])('is charged an estimate when its client leaves: %s', async (_call, path, body) => {
  const row = await rowAfterLeaving(path, body);
  expect(row?.spend).toBeGreaterThan(0);
});

it('is charged for the part of a stream that has arrived when its upstream cuts it', async () => {
  const key = await newKey(app, {});
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'c', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
  upstream.answer((response, socket) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('one') + chunk('two'));
    setTimeout(() => socket.destroy(), 100);
  });
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }], stream: true });
  const headers = { 'content-type': 'application/json' };
  const answer = await send(app, 'POST', '/v1/chat/completions', { key, body, headers });
  expect(await answer.text()).toContain('two');
  await expect.poll(async () => (await rowsOf(key)).length, POLLING).toBe(1);
  const [row] = await rowsOf(key);
  expect(row?.status).toBe('failure');
  // At least one piece of the answer, at 0.01.
  expect(row?.spend).toBeGreaterThan(0.01);
});

it('is free when the upstream fails before the answer', async () => {
  const key = await newKey(app, {});
  upstream.answer((response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{}'));
  const body = JSON.stringify({ model: 'reader', document });
  const headers = { 'content-type': 'application/json' };
  expect((await send(app, 'POST', '/v1/ocr', { key, body, headers })).status).toBe(500);
  await expect.poll(async () => (await rowsOf(key)).map(({ spend }) => spend), POLLING).toEqual([0]);
});
