import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let calls: OwnerCalls;

beforeAll(async () => {
  // Two calls of 1 USD are admitted in each of the three tests. The provider budget counts all six.
  calls = await startOwnerCalls({
    router_settings: { provider_budget_config: { openai: { budget_limit: 6, time_period: '30d' } } },
    general_settings: { store_model_in_db: true },
  });
});
afterAll(() => calls.stop());

const PERIOD = { time_period: '30d' };
const RESET = String.raw`Budget window: \w+. Budget resets at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`;

interface Caller {
  /** Id of each owner (user, team, organization …). It is also the alias of the key and the tag of its calls. */
  readonly id: string;
  readonly key: string;
  readonly token: string;
  readonly keyName: string;
}

const modelBudget = (budget_limit: number | null) =>
  budget_limit === null ? {} : { priced: { budget_limit, ...PERIOD } };

/** Setters of the budgets of a call. A limit of null removes the budget, or sets one that the calls do not reach. */
const setBudget = {
  key: ({ key }: Caller, max_budget: number | null) => calls.manage('/key/update', { key, max_budget }),
  keyWindow: ({ key }: Caller, limit: number | null) =>
    calls.manage('/key/update', {
      key,
      // Half of the limit: the amount in the refusal differs from that of the budget of the key.
      budget_limits: [{ budget_duration: '1d', max_budget: limit === null ? 100 : limit / 2 }],
    }),
  modelOfKey: ({ key }: Caller, limit: number | null) =>
    calls.manage('/key/update', { key, model_max_budget: modelBudget(limit) }),
  modelOfUser: ({ id }: Caller, limit: number | null) =>
    calls.manage('/user/update', { user_id: id, model_max_budget: modelBudget(limit) }),
  modelOfCustomer: ({ id }: Caller, limit: number | null) =>
    calls.manage('/budget/update', { budget_id: id, model_max_budget: modelBudget(limit) }),
  customer: ({ id }: Caller, max_budget: number | null) =>
    calls.manage('/budget/update', { budget_id: id, max_budget }),
  project: ({ id }: Caller, max_budget: number | null) =>
    calls.manage('/project/update', { project_id: id, max_budget }),
  teamWindow: ({ id }: Caller, limit: number | null) =>
    calls.manage('/team/update', {
      team_id: id,
      budget_limits: [{ budget_duration: '1d', max_budget: limit === null ? 100 : limit / 2 }],
    }),
  team: ({ id }: Caller, max_budget: number | null) => calls.manage('/team/update', { team_id: id, max_budget }),
  modelOfTeam: ({ id }: Caller, limit: number | null) =>
    calls.manage('/team/update', { team_id: id, metadata: { model_max_budget: modelBudget(limit) } }),
  member: ({ id }: Caller, max_budget_in_team: number | null) =>
    calls.manage('/team/member_update', { team_id: id, user_id: id, max_budget_in_team }),
  membersOfTeam: ({ id }: Caller, team_member_budget: number | null) =>
    calls.manage('/team/update', { team_id: id, team_member_budget }),
  organization: ({ id }: Caller, max_budget: number | null) =>
    calls.app.call('PATCH', '/organization/update', { organization_id: id, max_budget }),
  tag: ({ id }: Caller, max_budget: number | null) => calls.manage('/tag/update', { name: id, max_budget }),
  global: (_caller: Caller, max_budget: number | null) =>
    calls.manage('/config/update', { litellm_settings: { max_budget: max_budget ?? 100 } }),
  user: ({ id }: Caller, max_budget: number | null) => calls.manage('/user/update', { user_id: id, max_budget }),
} as const;
type Scope = keyof typeof setBudget;

const usedUp = (subject: string) =>
  new RegExp(`^${RegExp.escape(`Budget has been exceeded! ${subject} Current cost: 2.0, Max budget: 1.0`)}$`);
const modelUsedUp = (subject: string) => new RegExp(`^${subject}, exceeded budget for model=priced. ${RESET}$`);

/** Message of the refusal by the budget of a scope. */
const refusalOf = (scope: Scope, { id, token, keyName }: Caller): RegExp =>
  ({
    key: usedUp(`Key=${id} (${keyName})`),
    keyWindow: /^ExceededBudget: Key over 1d budget. Spend=\$2.0000, Limit=\$0.50/,
    modelOfKey: modelUsedUp(`LiteLLM Virtual Key: ${token}, key_alias: ${id}`),
    modelOfUser: modelUsedUp(`LiteLLM User: ${id}`),
    modelOfCustomer: modelUsedUp(`LiteLLM End User: ${id}`),
    customer: new RegExp(`End User=${id} over budget`),
    project: usedUp(`Project=${id}`),
    team: usedUp(`Team=${id}`),
    teamWindow: new RegExp(
      String.raw`^ExceededBudget: Team=${id} over 1d budget. Spend=\$2.0000, Limit=\$0.50. ${RESET}$`,
    ),
    modelOfTeam: modelUsedUp(`LiteLLM Team: ${id}`),
    member: usedUp(`TeamMember=${id}:${id}`),
    membersOfTeam: usedUp(`User=${id} in Team=${id}`),
    organization: usedUp(`Organization=${id}`),
    tag: usedUp(`Tag=${id}`),
    // The budget of all calls counts the calls of all tests: 2 USD of each test.
    global: /^Budget has been exceeded! Current cost: [246]\.0, Max budget: 1\.0$/,
    user: usedUp(`User=${id}`),
  })[scope];

async function chat({ id, key }: Caller) {
  const body = {
    model: 'priced',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 1,
    user: id,
    metadata: { tags: [id] },
  };
  const answer = await calls.app.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  const { error } = (await answer.json()) as { readonly error?: Readonly<Record<string, unknown>> };
  return { status: answer.status, error };
}

async function newCaller(id: string, hasTeam: boolean): Promise<Caller> {
  await calls.manage('/organization/new', { organization_id: id, organization_alias: id });
  await calls.manage('/user/new', { user_id: id, auto_create_key: false });
  await calls.manage('/budget/new', { budget_id: id });
  await calls.manage('/customer/new', { user_id: id, budget_id: id });
  await calls.manage('/tag/new', { name: id });
  if (hasTeam) {
    await calls.manage('/team/new', { team_id: id, organization_id: id });
    await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id } });
    await calls.manage('/project/new', { team_id: id, project_id: id });
  }
  const owners = hasTeam ? { team_id: id, project_id: id } : {};
  const response = await calls.manage('/key/generate', { key_alias: id, user_id: id, organization_id: id, ...owners });
  return { id, key: String(response['key']), token: String(response['token']), keyName: String(response['key_name']) };
}

/** Uses up all budgets, then removes them one by one. Returns the answer to a call before each removal. */
async function answersInOrder(caller: Caller, order: readonly Scope[]): Promise<readonly object[]> {
  for (const scope of order) await setBudget[scope](caller, 100);
  expect([(await chat(caller)).status, (await chat(caller)).status]).toEqual([200, 200]);
  for (const scope of order) await setBudget[scope](caller, 1);
  const answers = [];
  for (const scope of order) {
    answers.push(await chat(caller));
    await setBudget[scope](caller, null);
  }
  return answers;
}

function expectedRefusals(caller: Caller, order: readonly Scope[]): readonly object[] {
  return order.map((scope) => {
    const refusal = refusalOf(scope, caller);
    const message: unknown = expect.stringMatching(refusal);
    return { status: 422, error: { message, type: 'budget_exceeded', param: null, code: '422' } };
  });
}

describe('budgets that are all used up refuse a call in the order of the contract', () => {
  it('with a key in a team whose member has its own budget', async () => {
    const order: readonly Scope[] = [
      'member',
      'key',
      'modelOfKey',
      'modelOfUser',
      'modelOfCustomer',
      'project',
      'team',
      'teamWindow',
      'keyWindow',
      'organization',
      'tag',
      'customer',
      'global',
    ];
    const caller = await newCaller('in-team', true);
    expect(await answersInOrder(caller, order)).toEqual(expectedRefusals(caller, order));
  });

  it('with a key in a team with a budget for members and a budget for a model', async () => {
    const order: readonly Scope[] = [
      'key',
      'modelOfUser',
      'modelOfCustomer',
      'project',
      'team',
      'teamWindow',
      'keyWindow',
      'organization',
      'tag',
      'membersOfTeam',
      'customer',
      'global',
      'modelOfTeam',
    ];
    const caller = await newCaller('of-members', true);
    expect(await answersInOrder(caller, order)).toEqual(expectedRefusals(caller, order));
  });

  it('with a key of a user and no team; the provider budget is last', async () => {
    const order: readonly Scope[] = [
      'key',
      'modelOfKey',
      'modelOfUser',
      'modelOfCustomer',
      'keyWindow',
      'organization',
      'tag',
      'user',
      'customer',
      'global',
    ];
    const caller = await newCaller('of-user', false);
    expect(await answersInOrder(caller, order)).toEqual(expectedRefusals(caller, order));
    expect(await chat(caller)).toEqual({
      status: 429,
      error: {
        message: expect.stringMatching(
          new RegExp(
            `^No deployments available - crossed budget for provider: Exceeded budget for provider openai: 6.0 >= 6.0. ${RESET}$`,
          ),
        ) as string,
        type: 'budget_exceeded',
        param: null,
        code: '429',
      },
    });
  });
});
