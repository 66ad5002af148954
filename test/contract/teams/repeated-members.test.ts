import { expect, it } from 'vitest';
import { envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, user } = tenancyClient();

it.each([
  ['by one id', 'twice', [{ user_id: 'twice' }, { user_id: 'twice' }]],
  ['by id and by email', 'both', [{ user_id: 'both' }, { user_email: 'both@x.org' }]],
])('teams.create 400: no team is stored if the request names a member twice, %s', async (_title, id, names) => {
  const email = `${id}@x.org`;
  await user({ user_id: id, user_email: email });
  const members = names.map((name) => ({ ...name, role: 'user' }));
  expect(await post('/team/new', { team_id: id, members_with_roles: members, team_member_budget: 1 })).toEqual(
    envelope(
      400,
      `User already in team. Member: user_id=${id}, user_email=${email}`,
      'team_member_already_in_team',
      'member',
    ),
  );
  expect((await get(`/team/info?team_id=${id}`)).status).toBe(404);
  expect((await post('/team/new', { team_id: id, members_with_roles: members.slice(0, 1) })).status).toBe(200);
});

it('teams.create 200: a caller who lists itself by email is a member once, with the given role', async () => {
  await post('/organization/new', { organization_id: 'o', organization_alias: 'o' });
  const key = await user({ user_id: 'boss', user_email: 'boss@x.org', user_role: 'internal_user' });
  await post('/organization/member_add', { organization_id: 'o', member: { user_id: 'boss', role: 'org_admin' } });
  const members = [{ user_email: 'boss@x.org', role: 'user' }];
  const { status, body } = await post('/team/new', { organization_id: 'o', members_with_roles: members }, key);
  expect(status).toBe(200);
  const roles = (body['members_with_roles'] as readonly Json[]).map((member) => [member['user_id'], member['role']]);
  expect(roles).toEqual([['boss', 'user']]);
});
