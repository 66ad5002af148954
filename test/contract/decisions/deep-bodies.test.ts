import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'k' };
  app = await startApp({ config: { model_list: [{ model_name: 'standard', litellm_params: params }] } });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

// A state becomes text for an upstream of the standard format, by a recursion over its levels.
it.each([600, 5_000, 50_000])('decisions.systemOne 400: a state of %i levels', async (levels) => {
  const state = `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const body = `{"model":"standard","state":${state},"questions":{"ok":{"type":"noul","instructions":"is it?"}}}`;
  const answer = await app.call('POST', '/v1/systemone', body);
  expect([answer.status, await answer.json()]).toEqual([
    400,
    {
      error: {
        message: 'The request body nests more than 500 levels deep.',
        type: 'invalid_request_error',
        param: 'request_body',
        code: '400',
      },
    },
  ]);
});

it('decisions.systemOne 200: a state of 400 levels', async () => {
  const probability = { type: 'predicate', name: 'ok', probability: 0.5 };
  const usage = { input_tokens: 1, output_tokens: 0, total_tokens: 1 };
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'up-1', answers: [probability], usage }));
  });
  const state = `${'['.repeat(400)}${']'.repeat(400)}`;
  const body = `{"model":"standard","state":${state},"questions":{"ok":{"type":"noul","instructions":"is it?"}}}`;
  expect((await app.call('POST', '/v1/systemone', body)).status).toBe(200);
});
