import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let userKey = '';

async function send(method: string, path: string, body?: unknown, key = app.adminKey) {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as unknown };
}

beforeAll(async () => {
  app = await startApp({
    config: { litellm_settings: { default_internal_user_params: { available_teams: ['open', 'not-made'] } } },
  });
  for (const team of ['open', 'closed']) await send('POST', '/team/new', { team_id: team });
  userKey = ((await send('POST', '/user/new', { user_id: 'ann' })).body as { key: string }).key;
});
afterAll(() => app.stop());

const addMember = (team: string, role = 'user', userId = 'ann') =>
  send('POST', '/team/member_add', { team_id: team, member: { role, user_id: userId } }, userKey);

it('teams.available 200: the existing teams of available_teams', async () => {
  expect((await send('GET', '/team/available')).body).toMatchObject([{ team_id: 'open' }]);
  expect((await send('GET', '/team/available', undefined, userKey)).body).toMatchObject([{ team_id: 'open' }]);
});

it('teams.available 401: an unknown key', async () => {
  expect((await send('GET', '/team/available', undefined, 'sk-unknown-000000000')).status).toBe(401);
});

it('a user may add only itself, only as a plain member, and only to an available team', async () => {
  expect((await addMember('closed')).status).toBe(403);
  expect((await addMember('open', 'admin')).status).toBe(403);
  expect((await addMember('open', 'user', 'bob')).status).toBe(403);
  expect((await addMember('open')).status).toBe(200);
  expect((await send('GET', '/team/available', undefined, userKey)).body).toEqual([]);
});
