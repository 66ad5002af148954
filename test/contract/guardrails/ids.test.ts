import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const message =
  'Guardrail configuration error: guardrail_id and team_id must have at most 256 characters, no control character and no unpaired surrogate';

it.each([
  { guardrail_id: 'a\u0000b' },
  { team_id: 'a\u0000b' },
  // A lone surrogate.
  { team_id: 'a\ud800' },
  { guardrail_id: '\udc00' },
  { guardrail_id: 'x'.repeat(257) },
])('guardrails.create 400: invalid ids: %j', async (ids) => {
  const litellm_params = { guardrail: 'litellm_content_filter', mode: 'pre_call' };
  const answer = await app.call('POST', '/guardrails', { guardrail: { guardrail_name: 'a', litellm_params, ...ids } });
  expect([answer.status, await answer.json()]).toEqual([400, { detail: message }]);
});
