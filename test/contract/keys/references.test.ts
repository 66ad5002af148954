import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

/** App with the models `priced` and `free`. A call of `priced`, the default, costs 1 USD. */
let calls: OwnerCalls;

beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

async function generate(draft: object, key = calls.app.adminKey) {
  const answer = await calls.app.call('POST', '/key/generate', draft, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

const budgetMessage = (subject: string, spent: string, budget: string) =>
  `Budget has been exceeded! ${subject} Current cost: ${spent}, Max budget: ${budget}`;

/** Message of the refusal of a call, or the status 200. */
async function outcomeOf(key: string): Promise<string | number> {
  const { status, body } = await calls.chat(key);
  return status === 200 ? status : (body as { error: { message: string } }).error.message;
}

describe('a key that names other rows', () => {
  it('shows its budget row, whose limits apply unless the key sets its own', async () => {
    await calls.manage('/budget/new', { budget_id: 'small', max_budget: 1, rpm_limit: 9 });
    const { status, body } = await generate({ budget_id: 'small', key_alias: 'with-budget' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      budget_id: 'small',
      max_budget: null,
      litellm_budget_table: { budget_id: 'small', max_budget: 1, rpm_limit: 9 },
    });
    const key = String(body['key']);
    const { info } = (await (await calls.app.call('GET', `/key/info?key=${key}`)).json()) as { info: object };
    expect(info).toMatchObject({ budget_id: 'small', litellm_budget_table: { max_budget: 1 } });
    const first = await calls.chat(key);
    expect([first.status, first.headers.get('x-ratelimit-api_key-limit-requests')]).toEqual([200, '9']);
    expect(await outcomeOf(key)).toBe(budgetMessage(`Key=with-budget (${String(body['key_name'])})`, '1.0', '1.0'));
    const keyWithOwnBudget = await calls.newKey({ budget_id: 'small', max_budget: 5 });
    for (let call = 0; call < 2; call += 1) expect(await outcomeOf(keyWithOwnBudget)).toBe(200);
  });

  it('counts its calls in its project, and has the budget, the models and the block of the project', async () => {
    await calls.manage('/team/new', { team_id: 'p-team' });
    await calls.manage('/project/new', { team_id: 'p-team', project_id: 'p1', max_budget: 1 });
    const keys = [
      await calls.newKey({ team_id: 'p-team', project_id: 'p1' }),
      await calls.newKey({ team_id: 'p-team', project_id: 'p1' }),
    ] as const;
    expect(await outcomeOf(keys[0])).toBe(200);
    for (const key of keys) expect(await outcomeOf(key)).toBe(budgetMessage('Project=p1', '1.0', '1.0'));
    expect(await outcomeOf(await calls.newKey({ team_id: 'p-team' }))).toBe(200);
    await calls.manage('/project/update', { project_id: 'p1', max_budget: 50, models: ['free'] });
    expect((await calls.chat(keys[0])).status).toBe(403);
    expect((await calls.chat(keys[0], 'free')).status).toBe(200);
    await calls.manage('/project/update', { project_id: 'p1', blocked: true });
    expect(await outcomeOf(keys[0])).toBe('Authentication Error, Project=p1 is blocked.');
  });

  it('without a team has the budget of its organization, and a budget of zero refuses the first call', async () => {
    await calls.manage('/organization/new', { organization_id: 'o-own', organization_alias: 'O', max_budget: 0 });
    const key = await calls.newKey({ organization_id: 'o-own' });
    expect(await outcomeOf(key)).toBe(budgetMessage('Organization=o-own', '0.0', '0.0'));
    expect((await calls.chat(key, 'free')).status).toBe(200);
  });

  it.each([
    ['budget_id', 'Budget'],
    ['end_user_budget_id', 'Budget'],
    ['organization_id', 'Organization'],
    ['project_id', 'Project'],
  ])('is refused if the row of %s does not exist', async (param, noun) => {
    expect(await generate({ [param]: 'unknown' })).toEqual({
      status: 400,
      body: { error: { message: `${noun} unknown does not exist.`, type: 'bad_request_error', param, code: '400' } },
    });
  });

  it('is refused if its project belongs to another team, or if a user without a role in the team creates it', async () => {
    await calls.manage('/team/new', { team_id: 'q-team' });
    await calls.manage('/team/new', { team_id: 'other-team' });
    await calls.manage('/project/new', { team_id: 'q-team', project_id: 'q1' });
    const foreign = await generate({ team_id: 'other-team', project_id: 'q1' });
    expect([foreign.status, foreign.body]).toMatchObject([
      400,
      { error: { message: 'Project q1 is not a project of the team other-team.', param: 'project_id' } },
    ]);
    const user = String((await calls.manage('/user/new', { user_id: 'plain' }))['key']);
    expect((await generate({ project_id: 'q1' }, user)).status).toBe(403);
  });
});
