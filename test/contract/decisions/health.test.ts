import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;
const upstreamRequests: { readonly model: string; readonly body: Record<string, unknown> }[] = [];

const CHOICE = { type: 'choice', choice: 'yes', confidence: 1, probabilities: { yes: 1, no: 0 } };

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response, _socket, { body }) => {
    const call = JSON.parse(body) as Record<string, unknown> & { readonly model: string };
    upstreamRequests.push({ model: call.model, body: call });
    const isDown = call.model === 'down';
    response.writeHead(isDown ? 500 : 200, { 'content-type': 'application/json' });
    const answers = Object.keys(call['questions'] as object).map((name) => [
      name,
      // `noul` is the wire name of a yes-or-no question, and of the probability of yes.
      name === 'up' ? CHOICE : { type: 'noul', noul: 1 },
    ]);
    response.end(
      isDown
        ? '{"error":{"message":"down"}}'
        : JSON.stringify({
            answers: Object.fromEntries(answers) as object,
            usage: { input_tokens: 1, output_tokens: 1 },
          }),
    );
  });
  const model = (name: string, info: object) => ({
    model_name: name,
    litellm_params: { model: `perplexity/${name}`, api_base: upstream.url, api_key: 'k' },
    model_info: { mode: 'evaluation', ...info },
  });
  const questions = { own: { type: 'noul', instructions: 'Is it up?' } };
  app = await startApp({
    config: {
      model_list: [
        model('plain', {}),
        model('own', { health_check_params: { state: 'our state', questions } }),
        model('down', {}),
        model('options', {
          health_check_params: {
            questions: { up: { type: 'choice', instructions: 'Is it up?', criteria: { yes: null, no: null } } },
          },
        }),
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

it('a health check sends a decision model one question, or the members of health_check_params', async () => {
  // The healthy models include the built-in demo model.
  const response = await app.call('GET', '/health');
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ healthy_count: 4, unhealthy_count: 1 });
  const bodies = new Map(upstreamRequests.map(({ model, body }) => [model, body]));
  expect(bodies.get('plain')).toMatchObject({ questions: { reachable: { type: 'noul' } } });
  expect(bodies.get('own')).toMatchObject({
    state: 'our state',
    questions: { own: { type: 'noul', instructions: 'Is it up?' } },
  });
  expect(Object.keys((bodies.get('own') as { readonly questions: object }).questions)).toEqual(['own']);
  expect(bodies.get('options')).toMatchObject({
    questions: { up: { type: 'choice', instructions: 'Is it up?', criteria: { yes: null, no: null } } },
  });
});
