import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { statusAndBody, as } from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ config: { model_list: [{ model_name: 'demo', litellm_params: { model: 'demo' } }] } });
});
afterAll(() => app.stop());

const QUERY = `{
  sessions(first: 5) { totalCount edges { node { sessionId userId traceCount failedTraceCount llmCalls } } }
}`;

it('answered calls are immediately in the list of sessions', async () => {
  for (let calls = 1; calls <= 3; calls += 1) {
    const body = {
      model: 'demo',
      messages: [{ role: 'user', content: 'Hello' }],
      user: 'ann',
      metadata: { session_id: 's-1' },
    };
    const chat = await app.call('POST', '/v1/chat/completions', body);
    expect(chat.status).toBe(200);
    await chat.arrayBuffer();
    const node = {
      sessionId: 's-1',
      userId: 'ann',
      traceCount: calls,
      failedTraceCount: 0,
      llmCalls: calls,
    };
    expect(await statusAndBody(app.call('POST', '/graphql', { query: QUERY }, as(app.adminKey)))).toEqual([
      200,
      { data: { sessions: { totalCount: 1, edges: [{ node }] } } },
    ]);
  }
});
