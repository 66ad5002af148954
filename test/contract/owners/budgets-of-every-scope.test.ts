import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

/** Key and labels of a call. */
interface BudgetCaller {
  readonly key: string;
  readonly fields?: object;
}

/** Scopes of budgets. Each function creates a caller whose only budget has this scope and the given id. */
const SCOPES: Readonly<Record<string, (id: string, max_budget: number | null) => Promise<BudgetCaller>>> = {
  Key: async (id, max_budget) => ({ key: await calls.newKey({ key_alias: id, max_budget }) }),
  async 'Key with a budget row'(id, max_budget) {
    await calls.manage('/budget/new', { budget_id: id, max_budget });
    return { key: await calls.newKey({ key_alias: id, budget_id: id }) };
  },
  async Team(team_id, max_budget) {
    await calls.manage('/team/new', { team_id, max_budget });
    return { key: await calls.newKey({ team_id }) };
  },
  async User(user_id, max_budget) {
    await calls.manage('/user/new', { user_id, auto_create_key: false, max_budget });
    return { key: await calls.newKey({ user_id }) };
  },
  async 'User in Team'(id, max_budget_in_team) {
    await calls.manage('/user/new', { user_id: id, auto_create_key: false });
    await calls.manage('/team/new', { team_id: id });
    const member = { role: 'user', user_id: id };
    await calls.manage('/team/member_add', { team_id: id, member, max_budget_in_team });
    return { key: await calls.newKey({ team_id: id, user_id: id }) };
  },
  async 'Default of members'(id, team_member_budget) {
    await calls.manage('/user/new', { user_id: id, auto_create_key: false });
    await calls.manage('/team/new', { team_id: id, team_member_budget });
    await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id } });
    return { key: await calls.newKey({ team_id: id, user_id: id }) };
  },
  async Organization(organization_id, max_budget) {
    await calls.manage('/organization/new', { organization_id, organization_alias: organization_id, max_budget });
    return { key: await calls.newKey({ organization_id }) };
  },
  async Project(id, max_budget) {
    await calls.manage('/team/new', { team_id: `team of ${id}` });
    const project = await calls.manage('/project/new', { team_id: `team of ${id}`, project_id: id, max_budget });
    return { key: await calls.newKey({ project_id: String(project['project_id']) }) };
  },
  async Tag(name, max_budget) {
    await calls.manage('/tag/new', { name, max_budget });
    return { key: await calls.newKey({}), fields: { tags: [name] } };
  },
  async 'Tag of a key'(name, max_budget) {
    await calls.manage('/tag/new', { name, max_budget });
    return { key: await calls.newKey({ tags: [name] }) };
  },
  async 'End User'(user_id, max_budget) {
    await calls.manage('/customer/new', { user_id, max_budget });
    return { key: await calls.newKey({}), fields: { user: user_id } };
  },
  'Model of a key': async (id, max_budget) => ({
    key: await calls.newKey({
      key_alias: id,
      model_max_budget: max_budget === null ? {} : { priced: { budget_limit: max_budget, time_period: '1d' } },
    }),
  }),
  async 'Model of a user'(user_id, max_budget) {
    const model_max_budget = max_budget === null ? {} : { priced: { max_budget, budget_duration: '1d' } };
    await calls.manage('/user/new', { user_id, auto_create_key: false, model_max_budget });
    return { key: await calls.newKey({ user_id }) };
  },
  async 'Model of a customer'(user_id, max_budget) {
    const model_max_budget = max_budget === null ? {} : { priced: { budget_limit: max_budget, time_period: '1d' } };
    await calls.manage('/budget/new', { budget_id: user_id, model_max_budget });
    await calls.manage('/customer/new', { user_id, budget_id: user_id });
    return { key: await calls.newKey({}), fields: { user: user_id } };
  },
  async 'Model of a team'(team_id, max_budget) {
    const model_max_budget = max_budget === null ? {} : { priced: { budget_limit: max_budget, time_period: '1d' } };
    await calls.manage('/team/new', { team_id, metadata: { model_max_budget } });
    return { key: await calls.newKey({ team_id }) };
  },
};

/** Subject in the refusal message of a scope. */
const SUBJECTS: Readonly<Record<string, (id: string) => string>> = {
  Key: (id) => `Key=${id} `,
  'Key with a budget row': (id) => `Key=${id} `,
  Team: (id) => `Team=${id} `,
  User: (id) => `User=${id} `,
  'User in Team': (id) => `User=${id} in Team=${id} `,
  'Default of members': (id) => `User=${id} in Team=${id} `,
  Organization: (id) => `Organization=${id} `,
  Project: (id) => `Project=${id} `,
  Tag: (id) => `Tag=${id} `,
  'Tag of a key': (id) => `Tag=${id} `,
  'End User': (id) => `End User=${id} over`,
  'Model of a key': (id) => `key_alias: ${id}, exceeded budget for model=priced`,
  'Model of a user': (id) => `LiteLLM User: ${id}, exceeded budget for model=priced`,
  'Model of a customer': (id) => `LiteLLM End User: ${id}, exceeded budget for model=priced`,
  'Model of a team': (id) => `LiteLLM Team: ${id}, exceeded budget for model=priced`,
};

async function statusOrRefusal({ key, fields }: BudgetCaller, model = 'priced') {
  const body = { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1, ...fields };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const { error } = (await answer.json()) as { readonly error?: object };
  return answer.status === 200 ? 200 : { status: answer.status, error };
}

it.each(Object.entries(SCOPES))(
  '%s: a budget of null is unlimited, and a budget of 0 refuses the first call',
  async (scope, make) => {
    const id = scope.toLowerCase().replaceAll(' ', '-');
    const withoutLimit = await make(`${id}-unlimited`, null);
    expect([
      await statusOrRefusal(withoutLimit),
      await statusOrRefusal(withoutLimit),
      await statusOrRefusal(withoutLimit),
    ]).toEqual([200, 200, 200]);
    const subject = SUBJECTS[scope];
    if (subject === undefined) throw new Error(`No subject for the scope ${scope}.`);
    const zeroBudget = await make(`${id}-zero`, 0);
    const refused = {
      status: 422,
      error: {
        message: expect.stringContaining(subject(`${id}-zero`)) as string,
        type: 'budget_exceeded',
        param: null,
        code: '422',
      },
    };
    expect([await statusOrRefusal(zeroBudget), await statusOrRefusal(zeroBudget)]).toEqual([refused, refused]);
    // Free models skip the budget check. A budget for the model `priced` does not apply to the model `free`.
    expect(await statusOrRefusal(zeroBudget, 'free')).toBe(200);
  },
);
