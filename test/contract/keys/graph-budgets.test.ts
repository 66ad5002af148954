import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});

afterAll(() => app.stop());

const GENERATE = `mutation ($input: GenerateKeyInput!) {
  generateKey(input: $input) { __typename ... on InvalidInputError { message issues { path message } } }
}`;
const UPDATE = `mutation ($input: UpdateKeyInput!) {
  updateKey(input: $input) { __typename ... on InvalidInputError { message issues { path message } } }
}`;

async function graph(query: string, variables: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const authorization = `Bearer ${app.adminKey}`;
  const response = await app.call('POST', '/graphql', { query, variables }, { authorization });
  return { status: response.status, body: await response.json() };
}

describe('a budget in the graph', () => {
  const refused = (value: string) => ({
    __typename: 'InvalidInputError',
    message: `max_budget must be a non-negative finite number. Received: ${value}`,
    issues: [],
  });

  it('below zero is refused for a new key', async () => {
    const answer = await graph(GENERATE, { input: { alias: 'below-zero', maxBudgetUsd: '-2' } });
    expect(answer).toEqual({ status: 200, body: { data: { generateKey: refused('-2') } } });
  });

  it('below zero is refused for a changed key', async () => {
    const response = await app.call('POST', '/key/generate', { max_budget: 1 });
    const { key } = (await response.json()) as { key: string };
    const answer = await graph(UPDATE, { input: { key, maxBudgetUsd: '-0.01' } });
    expect(answer).toEqual({ status: 200, body: { data: { updateKey: refused('-0.01') } } });
    const info = await app.call('GET', '/key/info', undefined, { authorization: `Bearer ${key}` });
    expect(((await info.json()) as { info: { max_budget: number } }).info.max_budget).toBe(1);
  });

  it.each([1.5, 'abc', true, '1e3'])('that is not a decimal string is a request error: %j', async (maxBudgetUsd) => {
    const { status, body } = await graph(GENERATE, { input: { maxBudgetUsd } });
    expect(status).toBe(200);
    expect(body).toEqual({
      errors: [
        expect.objectContaining({
          message: expect.stringContaining('A Decimal is text such as "0.25".') as string,
          extensions: expect.objectContaining({ code: 'GRAPHQL_VALIDATION_FAILED' }) as object,
        }),
      ],
    });
  });
});
