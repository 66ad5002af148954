import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'voyage-key', input_cost_per_token: 0.5 };
  app = await startApp({
    config: { model_list: [{ model_name: 'ranker', litellm_params: { model: 'voyage/rerank-2', ...params } }] },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function ask(body: object) {
  const response = await app.call('POST', '/v1/rerank', { model: 'ranker', query: 'sky', ...body });
  const cost = response.headers.get('x-litellm-response-cost');
  return { status: response.status, cost, body: (await response.json()) as unknown };
}

function answerWith(status: number, body: unknown): void {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

it('a reranking of Voyage is translated to its format and back', async () => {
  answerWith(200, {
    object: 'list',
    data: [
      { index: 1, relevance_score: 0.75, document: 'Blue.' },
      { index: 0, relevance_score: 0.25 },
    ],
    model: 'rerank-2',
    usage: { total_tokens: 6 },
  });
  const documents = ['Green.', { text: 'Blue.' }];
  expect(await ask({ documents, top_n: 2, return_documents: true, tags: ['a'] })).toEqual({
    status: 200,
    // 6 tokens at a price of 0.5 per token.
    cost: '3',
    body: {
      id: expect.any(String),
      results: [
        { index: 1, relevance_score: 0.75, document: { text: 'Blue.' } },
        { index: 0, relevance_score: 0.25 },
      ],
      meta: { billed_units: { total_tokens: 6 }, tokens: { input_tokens: 6 } },
    },
  });
  const { path, body } = upstream.received.at(-1) ?? { path: '', body: '' };
  expect([path, JSON.parse(body)]).toEqual([
    '/v1/rerank',
    { model: 'rerank-2', query: 'sky', documents: ['Green.', 'Blue.'], top_k: 2, return_documents: true },
  ]);
});

it('an error of Voyage keeps its message, and an unsupported request is refused before the call', async () => {
  answerWith(400, { detail: 'Too many documents.' });
  expect(await ask({ documents: ['a'] })).toMatchObject({
    status: 400,
    body: { error: { message: 'litellm.BadRequestError: BadRequestError: VoyageException - Too many documents.' } },
  });
  answerWith(200, { unexpected: true });
  expect(await ask({ documents: ['a'] })).toMatchObject({ status: 500 });
  const callsBefore = upstream.received.length;
  expect(await ask({ documents: [{ title: 'x' }] })).toMatchObject({
    status: 400,
    body: { error: { param: 'documents[0]' } },
  });
  expect(upstream.received.length).toBe(callsBefore);
});
