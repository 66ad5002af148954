import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  FOUR_TIERS,
  routerModel,
  startTierUpstream,
  tierModel,
  type TierUpstream,
} from '../../support/tier-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { blocks } from '../policies/policy-server.ts';

let upstream: TierUpstream;
let app: TestApp;
beforeAll(async () => {
  upstream = await startTierUpstream();
  app = await startApp({
    config: {
      model_list: [
        ...Object.values(FOUR_TIERS).map((name) => tierModel(name, upstream.url)),
        routerModel('smart', { tiers: FOUR_TIERS }),
      ],
      guardrails: [blocks('tier')],
      policies: { tiers: { guardrails: { add: ['tier'] } } },
      policy_attachments: [{ policy: 'tiers', models: Object.values(FOUR_TIERS) }],
    },
  });
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

it('policies of the selected model check the calls of a router', async () => {
  const ask = (content: string) =>
    app.call('POST', '/v1/chat/completions', { model: 'smart', messages: [{ role: 'user', content }] });
  expect((await ask('a tier-word')).status).toBe(400);
  const passed = await ask('hi');
  expect([passed.status, passed.headers.get('x-litellm-applied-policies')]).toEqual([200, 'tiers']);
});
