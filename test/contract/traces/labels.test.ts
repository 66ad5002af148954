import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, as, makeKey, otlpExport, otlpSpan, send } from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ config: { model_list: [{ model_name: 'demo', litellm_params: { model: 'demo' } }] } });
});
afterAll(() => app.stop());

async function labelsOf(traceId: string, key: string): Promise<unknown> {
  const query = `{ trace(id: "${traceId}") { sessionId userId tags } }`;
  const [, graph] = await statusAndBody(app.call('POST', '/graphql', { query }, as(key)));
  return graph;
}

it('traces.ingest 200: a trace has the session, user and tags of its root span', async () => {
  const key = await makeKey(app);
  const traceId = 'a1'.repeat(16);
  const root = { 'session.id': 's-1', 'user.id': 'ann', 'tag.tags': 'beta,alpha' };
  const below = { traceId, parentSpanId: 'a'.repeat(16) };
  await send(
    app,
    otlpExport(otlpSpan('a', 0, 9, root, { traceId }), otlpSpan('b', 1, 1, { 'session.id': 's-2' }, below)),
    as(key),
  );
  const trace = { sessionId: 's-1', userId: 'ann', tags: ['alpha', 'beta'] };
  expect(await labelsOf(traceId, key)).toEqual({ data: { trace } });
});

it('traces.ingest 200: a trace without labels has null and empty values', async () => {
  const key = await makeKey(app);
  const traceId = 'b1'.repeat(16);
  await send(app, otlpExport(otlpSpan('a', 0, 9, {}, { traceId })), as(key));
  expect(await labelsOf(traceId, key)).toEqual({ data: { trace: { sessionId: null, userId: null, tags: [] } } });
});

it('inference.chat 200: the trace of a request has its session, end user and tags', async () => {
  const traceId = 'c1'.repeat(16);
  const body = {
    model: 'demo',
    messages: [{ role: 'user', content: 'Hello' }],
    user: 'ann',
    tags: ['beta'],
    metadata: { session_id: 's-1', tags: ['alpha'] },
  };
  const traced = { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` };
  const answer = await app.call('POST', '/v1/chat/completions', body, traced);
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  const trace = { sessionId: 's-1', userId: 'ann', tags: ['alpha', 'beta'] };
  expect(await labelsOf(traceId, app.adminKey)).toEqual({ data: { trace } });
});
