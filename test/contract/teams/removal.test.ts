import { describe, expect, it } from 'vitest';
import { changeInOtherProcess } from '../../support/other-process-sql.ts';
import { chat, envelope, type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { app, get, post, send, key } = tenancyClient({ config: { general_settings: { demo_model: true } } });
const createTeam = (team_id: string) => post('/team/new', { team_id });

describe('projects.list, projects.info, projects.update, projects.delete 200: the team of the project was deleted', () => {
  // Earlier builds deleted teams with projects.
  const orphan = async (project_id: string): Promise<Json> => {
    const team_id = `team-of-${project_id}`;
    await createTeam(team_id);
    const { body } = await post('/project/new', { project_id, team_id, max_budget: 3 });
    expect(await changeInOtherProcess(app().dataDir, 'delete from team where id = ?', team_id)).toBe(1);
    return body;
  };

  it('over HTTP', async () => {
    const project = await orphan('orphan');
    expect((await get('/project/info?project_id=orphan')).body).toEqual(project);
    expect((await get('/project/list')).body).toContainEqual(project);
    const secret = await key({ project_id: 'orphan' });
    expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
    const blocked = await post('/project/update', { project_id: 'orphan', blocked: true });
    expect([blocked.status, blocked.body]).toMatchObject([200, { project_id: 'orphan', blocked: true }]);
    await createTeam('new-home');
    const moved = await post('/project/update', { project_id: 'orphan', team_id: 'new-home' });
    expect([moved.status, moved.body]).toMatchObject([200, { project_id: 'orphan', team_id: 'new-home' }]);
    await orphan('orphan-2');
    expect((await send('DELETE', '/project/delete', { project_ids: ['orphan-2', 'orphan'] })).status).toBe(200);
    expect((await get('/project/info?project_id=orphan-2')).status).toBe(404);
  });

  it('over the graph', async () => {
    await orphan('orphan-3');
    const { body } = await post('/graphql', {
      query: '{ projects(first: 50) { edges { node { projectId team { teamId alias } totalSpendUsd } } } }',
    });
    expect(body).toMatchObject({
      data: {
        projects: {
          edges: expect.arrayContaining([
            { node: { projectId: 'orphan-3', team: { teamId: 'team-of-orphan-3', alias: null }, totalSpendUsd: '0' } },
          ]) as unknown,
        },
      },
    });
  });

  it('projects.update 404: the new team does not exist', async () => {
    await orphan('orphan-4');
    expect(await post('/project/update', { project_id: 'orphan-4', team_id: 'none' })).toEqual(
      envelope(404, 'Team not found, passed team_id=none', 'not_found', 'project_id'),
    );
  });
});

it('teams.delete 400: one of the teams has projects, and none is deleted; 200: teams without projects', async () => {
  await createTeam('empty');
  await createTeam('used');
  const { body: project } = await post('/project/new', { project_id: 'p-used', team_id: 'used' });
  expect(project).toMatchObject({ project_id: 'p-used', team_id: 'used' });
  const secret = await key({ team_id: 'used', project_id: 'p-used' });
  expect(await post('/team/delete', { team_ids: ['empty', 'used'] })).toEqual({
    status: 400,
    body: { detail: { error: 'Team used has projects. Delete or move them first.' } },
  });
  expect((await post('/v1/chat/completions', chat(), secret)).status).toBe(200);
  expect((await get('/team/info?team_id=empty')).status).toBe(200);
  expect((await post('/project/update', { project_id: 'p-used', team_id: 'empty' })).status).toBe(200);
  expect(await post('/team/delete', { team_ids: ['used'] })).toEqual({
    status: 200,
    body: { deleted_teams: ['used'] },
  });
  expect((await get('/project/info?project_id=p-used')).body).toMatchObject({ team_id: 'empty' });
  expect((await send('DELETE', '/project/delete', { project_ids: ['p-used'] })).status).toBe(200);
  expect((await post('/team/delete', { team_ids: ['empty'] })).status).toBe(200);
});
