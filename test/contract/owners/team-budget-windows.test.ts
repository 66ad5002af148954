import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

const nextMidnight = (): string => new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString();
const nextMonth = (): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
};
/** An ISO time in the format of refusals. */
const formatTime = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

const day = (max_budget: number) => ({ budget_duration: '1d', max_budget });
const month = (max_budget: number) => ({ budget_duration: '30d', max_budget });

async function read(path: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await calls.app.call('GET', path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.json() as Promise<Readonly<Record<string, unknown>>>;
}

async function post(path: string, body: object, key = calls.app.adminKey) {
  const answer = await calls.app.call('POST', path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

const refusalOf = (
  team: string,
  window: { readonly text: string; readonly amounts: string; readonly end: string },
) => ({
  status: 422,
  body: {
    error: {
      message: `ExceededBudget: Team=${team} over ${window.text} budget. ${window.amounts}. Budget window: ${window.text}. Budget resets at: ${formatTime(window.end)}`,
      type: 'budget_exceeded',
      param: null,
      code: '422',
    },
  },
});

async function chat(key: string) {
  const { status, body } = await calls.chat(key);
  return { status, body: body as object };
}

describe('the budget windows of a team', () => {
  it('are shown with the end of the current window; without windows, the list is null', async () => {
    const created = await calls.manage('/team/new', { team_id: 'shown', budget_limits: [day(1.5), month(10)] });
    const expected = [
      { ...day(1.5), reset_at: nextMidnight() },
      { ...month(10), reset_at: nextMonth() },
    ];
    expect(created['budget_limits']).toEqual(expected);
    expect((await read('/team/info?team_id=shown'))['team_info']).toMatchObject({ budget_limits: expected });
    const listed = (await read('/team/list')) as unknown as readonly Readonly<Record<string, unknown>>[];
    expect(listed.find(({ team_id }) => team_id === 'shown')).toMatchObject({ budget_limits: expected });
    const { teams } = await read('/v2/team/list?team_id=shown');
    expect(teams).toMatchObject([{ budget_limits: expected }]);
    // A change of another field keeps the windows.
    await calls.manage('/team/update', { team_id: 'shown', team_alias: 'x' });
    expect((await read('/team/info?team_id=shown'))['team_info']).toMatchObject({ budget_limits: expected });
    await calls.manage('/team/update', { team_id: 'shown', budget_limits: [] });
    expect((await read('/team/info?team_id=shown'))['team_info']).toMatchObject({ budget_limits: null });
    await calls.manage('/team/update', { team_id: 'shown', budget_limits: [day(2)] });
    await calls.manage('/team/update', { team_id: 'shown', budget_limits: null });
    expect((await read('/team/info?team_id=shown'))['team_info']).toMatchObject({ budget_limits: null });
  });

  it.each([
    [{ budget_limits: {} }, 'list_type'],
    [{ budget_limits: [{ budget_duration: 1, max_budget: 1 }] }, 'string_type'],
    [{ budget_limits: [{ budget_duration: '1d', max_budget: 'x' }] }, 'float_parsing'],
    [{ budget_limits: [{ budget_duration: '1d', max_budget: -1 }] }, 'float_type'],
  ])('422: are refused if they are malformed: %j', async (fields, type) => {
    for (const path of ['/team/new', '/team/update']) {
      const { status, body } = await post(path, { team_id: 'malformed', ...fields });
      expect([status, body]).toMatchObject([422, { detail: [{ type, loc: ['body', 'budget_limits'] }] }]);
    }
  });

  it('400: are refused if a team or a key has more than 32', async () => {
    const budget_limits = Array.from({ length: 33 }, (_, index) => ({
      budget_duration: `${index + 1}h`,
      max_budget: 1,
    }));
    const error = {
      message: 'budget_limits has more than 32 windows.',
      type: 'internal_server_error',
      param: null,
      code: '400',
    };
    await calls.manage('/team/new', { team_id: 'windowed' });
    for (const [path, subject] of [
      ['/team/new', {}],
      ['/team/update', { team_id: 'windowed' }],
      ['/key/generate', {}],
    ] as const)
      expect([path, await post(path, { ...subject, budget_limits })]).toEqual([path, { status: 400, body: { error } }]);
    const draftAtMaximum = { team_id: 'windowed', budget_limits: budget_limits.slice(1) };
    expect((await post('/team/update', draftAtMaximum)).status).toBe(200);
  });

  it('400: are refused with a malformed duration', async () => {
    const message = "Invalid budget_duration 'xyz'. Use a format like '1h', '24h', '7d', or '30d'.";
    const windows = { budget_limits: [{ budget_duration: 'xyz', max_budget: 1 }] };
    await calls.manage('/team/new', { team_id: 'duration' });
    for (const [path, team_id] of [
      ['/team/new', 'of-duration'],
      ['/team/update', 'duration'],
    ] as const) {
      const { status, body } = await post(path, { team_id, ...windows });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
    }
    expect((await calls.app.call('GET', '/team/info?team_id=of-duration')).status).toBe(404);
  });

  it('apply together to all keys of the team, and count from the time they are set', async () => {
    await calls.manage('/team/new', { team_id: 'all', max_budget: 100 });
    const [firstKey, secondKey] = [await calls.newKey({ team_id: 'all' }), await calls.newKey({ team_id: 'all' })];
    expect((await calls.chat(firstKey)).status).toBe(200);
    await calls.manage('/team/update', { team_id: 'all', budget_limits: [day(2), month(3)] });
    expect((await calls.chat(firstKey)).status).toBe(200);
    expect((await calls.chat(secondKey)).status).toBe(200);
    const dayWindow = { text: '1d', amounts: 'Spend=$2.0000, Limit=$2.00', end: nextMidnight() };
    expect(await chat(firstKey)).toEqual(refusalOf('all', dayWindow));
    // An unchanged window keeps its spend.
    await calls.manage('/team/update', { team_id: 'all', budget_limits: [day(50), month(3)] });
    expect((await calls.chat(secondKey)).status).toBe(200);
    const monthWindow = { text: '30d', amounts: 'Spend=$3.0000, Limit=$3.00', end: nextMonth() };
    expect(await chat(secondKey)).toEqual(refusalOf('all', monthWindow));
    expect(await chat(firstKey)).toEqual(refusalOf('all', monthWindow));
    // Free models skip the windows.
    expect((await calls.chat(firstKey, 'free')).status).toBe(200);
    await calls.manage('/team/update', { team_id: 'all', budget_limits: null });
    expect((await calls.chat(firstKey)).status).toBe(200);
  });

  it('refuse the first call if they are zero; the smaller of two windows with the same length applies', async () => {
    await calls.manage('/team/new', { team_id: 'zero', budget_limits: [day(0)] });
    const key = await calls.newKey({ team_id: 'zero' });
    const dayWindow = { text: '1d', amounts: 'Spend=$0.0000, Limit=$0.00', end: nextMidnight() };
    expect(await chat(key)).toEqual(refusalOf('zero', dayWindow));
    await calls.manage('/team/update', { team_id: 'zero', budget_limits: [day(5), day(1)] });
    expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(
      refusalOf('zero', { text: '1d', amounts: 'Spend=$1.0000, Limit=$1.00', end: nextMidnight() }),
    );
  });

  it('reserve the expected cost of active calls', async () => {
    await calls.manage('/team/new', { team_id: 'reserved', budget_limits: [day(3)] });
    const key = await calls.newKey({ team_id: 'reserved' });
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await calls.chat(key)).status));
    expect(statuses.toSorted((left, right) => left - right)).toEqual([
      ...Array<number>(3).fill(200),
      ...Array<number>(17).fill(422),
    ]);
  });

  it('apply together with the budget of the team', async () => {
    await calls.manage('/team/new', { team_id: 'both', max_budget: 1, budget_limits: [day(2)] });
    const key = await calls.newKey({ team_id: 'both' });
    // The team budget of 1 USD refuses a spend above 1 USD. The window of 2 USD refuses a spend of exactly 2 USD, too.
    expect([(await calls.chat(key)).status, (await calls.chat(key)).status]).toEqual([200, 200]);
    const refused = 'Budget has been exceeded! Team=both Current cost: 2.0, Max budget: 1.0';
    expect(await chat(key)).toEqual({
      status: 422,
      body: { error: { message: refused, type: 'budget_exceeded', param: null, code: '422' } },
    });
    await calls.manage('/team/update', { team_id: 'both', max_budget: null });
    expect(await chat(key)).toEqual(
      refusalOf('both', { text: '1d', amounts: 'Spend=$2.0000, Limit=$2.00', end: nextMidnight() }),
    );
  });

  it('apply to fallbacks', async () => {
    // A budget does not refuse `broken`, because it is free.
    await calls.manage('/team/new', { team_id: 'fallback', budget_limits: [day(1)] });
    const key = await calls.newKey({ team_id: 'fallback' });
    expect((await calls.chat(key)).status).toBe(200);
    const body = { model: 'broken', fallbacks: ['priced'], messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
    const { status, body: answer } = await post('/v1/chat/completions', body, key);
    expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining('Team=fallback over 1d budget')]);
  });

  it('admit calls again after their end', async () => {
    await calls.manage('/team/new', { team_id: 'renewed', budget_limits: [day(2)] });
    const key = await calls.newKey({ team_id: 'renewed' });
    expect([(await calls.chat(key)).status, (await calls.chat(key)).status]).toEqual([200, 200]);
    expect((await calls.chat(key)).status).toBe(422);
    // Without the wait, a call of this millisecond would count in the new window.
    await wait(5);
    const ended = { ...day(2), resetAt: new Date().toISOString(), countsFrom: '2020-01-01T00:00:00.000Z' };
    const { budget_duration: budgetDuration, max_budget, ...times } = ended;
    const sql = 'update team set budget_limits = ? where id = ?';
    const stored = JSON.stringify([{ budgetDuration, maxBudget: String(max_budget), ...times }]);
    expect(await changeInOtherProcess(calls.app.dataDir, sql, stored, 'renewed')).toBe(1);
    await vi.waitFor(async () => expect((await calls.chat(key)).status).toBe(200), POLLING);
    expect((await calls.chat(key)).status).toBe(200);
    const { status, body } = await calls.chat(key);
    const text = /^ExceededBudget: Team=renewed over 1d budget. Spend=\$2.0000, Limit=\$2.00. Budget window: 1d./;
    expect([status, body]).toEqual([
      422,
      { error: { message: expect.stringMatching(text) as string, type: 'budget_exceeded', param: null, code: '422' } },
    ]);
  });

  it('can be changed only by proxy administrators; the audit log has the change', async () => {
    await calls.manage('/user/new', { user_id: 'lead', auto_create_key: false });
    await calls.manage('/team/new', { team_id: 'led', budget_limits: [day(1)] });
    await calls.manage('/team/member_add', { team_id: 'led', member: { role: 'admin', user_id: 'lead' } });
    const key = await calls.newKey({ user_id: 'lead' });
    const message = 'Only proxy admins change the models, budget and limits of a team.';
    for (const budget_limits of [[day(1_000)], [], null]) {
      const { status, body } = await post('/team/update', { team_id: 'led', budget_limits }, key);
      expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining(message)]);
    }
    await calls.manage('/team/update', { team_id: 'led', budget_limits: [day(4)] });
    const { audit_logs } = await read('/audit?object_id=led&action=updated');
    expect(audit_logs).toMatchObject([
      {
        before_value: { budget_limits: [{ budgetDuration: '1d', maxBudget: '1' }] },
        updated_values: { budget_limits: [{ budgetDuration: '1d', maxBudget: '4' }] },
      },
    ]);
  });
});

describe('the budget windows of a team in the graph', () => {
  const FIELDS = 'budgetLimits { duration maxBudgetUsd resetAt }';
  const graph = async (query: string, variables: object): Promise<unknown> =>
    (await calls.app.call('POST', '/graphql', { query, variables })).json();

  it('are set, shown, kept by other changes, and removed', async () => {
    const create = `mutation ($input: CreateTeamInput!) { createTeam(input: $input) { ... on Team { ${FIELDS} } } }`;
    const update = `mutation ($input: UpdateTeamInput!) { updateTeam(input: $input) { ... on Team { ${FIELDS} }
      ... on InvalidInputError { message } } }`;
    const windows = [{ duration: '1d', maxBudgetUsd: '0.000000000001' }];
    const expected = [{ ...windows[0], resetAt: nextMidnight() }];
    const created = await graph(create, { input: { id: 'graphed', budgetLimits: windows } });
    expect(created).toEqual({ data: { createTeam: { budgetLimits: expected } } });
    expect((await read('/team/info?team_id=graphed'))['team_info']).toMatchObject({
      budget_limits: [{ budget_duration: '1d', max_budget: 1e-12, reset_at: nextMidnight() }],
    });
    expect(await graph(update, { input: { id: 'graphed', alias: 'x' } })).toEqual({
      data: { updateTeam: { budgetLimits: expected } },
    });
    expect(
      await graph(update, { input: { id: 'graphed', budgetLimits: [{ duration: 'xyz', maxBudgetUsd: '1' }] } }),
    ).toMatchObject({ data: { updateTeam: { message: expect.stringContaining("'xyz'") as string } } });
    expect(await graph(update, { input: { id: 'graphed', budgetLimits: null } })).toEqual({
      data: { updateTeam: { budgetLimits: [] } },
    });
  });
});
