import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../support/tenancy-client.ts';

const { send } = tenancyClient();

async function mutate(query: string, input: Json): Promise<Json> {
  const { body } = await send('POST', '/graphql', { query, variables: { input } });
  return body['data'] as Json;
}

describe('amounts of a key', () => {
  it('have no trailing zeros in the answer when they are sent with trailing zeros', async () => {
    const query = `mutation($input: GenerateKeyInput!) { generateKey(input: $input) { ... on GeneratedKey { virtualKey {
      maxBudgetUsd softBudgetUsd budgetLimits { duration maxBudgetUsd } } } } }`;
    const budgetLimits = [{ duration: '1d', maxBudgetUsd: '10.50' }];
    expect(await mutate(query, { maxBudgetUsd: '20.00', settings: { softBudgetUsd: '15.10', budgetLimits } })).toEqual({
      generateKey: {
        virtualKey: {
          maxBudgetUsd: '20',
          softBudgetUsd: '15.1',
          budgetLimits: [{ duration: '1d', maxBudgetUsd: '10.5' }],
        },
      },
    });
  });
});
