import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

const FIELDS = `virtualKey {
  hash budgetDuration budgetLimits { duration maxBudgetUsd } softBudgetUsd keyType allowedRoutes aliases
  permissions rpmLimit tpmLimit maxParallelRequests metadata
}`;
const GENERATE = `mutation ($input: GenerateKeyInput!) {
  generateKey(input: $input) { ... on GeneratedKey { ${FIELDS} } ... on InvalidInputError { message issues { path } } }
}`;
const UPDATE = `mutation ($input: UpdateKeyInput!) {
  updateKey(input: $input) { ... on VirtualKey { rpmLimit tpmLimit budgetLimits { duration } metadata } }
}`;
const SETTINGS = {
  keyType: 'LLM_API',
  aliases: { fast: 'demo' },
  permissions: { any: [1] },
  rpmLimit: 10,
  tpmLimit: 1_000,
  maxParallelRequests: 3,
  modelRpmLimit: { demo: 5 },
  tags: ['a'],
  softBudgetUsd: '2.5',
  budgetDuration: '30d',
  budgetLimits: [{ duration: '1d', maxBudgetUsd: '0.5' }],
};

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
});

async function graph(query: string, input: object): Promise<unknown> {
  return (await app.call('POST', '/graphql', { query, variables: { input } })).json();
}

describe('settings of a key in the graph', () => {
  it('are stored, shown in the graph and over HTTP, and removed with null', async () => {
    const answer = await graph(GENERATE, { settings: SETTINGS });
    const { keyType, aliases, permissions, rpmLimit, tpmLimit, maxParallelRequests } = SETTINGS;
    expect(answer).toMatchObject({
      data: {
        generateKey: {
          virtualKey: {
            keyType,
            aliases,
            permissions,
            rpmLimit,
            tpmLimit,
            maxParallelRequests,
            budgetDuration: '30d',
            budgetLimits: [{ duration: '1d', maxBudgetUsd: '0.5' }],
            softBudgetUsd: '2.5',
            allowedRoutes: ['llm_api_routes'],
            metadata: { model_rpm_limit: { demo: 5 }, tags: ['a'] },
          },
        },
      },
    });
    const { hash } = (answer as { data: { generateKey: { virtualKey: { hash: string } } } }).data.generateKey
      .virtualKey;
    expect(await (await app.call('GET', `/key/info?key=${hash}`)).json()).toMatchObject({
      info: { key_type: 'llm_api', rpm_limit: 10, budget_limits: [{ budget_duration: '1d', max_budget: 0.5 }] },
    });
    const settings = { rpmLimit: null, budgetLimits: null, tags: null };
    expect(await graph(UPDATE, { key: hash, settings })).toEqual({
      data: {
        updateKey: { rpmLimit: null, tpmLimit: 1_000, budgetLimits: [], metadata: { model_rpm_limit: { demo: 5 } } },
      },
    });
  });

  it.each([
    ['aliases', { aliases: [] }],
    ['aliases', { aliases: { a: 1 } }],
    ['modelRpmLimit', { modelRpmLimit: { demo: 1.5 } }],
    ['softBudgetUsd', { softBudgetUsd: '-1' }],
    ['budgetLimits', { budgetLimits: [{ duration: '1d', maxBudgetUsd: '-1' }] }],
  ])('are refused if the member %s is malformed: %j', async (member, settings) => {
    expect(await graph(GENERATE, { settings })).toEqual({
      data: {
        generateKey: {
          message: `\`${member}\` is not valid.`,
          issues: [{ path: ['input', 'settings', member] }],
        },
      },
    });
  });
});
