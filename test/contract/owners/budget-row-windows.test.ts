import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

const LIMITS = { max_budget: 2, budget_duration: '30d' };

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

/** A call, the budget row that refuses it, and the start of the refusal message. */
interface BudgetCase {
  readonly key: string;
  readonly fields?: object;
  readonly budgetId: string;
  readonly refusal: string;
  /** Whether the budget refuses a spend that equals it. Default: true. */
  readonly refusesEqual?: boolean;
}

const exceeded = (subject: string): string => `Budget has been exceeded! ${subject} Current cost: `;

async function newMember(id: string, team: object, member: object): Promise<string> {
  await calls.manage('/user/new', { user_id: id, auto_create_key: false });
  await calls.manage('/team/new', { team_id: id, ...team });
  await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id }, ...member });
  return calls.newKey({ team_id: id, user_id: id });
}

interface TeamInfo {
  readonly team_info: { readonly metadata: Readonly<Record<string, string>> };
  readonly team_memberships: readonly { readonly user_id: string; readonly budget_id: string | null }[];
}

const teamInfo = async (id: string): Promise<TeamInfo> =>
  (await calls.app.call('GET', `/team/info?team_id=${id}`)).json() as Promise<TeamInfo>;

/** Scopes with a budget row. Each function creates a caller, and uses `id` for all its rows. */
const SCOPES: Readonly<Record<string, (id: string) => Promise<BudgetCase>>> = {
  async organization(id) {
    await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
    await calls.manage('/organization/new', { organization_id: id, organization_alias: id, budget_id: id });
    const key = await calls.newKey({ organization_id: id });
    return { key, budgetId: id, refusal: exceeded(`Organization=${id}`) };
  },
  async project(id) {
    await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
    await calls.manage('/team/new', { team_id: id });
    const project = await calls.manage('/project/new', { team_id: id, budget_id: id });
    const key = await calls.newKey({ project_id: project['project_id'] });
    return { key, budgetId: id, refusal: exceeded(`Project=${String(project['project_id'])}`) };
  },
  async member(id) {
    const key = await newMember(id, {}, { max_budget_in_team: 2, budget_duration: '30d' });
    const { team_memberships } = await teamInfo(id);
    const budgetId = team_memberships.find(({ user_id }) => user_id === id)?.budget_id ?? '';
    return { key, budgetId, refusal: exceeded(`TeamMember=${id}:${id}`) };
  },
  async 'member with a default budget'(id) {
    const key = await newMember(id, { team_member_budget: 2, team_member_budget_duration: '30d' }, {});
    const budgetId = (await teamInfo(id)).team_info.metadata['team_member_budget_id'] ?? '';
    return { key, budgetId, refusal: exceeded(`User=${id} in Team=${id}`) };
  },
  async key(id) {
    await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
    const key = await calls.newKey({ key_alias: id, budget_id: id });
    return { key, budgetId: id, refusal: `Budget has been exceeded! Key=${id} ` };
  },
  async tag(id) {
    await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
    await calls.manage('/tag/new', { name: id, budget_id: id });
    const key = await calls.newKey({});
    return { key, fields: { tags: [id] }, budgetId: id, refusal: exceeded(`Tag=${id}`), refusesEqual: false };
  },
  async customer(id) {
    await calls.manage('/budget/new', { budget_id: id, ...LIMITS });
    await calls.manage('/customer/new', { user_id: id, budget_id: id });
    const refusal = `ExceededBudget: End User=${id} over budget. Spend=`;
    return { key: await calls.newKey({}), fields: { user: id }, budgetId: id, refusal, refusesEqual: false };
  },
};

/** Sends a call that costs 1 USD. Returns 200, or the status and body of a refusal. */
async function call({ key, fields }: Pick<BudgetCase, 'key' | 'fields'>): Promise<unknown> {
  const body = { model: 'priced', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const received: unknown = await answer.json();
  return answer.status === 200 ? 200 : [answer.status, received];
}

const admittedCalls = ({ refusesEqual = true }: BudgetCase): number => (refusesEqual ? 2 : 3);

/** Uses up the budget of a window in which `admittedBefore` calls were admitted, and expects the refusal. */
async function spendWindow(budgetCase: BudgetCase, { admittedBefore = 0 } = {}): Promise<void> {
  for (let admitted = admittedBefore; admitted < admittedCalls(budgetCase); admitted += 1)
    expect(await call(budgetCase)).toBe(200);
  expect(await call(budgetCase)).toEqual(refusalOf(budgetCase));
}

/** Refusal with the spend of this window, and any reset time in whole seconds. */
function refusalOf(budgetCase: BudgetCase, duration = '30d'): unknown {
  const cost = `${admittedCalls(budgetCase)}.0`;
  const escapedStart = budgetCase.refusal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
  const pattern = `^${escapedStart}.*${cost}, (Max budget: |Budget=)2\\.0\\. Budget window: ${duration}\\. Budget resets at: ${time} UTC$`;
  const message = expect.stringMatching(new RegExp(pattern)) as string;
  return [422, { error: { message, type: 'budget_exceeded', param: null, code: '422' } }];
}

/** Ends the window of a budget row now. */
async function endWindow({ budgetId }: BudgetCase): Promise<void> {
  // Without the wait, a call of this millisecond would count in the new window.
  await wait(5);
  const sql = 'update budget set budget_reset_at = cast(? as integer) where id = ?';
  expect(await changeInOtherProcess(calls.app.dataDir, sql, String(Date.now()), budgetId)).toBe(1);
}

// The tests run concurrently because each waits for the next read of budget rows.
describe.concurrent.each(Object.entries(SCOPES))('the budget window of a %s', (scope, make) => {
  it('admits the same number of calls again after its end', async () => {
    const budgetCase = await make(`${scope.replaceAll(' ', '-')}-again`);
    await spendWindow(budgetCase);
    await endWindow(budgetCase);
    await vi.waitFor(async () => expect(await call(budgetCase)).toBe(200), POLLING);
    await spendWindow(budgetCase, { admittedBefore: 1 });
  });

  it('keeps its spend when its duration changes', async () => {
    const budgetCase = await make(`${scope.replaceAll(' ', '-')}-changed`);
    await spendWindow(budgetCase);
    await endWindow(budgetCase);
    await vi.waitFor(async () => expect(await call(budgetCase)).toBe(200), POLLING);
    await spendWindow(budgetCase, { admittedBefore: 1 });
    const { budgetId: budget_id } = budgetCase;
    await calls.manage('/budget/update', { budget_id, budget_duration: '7d' });
    await vi.waitFor(async () => expect(await call(budgetCase)).toEqual(refusalOf(budgetCase, '7d')), POLLING);
    await calls.manage('/budget/update', { budget_id, max_budget: 9 });
    await vi.waitFor(async () => expect(await call(budgetCase)).toBe(200), POLLING);
  });
});
