import { expect, it, vi } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp } from '../../support/start-app.ts';

const ANSWER = { id: 'c', choices: [], usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } };

it('a request that shares a probe sends its own if the client that started the probe disconnects', async () => {
  const upstream = await startFaultServer();
  const params = { model: 'openai/up', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream' };
  const app = await startApp({
    config: {
      general_settings: { demo_model: false },
      model_list: [
        { model_name: 'chat', litellm_params: params, model_info: { id: 'one' } },
        { model_name: 'own/*', litellm_params: { ...params, model: 'openai/*' }, model_info: { id: 'any' } },
      ],
    },
  });
  try {
    // Only the first probe is not answered.
    upstream.answer((response) => {
      if (upstream.received.length === 1) return;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER));
    });
    const client = new AbortController();
    const headers = { authorization: `Bearer ${app.adminKey}` };
    const first = fetch(`${app.url}/health?model_id=one`, { headers, signal: client.signal });
    await vi.waitFor(() => expect(upstream.received).toHaveLength(1), POLLING);
    const second = app.call('GET', '/health?model_id=one');
    // This third request makes no upstream call. When it is answered, the server has read the second request.
    await (await app.call('GET', '/health?model_id=any')).text();
    client.abort();
    await expect(first).rejects.toThrow();
    const answer = await second;
    expect([answer.status, await answer.json()]).toMatchObject([200, { healthy_count: 1, unhealthy_count: 0 }]);
    expect(upstream.received).toHaveLength(2);
  } finally {
    await app.stop();
    await upstream.stop();
  }
});
