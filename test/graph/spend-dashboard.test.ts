import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../contract/owners/owner-calls.ts';
import { awayFromMidnight } from '../support/away-from-midnight.ts';
import { POLLING } from '../support/polling.ts';

beforeEach(awayFromMidnight);

let calls: OwnerCalls;
let adaKey = '';

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string; readonly extensions: object }[];
}

async function graph(query: string, variables: object = {}, key = calls.app.adminKey): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` };
  return (await (await calls.app.call('POST', '/graphql', { query, variables }, headers)).json()) as Answer;
}

beforeAll(async () => {
  calls = await startOwnerCalls();
  const { manage, newKey } = calls;
  await manage('/organization/new', { organization_id: 'org', organization_alias: 'Org' });
  await manage('/user/new', { user_id: 'ada', user_alias: 'Ada', auto_create_key: false });
  await manage('/team/new', { team_id: 'crew', team_alias: 'Crew', organization_id: 'org' });
  adaKey = await newKey({ team_id: 'crew', user_id: 'ada', key_alias: 'of-ada', max_budget: 4 });
  // Near its budget: this key makes two calls for 1 USD each.
  const nearKey = await newKey({ key_alias: 'near', max_budget: 2.5 });
  await newKey({ key_alias: 'no budget' });
  for (const key of [adaKey, nearKey, nearKey]) await calls.chat(key);
  await vi.waitFor(async () => {
    const { data } = await graph('{ spend { groups { calls } } }');
    if (!JSON.stringify(data).includes('"calls":3')) throw new Error('The calls are not stored yet.');
  }, POLLING);
});
afterAll(() => calls.stop());

describe('spend by owners', () => {
  const QUERY = `query ($fields: [SpendField!]) {
    spend(groupBy: $fields, bucket: DAY) {
      groups { calls virtualKey { alias } user { alias } team { alias } organization { alias } }
    }
  }`;
  const groupsOf = async (fields: readonly string[], key?: string) =>
    ((await graph(QUERY, { fields }, key)).data['spend'] as { readonly groups: unknown }).groups;
  const noOwners = { virtualKey: null, user: null, team: null, organization: null };

  it('has the key, user, team and organization of each group', async () => {
    expect(await groupsOf(['TEAM', 'ORGANIZATION'])).toEqual([
      { ...noOwners, calls: 2 },
      { ...noOwners, calls: 1, team: { alias: 'Crew' }, organization: { alias: 'Org' } },
    ]);
    expect(await groupsOf(['KEY', 'USER'])).toEqual([
      { ...noOwners, calls: 2, virtualKey: { alias: 'near' } },
      { ...noOwners, calls: 1, virtualKey: { alias: 'of-ada' }, user: { alias: 'Ada' } },
    ]);
  });

  it('has null for owners that the key may not read', async () => {
    expect(await groupsOf(['USER', 'TEAM', 'ORGANIZATION'], adaKey)).toEqual([
      { ...noOwners, calls: 1, user: { alias: 'Ada' }, team: { alias: 'Crew' } },
    ]);
  });

  it('is filtered by the status of calls', async () => {
    const query = `query ($status: SpendStatus) {
      spend(filter: { status: $status }) { groups { calls failures } }
      spendRows(filter: { status: $status }) { nodes { status } }
    }`;
    expect((await graph(query, { status: 'FAILURE' })).data).toEqual({
      spend: { groups: [{ calls: 0, failures: 0 }] },
      spendRows: { nodes: [] },
    });
    const success = { status: 'SUCCESS' };
    const all = { spend: { groups: [{ calls: 3, failures: 0 }] }, spendRows: { nodes: [success, success, success] } };
    expect((await graph(query, success)).data).toEqual(all);
    expect((await graph(query, { status: null })).data).toEqual(all);
  });
});

describe('keys by the use of their budgets', () => {
  const QUERY = `query ($first: Int, $after: String, $direction: OrderDirection! = DESC) {
    virtualKeys(first: $first, after: $after, orderBy: { field: BUDGET_USE, direction: $direction }) {
      totalCount pageInfo { endCursor hasNextPage } nodes { alias spendUsd maxBudgetUsd }
    }
  }`;
  interface Page {
    readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
    readonly nodes: readonly { readonly alias: string }[];
  }

  it('are listed in pages', async () => {
    const found: string[] = [];
    let after: string | null = null;
    do {
      const page: Page = (await graph(QUERY, { first: 1, after })).data['virtualKeys'] as Page;
      found.push(...page.nodes.map(({ alias }) => alias));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    expect(found).toEqual(['near', 'of-ada', 'no budget']);
    const { data } = await graph(QUERY, { direction: 'ASC' });
    expect(data['virtualKeys']).toMatchObject({
      totalCount: 3,
      nodes: [
        { alias: 'no budget', maxBudgetUsd: null },
        { alias: 'of-ada', spendUsd: '1', maxBudgetUsd: '4' },
        { alias: 'near', spendUsd: '2', maxBudgetUsd: '2.5' },
      ],
    });
  });

  it('refuse a cursor of another order or with an invalid use, and callers that are not administrators', async () => {
    // A cursor of this order has its name, the length of the key's hash, the hash and the use of the budget.
    const cursorOf = (text: string) => Buffer.from(text).toString('base64url');
    for (const after of [cursorOf('1:a'), cursorOf('budget_use:1:ax'), cursorOf(`budget_use:1:a${'9'.repeat(30)}`)])
      expect((await graph(QUERY, { after })).errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
    expect((await graph(QUERY, {}, adaKey)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });
});
