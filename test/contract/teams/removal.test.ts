import { expect, it } from 'vitest';
import { chat, tenancyClient } from '../../support/tenancy-client.ts';

const { get, post, send, key } = tenancyClient({ config: { general_settings: { demo_model: true } } });
const createTeam = (team_id: string) => post('/team/new', { team_id });

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
