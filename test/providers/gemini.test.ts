import { afterAll, beforeAll, expect, it } from 'vitest';
import { collect } from '../../src/domain/bytes.ts';
import { EMBEDDINGS, MODERATIONS } from '../../src/domain/inference/endpoint.ts';
import { Secret } from '../../src/domain/secret.ts';
import { gemini } from '../../src/providers/gemini/gemini.ts';
import { createHttpProvider } from '../../src/providers/http-provider.ts';
import { createHttpClient } from '../../src/runtime/http-client/client.ts';
import { aDeployment, aModelRequest } from '../support/chat.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';

const http = createHttpClient();
const provider = createHttpProvider(http, gemini);
let faults: FaultServer;

beforeAll(async () => {
  faults = await startFaultServer();
});

afterAll(async () => {
  await http.close();
  await faults.stop();
});

it('embeddings are requested and answered in the format of OpenAI', async () => {
  const vectors = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'up-1' };
  faults.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...vectors, usage: { prompt_tokens: 2, total_tokens: 2 } }));
  });
  const deployment = aDeployment({ provider: 'gemini', apiBase: faults.url, apiKey: new Secret('google-key') });
  const request = aModelRequest({ model: 'm', input: 'Hello' }, { endpoint: EMBEDDINGS });
  const exchange = await provider.send(deployment, request, new AbortController().signal);
  const body: unknown = JSON.parse(Buffer.from((await collect(exchange.bytes, 1e6)) ?? []).toString('utf8'));
  expect(body).toMatchObject({ ...vectors, model: 'm' });
  expect(exchange.outcome().usage?.inputTokens).toBe(2);
  expect(faults.received.at(-1)).toMatchObject({
    path: '/v1beta/openai/embeddings',
    headers: { authorization: 'Bearer google-key' },
    body: JSON.stringify({ model: 'up-1', input: 'Hello' }),
  });
});

it('Gemini has no endpoint for moderations', () => {
  expect(provider.supportsEndpoint(MODERATIONS, aDeployment())).toBe(false);
});
