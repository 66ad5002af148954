import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import type { Json } from '../../support/tenancy-client.ts';
import { type Issuer, startIssuer, tokenEnvironment } from '../../support/token-issuer.ts';
import { type OwnerCalls, startOwnerCalls } from './owner-calls.ts';

let issuer: Issuer;
let calls: OwnerCalls;

beforeAll(async () => {
  issuer = await startIssuer(['ES256']);
  const litellm_jwtauth = {
    user_id_jwt_field: 'sub',
    user_id_upsert: true,
    team_ids_jwt_field: 'teams',
    team_id_upsert: true,
  };
  calls = await startOwnerCalls(
    {
      general_settings: { enable_jwt_auth: true, litellm_jwtauth },
      litellm_settings: { default_internal_user_params: { available_teams: ['open'] } },
    },
    tokenEnvironment(issuer),
  );
});
afterAll(async () => {
  await calls.stop();
  await issuer.stop();
});

const token = (claims: Json): Promise<string> => issuer.token(claims, { alg: 'ES256' });

async function spendAt(path: string, member: string): Promise<unknown> {
  const answer = await calls.app.call('GET', path);
  return ((await answer.json()) as Readonly<Record<string, Json>>)[member]?.['spend'];
}
const teamSpend = (id: string): Promise<unknown> => spendAt(`/team/info?team_id=${id}`, 'team_info');
const userSpend = (id: string): Promise<unknown> => spendAt(`/user/info?user_id=${id}`, 'user_info');

/** Owners with a budget of 1 USD, and the number of calls of 1 USD that it admits. */
const CREATED = {
  team: {
    admitted: 2,
    create: (team_id: string) => calls.manage('/team/new', { team_id, max_budget: 1 }),
    remove: (id: string) => calls.manage('/team/delete', { team_ids: [id] }),
    spend: teamSpend,
  },
  user: {
    admitted: 1,
    create: (user_id: string) => calls.manage('/user/new', { user_id, auto_create_key: false, max_budget: 1 }),
    remove: (id: string) => calls.manage('/user/delete', { user_ids: [id] }),
    spend: userSpend,
  },
} as const;

it.each([
  ['team', 'a virtual key', (id: string) => calls.newKey({ team_id: id })],
  ['team', 'a signed token', (id: string) => token({ sub: 'ann', teams: [id] })],
  ['user', 'a virtual key', (id: string) => calls.newKey({ user_id: id })],
  ['user', 'a signed token', (id: string) => token({ sub: id })],
] as const)(
  'a %s does not have the spend of an earlier one with its id, from calls with %s',
  async (kind, by, keyOf) => {
    const { admitted, create, remove, spend } = CREATED[kind];
    const id = `${kind} with ${by}`;
    for (let round = 1; round <= 2; round += 1) {
      await create(id);
      expect(await spend(id)).toBe(0);
      const key = await keyOf(id);
      for (let nth = 0; nth < admitted; nth += 1) expect((await calls.chat(key)).status).toBe(200);
      expect((await calls.chat(key)).status).toBe(422);
      await vi.waitFor(async () => expect(await spend(id)).toBe(admitted), POLLING);
      await remove(id);
    }
  },
);

const MODEL_BUDGET = { priced: { budget_limit: 1, time_period: '30d' } };
const joining = { member: { user_id: 'mia', role: 'user' } };

/** Owners that are replaced, with the draft of a key whose budget admits one call of 1 USD. */
const REPLACED: readonly (readonly [string, object, () => Promise<unknown>, () => Promise<unknown>])[] = [
  [
    'a member of a team that is created again',
    { team_id: 'club', user_id: 'mia' },
    async () => {
      await calls.manage('/team/new', { team_id: 'club', team_member_budget: 1 });
      await calls.manage('/team/member_add', { team_id: 'club', ...joining });
    },
    () => CREATED.team.remove('club'),
  ],
  [
    'a member that is created with its team',
    { team_id: 'founded', user_id: 'mia' },
    () =>
      calls.manage('/team/new', {
        team_id: 'founded',
        team_member_budget: 1,
        members_with_roles: [{ user_id: 'mia', role: 'user' }],
      }),
    () => CREATED.team.remove('founded'),
  ],
  [
    'a member whose user is created again',
    { team_id: 'lasting', user_id: 'noa' },
    () => calls.manage('/user/new', { user_id: 'noa', auto_create_key: false, teams: ['lasting'] }),
    () => CREATED.user.remove('noa'),
  ],
  [
    'a member that joins again',
    { team_id: 'lasting', user_id: 'mia' },
    () => calls.manage('/team/member_add', { team_id: 'lasting', ...joining }),
    () => calls.manage('/team/member_delete', { team_id: 'lasting', user_id: 'mia' }),
  ],
  [
    'a model of a team',
    { team_id: 'modelled' },
    () => calls.manage('/team/new', { team_id: 'modelled', metadata: { model_max_budget: MODEL_BUDGET } }),
    () => CREATED.team.remove('modelled'),
  ],
  [
    'a model of a user',
    { user_id: 'ole' },
    () => calls.manage('/user/new', { user_id: 'ole', auto_create_key: false, model_max_budget: MODEL_BUDGET }),
    () => CREATED.user.remove('ole'),
  ],
];

it.each(REPLACED)('%s does not have the spend of an earlier one', async (_case, draft, create, remove) => {
  await calls.app.call('POST', '/team/new', { team_id: 'lasting', team_member_budget: 1 });
  for (let round = 1; round <= 2; round += 1) {
    await create();
    const key = await calls.newKey(draft);
    expect([round, (await calls.chat(key)).status]).toEqual([round, 200]);
    expect([round, (await calls.chat(key)).status]).toEqual([round, 422]);
    await remove();
  }
});

it('a user who leaves a team and adds itself again has its earlier spend in the team', async () => {
  await calls.manage('/team/new', { team_id: 'open', team_member_budget: 1 });
  const { key: own } = await calls.manage('/user/new', { user_id: 'pia' });
  const body = { team_id: 'open', member: { user_id: 'pia', role: 'user' } };
  for (const status of [200, 422]) {
    const joined = await calls.app.call('POST', '/team/member_add', body, { authorization: `Bearer ${String(own)}` });
    expect(joined.status).toBe(200);
    const key = await calls.newKey({ team_id: 'open', user_id: 'pia' });
    expect((await calls.chat(key)).status).toBe(status);
    await calls.manage('/team/member_delete', { team_id: 'open', user_id: 'pia' });
  }
});

it('a user and a team that a token creates again do not have the spend of the earlier ones', async () => {
  const key = await token({ sub: 'eva', teams: ['made'] });
  // The second round has fewer calls, so that no sum of both rounds equals its spend.
  for (const count of [2, 1]) {
    for (let nth = 0; nth < count; nth += 1) expect((await calls.chat(key)).status).toBe(200);
    const spends = async () => [await teamSpend('made'), await userSpend('eva')];
    await vi.waitFor(async () => expect(await spends()).toEqual([count, count]), POLLING);
    await CREATED.team.remove('made');
    await CREATED.user.remove('eva');
  }
});

it('a user has the spend of keys that named it before it existed', async () => {
  const key = await calls.newKey({ user_id: 'named' });
  expect((await calls.chat(key)).status).toBe(200);
  await calls.manage('/user/new', { user_id: 'named', auto_create_key: false });
  await vi.waitFor(async () => expect(await userSpend('named')).toBe(1), POLLING);
});

it('a team that is removed and created before its calls are committed does not have their spend', async () => {
  const { create, remove, admitted } = CREATED.team;
  for (let round = 1; round <= 3; round += 1) {
    await create('replaced');
    const key = await calls.newKey({ team_id: 'replaced' });
    for (let nth = 0; nth < admitted; nth += 1) expect((await calls.chat(key)).status).toBe(200);
    if (round < 3) await remove('replaced');
  }
  await vi.waitFor(async () => expect(await teamSpend('replaced')).toBe(admitted), POLLING);
});
