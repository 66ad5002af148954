import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  FOUR_TIERS,
  routerModel,
  startTierUpstream,
  tierModel,
  type TierUpstream,
} from '../../support/tier-upstream.ts';

let upstream: TierUpstream;
let app: TestApp;

const judgedBy = (model: string) => ({
  tiers: FOUR_TIERS,
  classifier_type: 'llm',
  classifier_llm_config: { model, timeout_ms: 2_000 },
});

beforeAll(async () => {
  upstream = await startTierUpstream();
  app = await startApp({
    config: {
      model_list: [
        ...Object.values(FOUR_TIERS).map((name) => tierModel(name, upstream.url)),
        routerModel('left', judgedBy('right')),
        routerModel('right', judgedBy('left')),
      ],
      router_settings: { num_retries: 0, disable_cooldowns: true },
    },
  });
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});

it('a router does not call a judge that is a router: two routers that judge for each other use the heuristic', async () => {
  const response = await app.call('POST', '/v1/chat/completions', {
    model: 'left',
    messages: [{ role: 'user', content: 'hi' }],
  });
  const answer = (await response.json()) as { choices: { message: { content: string } }[] };
  expect(answer.choices[0]?.message.content).toBe('from tier-s');
  expect(upstream.seen.map(({ model }) => model)).toEqual(['tier-s']);
});
