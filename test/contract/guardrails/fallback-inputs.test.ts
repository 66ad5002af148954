import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { contentFilter } from './guarded-app.ts';

const SECRET = 'john.doe@example.com';

let app: TestApp;
let upstream: FaultServer;
beforeAll(async () => {
  upstream = await startFaultServer();
  const patterns = [{ pattern_type: 'prebuilt', pattern_name: 'email', action: 'MASK' }];
  const model = (name: string, members: object = {}) => ({
    model_name: name,
    litellm_params: { model: `perplexity/${name}`, api_base: upstream.url, api_key: 'upstream-key', ...members },
  });
  app = await startApp({
    config: {
      guardrails: [contentFilter('mask', { patterns })],
      model_list: [model('one', { guardrails: ['mask'] }), model('two')],
      router_settings: { fallbacks: [{ one: ['two'] }] },
      general_settings: { decision_fallback_below: 0.5, store_decisions: 'full' },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

it('200: a stored decision has the masked input, also if a fallback without guardrails has answered', async () => {
  // The first model refuses one of the questions.
  upstream.answer((response, _socket, { body }) => {
    const { model } = JSON.parse(body) as { model: string };
    const name = model === 'one' ? 'a' : 'b';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        model,
        answers: { [name]: { type: 'noul', noul: 0.9 } },
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    );
  });
  const question = { type: 'noul', instructions: 'is it?' };
  const body = { model: 'one', state: { from: SECRET }, questions: { a: question, b: question } };
  const answer = await app.call('POST', '/v1/systemone', body);
  const { answers } = (await answer.json()) as { answers: Record<string, { x_model: string }> };
  expect([answer.status, answers['b']?.x_model]).toEqual([200, 'perplexity/two']);
  const query = `query ($c: ID!) { decisions(filter: { callId: $c }) { edges { node { input } } } }`;
  const variables = { c: answer.headers.get('x-litellm-call-id') };
  const read = await app.call('POST', '/graphql', { query, variables });
  expect(await read.json()).toEqual({
    data: { decisions: { edges: [{ node: { input: { from: '[EMAIL_REDACTED]' } } }] } },
  });
});
