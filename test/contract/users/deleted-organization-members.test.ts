import { expect, it } from 'vitest';
import { tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, user } = tenancyClient();

it('users.delete 200: deletes organization memberships, so that a new user with the same id is no administrator', async () => {
  const boss = { user_id: 'boss', user_role: 'internal_user' };
  await post('/organization/new', { organization_id: 'o', organization_alias: 'o' });
  const key = await user(boss);
  await post('/organization/member_add', { organization_id: 'o', member: { user_id: 'boss', role: 'org_admin' } });
  expect((await post('/team/new', { organization_id: 'o' }, key)).status).toBe(200);

  expect((await post('/user/delete', { user_ids: ['boss'] })).status).toBe(200);
  expect((await get('/organization/info?organization_id=o')).body['members']).toEqual([]);
  expect((await post('/team/new', { organization_id: 'o' }, await user(boss))).status).toBe(401);
});
