import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ObjectUpstream, startObjectUpstream } from '../../support/object-upstream.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: ObjectUpstream;

beforeAll(async () => {
  upstream = await startObjectUpstream();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'k' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'm', litellm_params: { ...params, model: 'openai/first', silent_model: 'shadow' } },
        { model_name: 'shadow', litellm_params: { ...params, model: 'openai/silent' } },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

it('a response in the background is not copied to silent models, because the cost of a copy would not be recorded', async () => {
  for (const background of [true, false]) {
    const answer = await app.call('POST', '/v1/responses', { model: 'm', input: 'x', background });
    expect(answer.status).toBe(200);
  }
  const models = () => upstream.received.map(({ body }) => (JSON.parse(body) as { readonly model: string }).model);
  // The copy of the second call would arrive after that of the first one.
  await expect.poll(() => models().toSorted(), POLLING).toEqual(['first', 'first', 'silent']);
});
