import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

type Json = Readonly<Record<string, unknown>>;
type Rows = readonly Json[];

const LIMITS = { max_budget: 9, budget_duration: '30d' };

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

async function get(path: string): Promise<unknown> {
  const answer = await calls.app.call('GET', path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.json();
}

async function graph(query: string): Promise<Json> {
  const answer = await calls.app.call('POST', '/graphql', { query });
  const { data, errors } = (await answer.json()) as { readonly data: Json; readonly errors?: unknown };
  expect(errors).toBeUndefined();
  return data;
}

const pick = (row: Json | undefined, names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, row?.[name]]));

/** An owner with a budget row: how to call a model for it, and how to read its spend. */
interface Owner {
  readonly key: string;
  /** Further members of the body of each call. */
  readonly fields?: object;
  readonly budgetId: string;
  /** Reads `spend` at every path, and `total_spend` where a path shows it. */
  readonly overHttp: () => Promise<Json>;
  /** Reads `spendUsd` and `totalSpendUsd`. */
  readonly inGraph: () => Promise<Json>;
}

const nodeOf =
  (list: string, id: string) =>
  async (owner: string): Promise<Json> => {
    const data = await graph(`{ ${list}(first: 50) { nodes { ${id} spendUsd totalSpendUsd } } }`);
    const { nodes } = data[list] as { readonly nodes: Rows };
    return pick(
      nodes.find((row) => row[id] === owner),
      ['spendUsd', 'totalSpendUsd'],
    );
  };

async function createBudget(id: string): Promise<void> {
  await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
}

const OWNERS: Readonly<Record<string, (id: string) => Promise<Owner>>> = {
  async organization(id) {
    await createBudget(id);
    await calls.manage('/organization/new', { organization_id: id, organization_alias: id, budget_id: id });
    return {
      key: await calls.newKey({ organization_id: id }),
      budgetId: id,
      async overHttp() {
        const list = (await get('/organization/list')) as Rows;
        const info = (await get(`/organization/info?organization_id=${id}`)) as Json;
        const listed = list.find((row) => row['organization_id'] === id);
        return { info: info['spend'], list: listed?.['spend'] };
      },
      inGraph: () => nodeOf('organizations', 'organizationId')(id),
    };
  },
  async project(id) {
    await createBudget(id);
    await calls.manage('/team/new', { team_id: `team-of-${id}` });
    await calls.manage('/project/new', { team_id: `team-of-${id}`, project_id: id, budget_id: id });
    return {
      key: await calls.newKey({ project_id: id }),
      budgetId: id,
      async overHttp() {
        const list = (await get('/project/list')) as Rows;
        const info = (await get(`/project/info?project_id=${id}`)) as Json;
        const listed = list.find((row) => row['project_id'] === id);
        return { info: info['spend'], list: listed?.['spend'] };
      },
      inGraph: () => nodeOf('projects', 'projectId')(id),
    };
  },
  async member(id) {
    await calls.manage('/user/new', { user_id: id, auto_create_key: false });
    await calls.manage('/team/new', { team_id: id, team_member_budget: 9, team_member_budget_duration: '30d' });
    await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id } });
    const { team_info } = (await get(`/team/info?team_id=${id}`)) as {
      readonly team_info: { readonly metadata: Readonly<Record<string, string>> };
    };
    return {
      key: await calls.newKey({ team_id: id, user_id: id }),
      budgetId: team_info.metadata['team_member_budget_id'] ?? '',
      async overHttp() {
        const { team_memberships: members } = (await get(`/team/info?team_id=${id}`)) as {
          readonly team_memberships: Rows;
        };
        const member = members.find((row) => row['user_id'] === id);
        return { info: member?.['spend'], total: member?.['total_spend'] };
      },
      async inGraph() {
        const data = await graph(`{ teams(first: 50) { nodes { teamId totalSpendUsd members { userId spendUsd } } } }`);
        const { nodes } = data['teams'] as { readonly nodes: Rows };
        const team = nodes.find((row) => row['teamId'] === id);
        const member = (team?.['members'] as Rows | undefined)?.find((row) => row['userId'] === id);
        // The graph has no total of a member. The total of the team is the same, because only this member makes calls.
        return { spendUsd: member?.['spendUsd'], totalSpendUsd: team?.['totalSpendUsd'] };
      },
    };
  },
  async key(id) {
    await createBudget(id);
    const key = await calls.newKey({ key_alias: id, budget_id: id });
    return {
      key,
      budgetId: id,
      async overHttp() {
        const { info } = (await get(`/key/info?key=${key}`)) as { readonly info: Json };
        const { keys } = (await get(`/key/list?key_alias=${id}&return_full_object=true`)) as { readonly keys: Rows };
        const v2 = await calls.app.call('POST', '/v2/key/info', { keys: [key] });
        const [infoV2] = ((await v2.json()) as { readonly info: Rows }).info;
        return {
          info: info['spend'],
          list: keys[0]?.['spend'],
          v2: infoV2?.['spend'],
          total: info['total_spend'],
          listTotal: keys[0]?.['total_spend'],
        };
      },
      inGraph: () => nodeOf('virtualKeys', 'alias')(id),
    };
  },
  async customer(id) {
    await createBudget(id);
    await calls.manage('/customer/new', { user_id: id, budget_id: id });
    return {
      key: await calls.newKey({}),
      fields: { user: id },
      budgetId: id,
      async overHttp() {
        const list = (await get('/customer/list')) as Rows;
        const info = (await get(`/customer/info?end_user_id=${id}`)) as Json;
        return { info: info['spend'], list: list.find((row) => row['user_id'] === id)?.['spend'] };
      },
      inGraph: () => nodeOf('customers', 'customerId')(id),
    };
  },
};

/** Sends a call that costs 1 USD. */
async function call({ key, fields }: Pick<Owner, 'key' | 'fields'>): Promise<void> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
}

/** Ends the window of a budget row now. */
async function endWindow(budgetId: string): Promise<void> {
  // Without the wait, a call of this millisecond would count in the new window.
  await wait(5);
  const sql = 'update budget set budget_reset_at = cast(? as integer) where id = ?';
  expect(await changeInOtherProcess(calls.app.dataDir, sql, String(Date.now()), budgetId)).toBe(1);
}

/** The expected result of `overHttp`, with the names of the actual result. */
const expectedAmounts = (spends: Json, spend: number, total: number): Json =>
  Object.fromEntries(Object.keys(spends).map((name) => [name, /total/i.test(name) ? total : spend]));

async function expectSpend(
  owner: Owner,
  { spend, total }: { readonly spend: number; readonly total: number },
): Promise<void> {
  await vi.waitFor(async () => {
    const spends = await owner.overHttp();
    expect(spends).toEqual(expectedAmounts(spends, spend, total));
    expect(await owner.inGraph()).toEqual({ spendUsd: String(spend), totalSpendUsd: String(total) });
  }, POLLING);
}

describe.each(Object.entries(OWNERS))('the shown spend of a %s with a budget row', (name, make) => {
  it('is the spend of the current window', async () => {
    const owner = await make(`shown-${name}`);
    expect(Object.values(await owner.overHttp())).not.toContain(undefined);
    await expectSpend(owner, { spend: 0, total: 0 });
    await call(owner);
    await call(owner);
    // No window has ended yet: the spend of the window is the total spend.
    await expectSpend(owner, { spend: 2, total: 2 });
    await endWindow(owner.budgetId);
    await expectSpend(owner, { spend: 0, total: 2 });
    await call(owner);
    await expectSpend(owner, { spend: 1, total: 3 });
    await endWindow(owner.budgetId);
    await expectSpend(owner, { spend: 0, total: 3 });
  });
});

describe('the shown spend of a key with a budget row', () => {
  const make = OWNERS['key'] as (id: string) => Promise<Owner>;

  it('is zero after a reset to zero, and zero again in the next window', async () => {
    const owner = await make('shown-set');
    await call(owner);
    await endWindow(owner.budgetId);
    await call(owner);
    await expectSpend(owner, { spend: 1, total: 2 });
    const answer = await calls.app.call('POST', `/key/${owner.key}/reset_spend`, { reset_to: 0 });
    expect([answer.status, pick((await answer.json()) as Json, ['spend', 'previous_spend'])]).toEqual([
      200,
      { spend: 0, previous_spend: 1 },
    ]);
    await expectSpend(owner, { spend: 0, total: 2 });
    await call(owner);
    await expectSpend(owner, { spend: 1, total: 3 });
    await endWindow(owner.budgetId);
    await expectSpend(owner, { spend: 0, total: 3 });
  });

  it('cannot be reset to more than the spend of the window', async () => {
    const owner = await make('shown-capped');
    await call(owner);
    await endWindow(owner.budgetId);
    await expectSpend(owner, { spend: 0, total: 1 });
    const answer = await calls.app.call('POST', `/key/${owner.key}/reset_spend`, { reset_to: 1 });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { detail: { error: 'reset_to must be <= current spend' } },
    ]);
  });
});
