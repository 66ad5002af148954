import { describe, expect, it } from 'vitest';
import { chat, detail, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, post, user } = tenancyClient();

const createOrganization = (id: string, members: object = {}) =>
  post('/organization/new', { organization_id: id, organization_alias: `Org ${id}`, ...members });
const infoOf = async (id: string): Promise<Json> => (await get(`/organization/info?organization_id=${id}`)).body;
const notFound = detail(404, 'Organization not found for organization_id=unknown');

describe('organizations', () => {
  it('organizations.create, organizations.info, organizations.infos 200: an organization with its own budget', async () => {
    const { status, body } = await createOrganization('o1', { models: ['demo'], max_budget: 100, metadata: { a: 1 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      organization_id: 'o1',
      organization_alias: 'Org o1',
      models: ['demo'],
      metadata: { a: 1 },
      litellm_budget_table: { max_budget: 100, budget_id: body['budget_id'] },
      members: [],
      teams: [],
    });
    expect(await infoOf('o1')).toEqual(body);
    expect((await post('/organization/info', { organizations: ['o1', 'unknown'] })).body).toEqual([body]);
  });

  it('organizations.create 400: a taken id, and an unknown budget', async () => {
    expect(await createOrganization('o1')).toEqual(detail(400, "Organization with id 'o1' already exists."));
    expect(await createOrganization('o2', { budget_id: 'unknown' })).toEqual(
      detail(400, 'Budget unknown does not exist.'),
    );
  });

  it('organizations.info 404: an unknown organization; 422: no id', async () => {
    expect(await get('/organization/info?organization_id=unknown')).toEqual(notFound);
    expect((await get('/organization/info')).status).toBe(422);
  });

  it('organizations.list 200: administrators see all organizations, and users see those of their memberships', async () => {
    await createOrganization('seen');
    await post('/organization/member_add', {
      organization_id: 'seen',
      member: { user_id: 'see', role: 'internal_user' },
    });
    await post('/user/update', { user_id: 'see' });
    const key = String((await post('/key/generate', { user_id: 'see' })).body['key']);
    const ids = async (path: string, by?: string) =>
      ((await get(path, by)).body as unknown as readonly Json[]).map((organization) => organization['organization_id']);
    expect(await ids('/organization/list')).toEqual(['o1', 'seen']);
    expect(await ids('/organization/list?org_alias=SEEN')).toEqual(['seen']);
    expect(await ids('/organization/list?org_id=o1')).toEqual(['o1']);
    expect(await ids('/organization/list', key)).toEqual(['seen']);
    expect(await ids('/organization/list?org_id=o1', key)).toEqual([]);
  });

  it('organizations.update 200: changed fields; 400: a budget below zero; 404: an unknown organization', async () => {
    const change = { organization_id: 'o1', organization_alias: 'Uno', max_budget: 7 };
    expect((await send('PATCH', '/organization/update', change)).body).toMatchObject({
      organization_alias: 'Uno',
      litellm_budget_table: { max_budget: 7 },
    });
    const negativeBudget = { organization_id: 'o1', max_budget: -1 };
    expect((await send('PATCH', '/organization/update', negativeBudget)).status).toBe(400);
    expect(await send('PATCH', '/organization/update', { organization_id: 'unknown' })).toEqual(notFound);
  });

  it('organizations.create 422, organizations.update 400: invalid members change nothing', async () => {
    const budgets = async () => (await get('/budget/list')).body;
    const before = [await budgets(), await infoOf('o1')];
    expect((await createOrganization('o2', { organization_alias: 'a\0b', max_budget: 1 })).status).toBe(422);
    const change = { organization_id: 'o1', organization_alias: 'Changed', budget_duration: 'abc' };
    expect((await send('PATCH', '/organization/update', change)).status).toBe(400);
    expect([await budgets(), await infoOf('o1')]).toEqual(before);
  });

  it('organizations.delete 200: the models of a deleted organization no longer limit its keys', async () => {
    await createOrganization('gone', { models: ['other'] });
    const key = String((await post('/key/generate', { organization_id: 'gone' })).body['key']);
    expect((await post('/v1/chat/completions', chat(), key)).status).toBe(403);
    await send('DELETE', '/organization/delete', { organization_ids: ['gone'] });
    expect((await post('/v1/chat/completions', chat(), key)).status).toBe(200);
  });

  it('teams of an organization are limited by its models and its budget', async () => {
    const createTeam = (members: object) => post('/team/new', { organization_id: 'o1', ...members });
    expect((await createTeam({ team_id: 'ot', models: ['demo'], max_budget: 5 })).status).toBe(200);
    expect((await infoOf('o1'))['teams']).toMatchObject([{ team_id: 'ot' }]);
    expect(await createTeam({ models: ['other'] })).toEqual(
      envelope(400, 'Model other is not a model of the organization o1.'),
    );
    expect(await createTeam({ max_budget: 8 })).toEqual(
      envelope(400, 'The budget of the team exceeds that of the organization o1.'),
    );
  });

  it('organizationMembers.add 200: a new member; 400: an existing member; 404: an unknown organization', async () => {
    const add = (organizationId: string, member: unknown) =>
      post('/organization/member_add', { organization_id: organizationId, member, max_budget_in_organization: 3 });
    const { body } = await add('o1', [{ user_id: 'om1', role: 'org_admin' }]);
    expect(body).toMatchObject({
      organization_id: 'o1',
      updated_users: [{ user_id: 'om1' }],
      updated_organization_memberships: [{ user_role: 'org_admin', litellm_budget_table: { max_budget: 3 } }],
    });
    const existingMember = { user_id: 'om1', role: 'org_admin' };
    expect(await add('o1', existingMember)).toEqual(detail(400, 'User already in organization. Member: user_id=om1'));
    expect(await add('unknown', existingMember)).toEqual(notFound);
  });

  it('an administrator of an organization creates teams in it and adds members', async () => {
    const admin = String((await post('/key/generate', { user_id: 'om1' })).body['key']);
    expect((await post('/team/new', { team_id: 'by-admin', organization_id: 'o1' }, admin)).status).toBe(200);
    expect((await post('/team/new', { organization_id: 'seen' }, admin)).status).toBe(401);
    const member = { organization_id: 'o1', member: { user_id: 'om2', role: 'internal_user' } };
    expect((await post('/organization/member_add', member, admin)).status).toBe(200);
    expect((await send('PATCH', '/organization/update', { organization_id: 'o1' }, admin)).status).toBe(401);
  });

  it('organizationMembers.update, organizationMembers.remove 200: the role changes, and the member is removed', async () => {
    const memberIds = { organization_id: 'o1', user_id: 'om2' };
    const updated = await send('PATCH', '/organization/member_update', { ...memberIds, role: 'org_admin' });
    expect(updated.body).toMatchObject({ user_id: 'om2', user_role: 'org_admin', budget_id: null });
    expect((await send('DELETE', '/organization/member_delete', memberIds)).body).toMatchObject({ user_id: 'om2' });
    expect((await infoOf('o1'))['members']).toMatchObject([{ user_id: 'om1' }]);
  });

  it('organizationMembers.update, organizationMembers.remove 400: a user who is not a member; 404: an unknown organization', async () => {
    for (const [method, path] of [
      ['PATCH', '/organization/member_update'],
      ['DELETE', '/organization/member_delete'],
    ] as const) {
      const refused = detail(400, 'User zzz is not a member of organization o1.');
      expect(await send(method, path, { organization_id: 'o1', user_id: 'zzz' })).toEqual(refused);
      expect(await send(method, path, { organization_id: 'unknown', user_id: 'om1' })).toEqual(notFound);
    }
  });

  it('organizations.delete 200: without teams; 400: with teams; 404: an unknown organization', async () => {
    const remove = (...ids: readonly string[]) => send('DELETE', '/organization/delete', { organization_ids: ids });
    expect(await remove('seen', 'unknown')).toEqual(notFound);
    expect(await remove('o1')).toEqual(detail(400, 'Organization o1 has teams. Delete or move them first.'));
    expect((await remove('seen')).body).toMatchObject([{ organization_id: 'seen' }]);
    expect((await get('/organization/info?organization_id=seen')).status).toBe(404);
  });
});

describe('projects', () => {
  const projectNotFound = envelope(404, 'Project not found, project_id=unknown', 'not_found', 'project_id');

  it('projects.create, projects.info, projects.list 200: a project of a team', async () => {
    await post('/team/new', { team_id: 'pt', models: ['demo'] });
    const draft = { project_id: 'p1', project_alias: 'P', team_id: 'pt', models: ['demo'], tags: ['x'] };
    const { status, body } = await post('/project/new', { ...draft, max_budget: 2 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...draft, blocked: false, litellm_budget_table: { max_budget: 2 } });
    expect((await get('/project/info?project_id=p1')).body).toEqual(body);
    expect((await get('/project/list')).body).toEqual([body]);
  });

  it('projects.create 400, projects.create 404: a taken id, a model that the team does not have, an unknown team', async () => {
    expect(await post('/project/new', { team_id: 'pt', project_id: 'p1' })).toEqual(
      envelope(400, 'Project id = p1 already exists.', 'bad_request', 'project_id'),
    );
    expect((await post('/project/new', { team_id: 'pt', models: ['other'] })).status).toBe(400);
    expect((await post('/project/new', { team_id: 'unknown' })).status).toBe(404);
  });

  it('projects.info 200, 403 and 404: a member of the team, another user, an unknown project', async () => {
    const [memberKey, otherKey] = [await user({ user_id: 'in', teams: ['pt'] }), await user({ user_id: 'out' })];
    expect((await get('/project/info?project_id=p1', memberKey)).status).toBe(200);
    expect((await get('/project/list', memberKey)).body).toHaveLength(1);
    expect((await get('/project/info?project_id=p1', otherKey)).status).toBe(403);
    expect((await get('/project/list', otherKey)).body).toEqual([]);
    expect(await get('/project/info?project_id=unknown')).toEqual(projectNotFound);
  });

  it('projects.update 200, 400 and 404: changed fields, a model that the team does not have, an unknown project', async () => {
    const change = { project_id: 'p1', description: 'd', blocked: true, max_budget: 3 };
    expect((await post('/project/update', change)).body).toMatchObject({
      description: 'd',
      blocked: true,
      project_alias: 'P',
      litellm_budget_table: { max_budget: 3 },
    });
    expect((await post('/project/update', { project_id: 'p1', models: ['other'] })).status).toBe(400);
    expect(await post('/project/update', { project_id: 'unknown' })).toEqual(projectNotFound);
  });

  it('projects.delete 404: no project is deleted if one is unknown; 200: a known project', async () => {
    expect(await send('DELETE', '/project/delete', { project_ids: ['p1', 'unknown'] })).toEqual(projectNotFound);
    expect((await send('DELETE', '/project/delete', { project_ids: ['p1'] })).body).toMatchObject([
      { project_id: 'p1' },
    ]);
    expect((await get('/project/list')).body).toEqual([]);
  });
});
