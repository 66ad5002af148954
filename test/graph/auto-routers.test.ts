import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { POLLING } from '../support/polling.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import { routerModel, startTierUpstream, tierModel, type TierUpstream } from '../support/tier-upstream.ts';

let upstream: TierUpstream;
let app: TestApp;

beforeAll(async () => {
  upstream = await startTierUpstream();
  const tiers = { SIMPLE: 'tier-s', REASONING: ['tier-r'] };
  app = await startApp({
    config: {
      model_list: [
        tierModel('tier-s', upstream.url),
        tierModel('tier-r', upstream.url),
        routerModel('smart', { tiers, tier_labels: { SIMPLE: 'Cheap' } }, 'tier-r'),
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  upstream.stop();
});

/** Answer of the graph. */
async function ask(query: string, key = app.adminKey): Promise<unknown> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

const chat = (content: string) =>
  app.call('POST', '/v1/chat/completions', { model: 'smart', messages: [{ role: 'user', content }] });

it('lists routers with their tiers', async () => {
  const query =
    '{ autoRouters { model classifier tiers { tier label models } defaultModel classifierModel keepsSessions isFromConfig } }';
  expect(await ask(query)).toEqual({
    data: {
      autoRouters: [
        {
          model: 'smart',
          classifier: 'heuristic',
          tiers: [
            { tier: 'SIMPLE', label: 'Cheap', models: ['tier-s'] },
            { tier: 'REASONING', label: null, models: ['tier-r'] },
          ],
          defaultModel: 'tier-r',
          classifierModel: null,
          keepsSessions: false,
          isFromConfig: true,
        },
      ],
    },
  });
});

it('counts calls by tier, cause and model, and shows the decision of a call', async () => {
  for (const text of ['hi', 'hello', 'Prove it step by step.']) expect((await chat(text)).status).toBe(200);
  const expected = {
    data: {
      routedCalls: [
        {
          router: 'smart',
          tier: 'SIMPLE',
          cause: 'heuristic',
          model: 'tier-s',
          calls: 2,
          failures: 0,
          costUsd: '0.03',
        },
        {
          router: 'smart',
          tier: 'REASONING',
          cause: 'heuristic',
          model: 'tier-r',
          calls: 1,
          failures: 0,
          costUsd: '0.015',
        },
      ],
      spendRows: {
        nodes: expect.arrayContaining([
          { modelGroup: 'tier-r', routing: { tier: 'REASONING', score: 0.15, isEscalated: false } },
        ]) as unknown,
      },
    },
  };
  await vi.waitFor(
    async () =>
      expect(
        await ask(
          '{ routedCalls { router tier cause model calls failures costUsd } spendRows { nodes { modelGroup routing { tier score isEscalated } } } }',
        ),
      ).toEqual(expected),
    POLLING,
  );
});

it('refuses the key of a user, and a period that ends before it starts', async () => {
  const made = await app.call('POST', '/key/generate', {});
  const { key } = (await made.json()) as { key: string };
  expect(await ask('{ autoRouters { model } }', key)).toMatchObject({
    errors: [{ extensions: { code: 'FORBIDDEN' } }],
  });
  const query = '{ routedCalls(from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z") { calls } }';
  expect(await ask(query)).toMatchObject({ errors: [{ message: 'The period ends before it starts.' }] });
});
