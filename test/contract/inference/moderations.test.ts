import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { startFaultServer } from '../../support/fault-server.ts';
import { startApp } from '../../support/start-app.ts';

it('moderations.create 200: a request of the official SDK without a model calls omni-moderation-latest', async () => {
  const upstream = await startFaultServer();
  const model = 'omni-moderation-latest';
  const answer = { id: 'modr-1', model, results: [{ flagged: false, categories: {}, category_scores: {} }] };
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  const params = { model: `openai/${model}`, api_base: `${upstream.url}/v1`, api_key: 'sk-up' };
  const app = await startApp({ config: { model_list: [{ model_name: model, litellm_params: params }] } });
  try {
    const openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.adminKey });
    expect(await openai.moderations.create({ input: 'x' })).toMatchObject(answer);
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ model, input: 'x' });
  } finally {
    await app.stop();
    await upstream.stop();
  }
});
