import { beforeAll, describe, expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { post } = tenancyClient();

beforeAll(async () => {
  await post('/team/new', { team_id: 'refusing' });
});

const NO_USER = { type: 'value_error', msg: 'Value error, Either user id or user email must be provided' };
const ROLE = { type: 'literal_error', msg: "Input should be 'admin' or 'user'" };
const NOT_AN_OBJECT = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};
const NO_ONE = { role: 'user' };
const KING = { role: 'king', user_id: 'm' };

describe('teams.create, teamMembers.add, teamMembers.addMany, teamMembers.update 422', () => {
  it.each([
    ['/team/new', { members_with_roles: [NO_ONE] }, NO_USER, ['members_with_roles', 0]],
    [
      '/team/new',
      { members_with_roles: [{ role: 'user', user_id: 'm' }, KING] },
      ROLE,
      ['members_with_roles', 1, 'role'],
    ],
    ['/team/member_add', {}, { type: 'missing', msg: 'Field required' }, ['member']],
    ['/team/member_add', { member: 'm' }, NOT_AN_OBJECT, ['member']],
    ['/team/member_add', { member: ['m'] }, NOT_AN_OBJECT, ['member', 0]],
    ['/team/member_add', { member: NO_ONE }, NO_USER, []],
    ['/team/member_add', { member: KING }, ROLE, ['role']],
    ['/team/member_add', { member: [KING] }, ROLE, ['member', 0, 'role']],
    ['/team/bulk_member_add', { members: [KING] }, ROLE, ['members', 0, 'role']],
    ['/team/member_update', { user_id: 'm', role: 'king' }, ROLE, ['role']],
  ])('POST %s with %j', async (path, body, { type, msg }, place) => {
    const team_id = path === '/team/new' ? 'refused' : 'refusing';
    expect(await post(path, { team_id, ...body })).toEqual({
      status: 422,
      body: { detail: [{ type, loc: ['body', ...place], msg }] },
    });
  });
});
