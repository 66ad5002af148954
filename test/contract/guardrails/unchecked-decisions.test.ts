import type { ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { putMigratedDatabase } from '../../support/migrated-databases.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const SECRET = 'a text that no guardrail has checked';
const OPTIONS = [`${SECRET} one`, `${SECRET} two`];

let upstream: FaultServer;
let service: FaultServer;
let dataDir: string;
/** Requests to the guardrail that have no answer. */
const waiting: ServerResponse[] = [];

beforeAll(async () => {
  upstream = await startFaultServer();
  service = await startFaultServer();
  dataDir = mkdtempSync(join(tmpdir(), 'lensgate-unchecked-'));
  await putMigratedDatabase(dataDir, 'catalog');
  const probabilities = OPTIONS.map((value, index) => ({ value, probability: index === 0 ? 0.9 : 0.1 }));
  const answer = { type: 'choice', name: 'who', choice: OPTIONS[0], confidence: 1, probabilities };
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ model: 'up', answers: [answer], usage: { input_tokens: 1, output_tokens: 1 } }));
  });
  service.answer((response) => void waiting.push(response));
});
afterAll(async () => {
  await upstream.stop();
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

const start = (): Promise<TestApp> =>
  startApp({
    dataDir,
    config: {
      general_settings: { store_decisions: 'full' },
      model_list: [
        { model_name: 'decider', litellm_params: { model: 'openai/up', api_base: `${upstream.url}/v1`, api_key: 'k' } },
      ],
      guardrails: [
        {
          guardrail_name: 'slow',
          litellm_params: {
            guardrail: 'generic_guardrail_api',
            mode: 'logging_only',
            api_base: service.url,
            default_on: true,
          },
        },
      ],
    },
  });

async function decide(app: TestApp, callId: string): Promise<number> {
  const questions = [
    { type: 'choice', name: 'who', instructions: SECRET, choices: OPTIONS.map((value) => ({ value })) },
  ];
  const body = { model: 'decider', input: [{ role: 'user', content: SECRET }], questions };
  return (await app.call('POST', '/v1/decisions', body, { 'x-litellm-call-id': callId })).status;
}

const graph = async (app: TestApp, query: string): Promise<unknown> =>
  await (await app.call('POST', '/graphql', { query })).json();

const outcomeOf = (callId: string) => `mutation { recordDecisionOutcome(
  input: { callId: "${callId}", question: "who", outcome: ${JSON.stringify(OPTIONS[0])} }) {
    __typename ... on UserError { code message } } }`;

it('a shutdown stores a decision without its texts when a guardrail of records does not answer', async () => {
  const first = await start();
  expect(await decide(first, 'at-shutdown')).toBe(200);
  await first.stop({ keepData: true });
  expect(waiting).toHaveLength(1);
  const second = await start();
  try {
    const stored = await graph(
      second,
      `{ decisions(filter: { callId: "at-shutdown" }) { edges { node { input
        answers { ... on ChoiceAnswer { instructions choice distribution { value probability } } } } } } }`,
    );
    const distribution = [
      { value: '[NOT_CHECKED]', probability: 0.9 },
      { value: '[NOT_CHECKED] (2)', probability: 0.1 },
    ];
    const answers = [{ instructions: '[NOT_CHECKED]', choice: '[NOT_CHECKED]', distribution }];
    expect(stored).toEqual({ data: { decisions: { edges: [{ node: { input: null, answers } }] } } });
  } finally {
    await second.stop({ keepData: true });
  }
});

it('an outcome that is reported while a guardrail masks the decision waits for it', async () => {
  const app = await start();
  try {
    const before = waiting.length;
    expect(await decide(app, 'early')).toBe(200);
    await expect.poll(() => waiting.length).toBe(before + 1);
    const reported = graph(app, outcomeOf('early'));
    waiting
      .at(-1)
      ?.writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ action: 'NONE' }));
    expect(await reported).toEqual({ data: { recordDecisionOutcome: { __typename: 'DecisionOutcome' } } });
  } finally {
    await app.stop({ keepData: true });
  }
});
