import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { detail, envelope, type Json, NO_KEY } from '../../support/tenancy-client.ts';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';
import { POLLING } from '../../support/polling.ts';

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

async function send(method: string, path: string, body?: unknown, key = calls.app.adminKey) {
  const answer = await calls.app.call(method, path, body, { authorization: key === '' ? '' : `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}
const pathOf = (team: string, user: string): string => `/team/${team}/member/${user}/reset_spend`;
const reset = (team: string, user: string, amount: unknown, key?: string) =>
  send('POST', pathOf(team, user), { reset_to: amount }, key);

// Each call costs 1 USD.

/** Creates a team with one member. Returns the key of the member in the team. */
async function newMember(id: string, draft: object = { team_member_budget: 2 }): Promise<string> {
  await calls.manage('/user/new', { user_id: id, auto_create_key: false });
  await calls.manage('/team/new', { team_id: id, ...draft });
  await calls.manage('/team/member_add', { team_id: id, member: { role: 'user', user_id: id } });
  return calls.newKey({ team_id: id, user_id: id });
}

/** Spend of a member over HTTP and in the graph, its total spend, and the total spend of the team. */
async function readSpend(id: string): Promise<Json> {
  const { team_memberships: members } = (await send('GET', `/team/info?team_id=${id}`)).body as {
    readonly team_memberships: readonly Json[];
  };
  const { spend, total_spend: total } = members.find((member) => member['user_id'] === id) ?? {};
  const query = '{ teams(first: 50) { nodes { teamId totalSpendUsd members { userId spendUsd } } } }';
  const { teams } = (await send('POST', '/graphql', { query })).body['data'] as { readonly teams: { nodes: Json[] } };
  const team = teams.nodes.find((node) => node['teamId'] === id);
  const inGraph = (team?.['members'] as readonly Json[] | undefined)?.find((member) => member['userId'] === id);
  return { spend, total, inGraph: inGraph?.['spendUsd'], ofTeam: team?.['totalSpendUsd'] };
}
const expectSpend = (id: string, { spend, total }: { readonly spend: number; readonly total: number }): Promise<void> =>
  vi.waitFor(async () => {
    expect(await readSpend(id)).toEqual({ spend, total, inGraph: String(spend), ofTeam: String(total) });
  }, POLLING);

/** Answer to a reset, with the spend after and before it, and the budget of the member. */
const resetAnswer = (
  id: string,
  { spend, previous, max = 2 }: { readonly spend: number; readonly previous: number; readonly max?: number | null },
) => ({
  status: 200,
  body: { team_id: id, user_id: id, spend, previous_spend: previous, max_budget: max },
});
const refusal = (id: string) =>
  envelope(
    422,
    `Budget has been exceeded! User=${id} in Team=${id} Current cost: 2.0, Max budget: 2.0`,
    'budget_exceeded',
  );
const chat = async (key: string) => {
  const { status, body } = await calls.chat(key);
  return { status, body };
};

describe('teamMembers.resetSpend 200', () => {
  it('a member over its budget is admitted again after a reset', async () => {
    const key = await newMember('over');
    for (const _ of [1, 2]) expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(refusal('over'));
    await expectSpend('over', { spend: 2, total: 2 });
    expect(await reset('over', 'over', 1)).toEqual(resetAnswer('over', { spend: 1, previous: 2 }));
    await expectSpend('over', { spend: 1, total: 2 });
    // The budget counts from the reset value.
    expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(refusal('over'));
    await expectSpend('over', { spend: 2, total: 3 });
    expect(await reset('over', 'over', 0)).toEqual(resetAnswer('over', { spend: 0, previous: 2 }));
    expect((await calls.chat(key)).status).toBe(200);
    // The spend of the team and of the key is not reset.
    await expectSpend('over', { spend: 1, total: 4 });
    const { body } = await send('GET', `/key/info?key=${key}`);
    expect((body['info'] as Json)['spend']).toBe(4);
  });

  it('the reset value is kept after a restart, until the next window of the budget', async () => {
    const key = await newMember('kept', { team_member_budget: 9, team_member_budget_duration: '30d' });
    await calls.chat(key);
    await calls.chat(key);
    await expectSpend('kept', { spend: 2, total: 2 });
    expect(await reset('kept', 'kept', 0.5)).toEqual(resetAnswer('kept', { spend: 0.5, previous: 2, max: 9 }));
    await calls.restart();
    await expectSpend('kept', { spend: 0.5, total: 2 });
    const { team_info: info } = (await send('GET', '/team/info?team_id=kept')).body as {
      readonly team_info: { readonly metadata: Readonly<Record<string, string>> };
    };
    const sql = 'update budget set budget_reset_at = cast(? as integer) where id = ?';
    const budget = info.metadata['team_member_budget_id'] ?? '';
    // The window of the budget ends now.
    await vi.waitFor(async () => {
      expect(await changeInOtherProcess(calls.app.dataDir, sql, String(Date.now()), budget)).toBe(1);
      expect((await readSpend('kept'))['spend']).toBe(0);
    }, POLLING);
    await calls.chat(key);
    await expectSpend('kept', { spend: 1, total: 3 });
    expect(await reset('kept', 'kept', 2)).toEqual(detail(400, 'reset_to must be <= current spend'));
    expect(await reset('kept', 'kept', 0)).toEqual(resetAnswer('kept', { spend: 0, previous: 1, max: 9 }));
  });

  it('the answer has a null budget for a member without one, and the reset is in the audit log', async () => {
    await newMember('free', {});
    expect(await reset('free', 'free', 0)).toEqual(resetAnswer('free', { spend: 0, previous: 0, max: null }));
    const { body } = await send('GET', '/audit?table_name=LiteLLM_TeamMembership&action=updated&sort_order=desc');
    const [entry] = body['audit_logs'] as readonly Json[];
    const row = { team_id: 'free', user_id: 'free' };
    expect(entry).toMatchObject({
      actor: 'default_user_id',
      before_value: { ...row, spent_before: null },
      updated_values: { ...row, spent_before: 0 },
    });
  });

  it('administrators of the team may reset the spend of a member', async () => {
    await newMember('led');
    await calls.manage('/user/new', { user_id: 'leader', auto_create_key: false });
    await calls.manage('/team/member_add', { team_id: 'led', member: { role: 'admin', user_id: 'leader' } });
    expect(await reset('led', 'led', 0, await calls.newKey({ user_id: 'leader' }))).toEqual(
      resetAnswer('led', { spend: 0, previous: 0 }),
    );
  });
});

describe('refused resets of the spend of a member', () => {
  let key = '';
  beforeAll(async () => {
    key = await newMember('sure');
  });

  it('teamMembers.resetSpend 400: more than the spend, and less than zero', async () => {
    expect(await reset('sure', 'sure', 1)).toEqual(detail(400, 'reset_to must be <= current spend'));
    expect(await reset('sure', 'sure', -1)).toEqual(detail(400, 'reset_to must be >= 0'));
  });

  it('teamMembers.resetSpend 401: no key; 403: a key of a user who is not an administrator of the team', async () => {
    expect(await reset('sure', 'sure', 0, '')).toEqual(NO_KEY);
    await calls.manage('/user/new', { user_id: 'stranger', auto_create_key: false });
    expect(await reset('sure', 'sure', 0, await calls.newKey({ user_id: 'stranger' }))).toEqual(
      detail(403, 'Call not allowed. User not proxy admin OR team admin.'),
    );
  });

  it('teamMembers.resetSpend 403: the own spend of the caller, also for an administrator of the team', async () => {
    const own = envelope(403, 'You cannot reset your own spend.', 'auth_error', 'None');
    expect(await reset('sure', 'sure', 0, key)).toEqual(own);
    await calls.manage('/team/member_update', { team_id: 'sure', user_id: 'sure', role: 'admin' });
    expect(await reset('sure', 'sure', 0, await calls.newKey({ user_id: 'sure' }))).toEqual(own);
    await calls.manage('/team/member_update', { team_id: 'sure', user_id: 'sure', role: 'user' });
  });

  it('teamMembers.resetSpend 404: an unknown team, and a user who is not a member', async () => {
    expect(await reset('none', 'sure', 0)).toEqual(detail(404, 'Team not found, passed team_id=none'));
    expect(await reset('sure', 'nobody', 0)).toEqual(detail(404, 'User nobody is not a member of team sure.'));
  });

  it('teamMembers.resetSpend 422: a missing and an invalid amount', async () => {
    const invalid = (type: string, msg: string) => ({
      status: 422,
      body: { detail: [{ loc: ['body', 'reset_to'], msg, type }] },
    });
    expect(await send('POST', pathOf('sure', 'sure'), {})).toEqual(invalid('missing', 'Field required'));
    expect(await reset('sure', 'sure', 'much')).toEqual(
      invalid('float_parsing', 'Input should be a valid number, unable to parse string as a number'),
    );
    expect(await send('POST', pathOf('sure', 'sure'), '{"reset_to":1e999}')).toEqual(
      invalid('finite_number', 'Input should be a finite number'),
    );
  });
});
