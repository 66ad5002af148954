import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace } from './trace-spans.ts';

const DEMO_ANSWER = 'This is the built-in demo model of Lensgate, not a language model. You said: Once upon';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ config: { general_settings: { store_prompts_in_spend_logs: true } } });
});
afterAll(() => app.stop());

/** Span names of a call of the demo model, and input and output of its first span. */
async function spanOf(path: string, body: object): Promise<unknown> {
  const { traceId, headers } = newTrace();
  const response = await app.call('POST', path, { model: 'demo', ...body }, headers);
  expect([response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
  const trace = await app.call('GET', `/v1/traces/${traceId}`);
  const { spans } = (await trace.json()) as { spans: { span_id: string; name: string }[] };
  const span = await app.call('GET', `/v1/traces/${traceId}/spans/${spans[0]?.span_id}`);
  const { input, output } = (await span.json()) as { input: unknown; output: unknown };
  return [spans.map(({ name }) => name), input, output];
}

it('a large prompt is stored unchanged', async () => {
  const prompt = 'Ünd "so" on.\n'.repeat(600);
  expect(await spanOf('/v1/completions', { prompt })).toEqual([['text_completion demo'], prompt, expect.any(String)]);
});

it.each([false, true])('a completion is stored with its prompt (stream: %s)', async (stream) => {
  expect(await spanOf('/v1/completions', { prompt: 'Once upon', stream })).toEqual([
    ['text_completion demo'],
    'Once upon',
    DEMO_ANSWER,
  ]);
});

it('the input of an embedding is stored, its vector is not', async () => {
  expect(await spanOf('/v1/embeddings', { input: 'Once upon' })).toEqual([['embeddings demo'], 'Once upon', '']);
});

it('the query of a rerank call is stored', async () => {
  expect(await spanOf('/v1/rerank', { query: 'Once', documents: ['upon'] })).toEqual([['rerank demo'], 'Once', '']);
});
