import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

type Json = Readonly<Record<string, unknown>>;

async function post(path: string, body: object, key = app.adminKey): Promise<Json> {
  const answer = await app.call('POST', path, body, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Json;
}

/** Aliases of the listed keys in the order of their creation. */
async function aliasesOf(query: string, key = app.adminKey): Promise<readonly unknown[]> {
  const path = `/key/list?return_full_object=true&sort_order=asc${query}`;
  const answer = await app.call('GET', path, undefined, { authorization: `Bearer ${key}` });
  const { keys, total_count: total } = (await answer.json()) as { keys: readonly Json[]; total_count: number };
  expect(total).toBe(keys.length);
  return keys.map(({ key_alias: alias }) => alias);
}

const WITH_CREATED = '&include_created_by_keys=true';

it('keys.list 200: include_created_by_keys adds keys that a user created for others, also after a rotation', async () => {
  const { key } = await post('/user/new', { user_id: 'boss', user_role: 'proxy_admin', key_alias: 'own' });
  await post('/key/generate', { user_id: 'other', key_alias: 'first' }, String(key));
  const { key: rotated } = await post('/key/regenerate', { key });
  await post('/key/generate', { user_id: 'other', key_alias: 'second' }, String(rotated));
  await post('/key/generate', { user_id: 'other', key_alias: 'of the administrator' });
  expect(await aliasesOf('&user_id=boss')).toEqual(['own']);
  expect(await aliasesOf(`&user_id=boss${WITH_CREATED}`)).toEqual(['own', 'first', 'second']);
  expect(await aliasesOf(`&user_id=other${WITH_CREATED}`)).toEqual(['first', 'second', 'of the administrator']);
  await post('/key/delete', { keys: [rotated] });
  expect(await aliasesOf(`&user_id=boss${WITH_CREATED}`)).toEqual(['first', 'second']);
});

it('keys.list 200: a user sees keys that it created, and no other keys of their users', async () => {
  const { key } = await post('/user/new', { user_id: 'lead', user_role: 'internal_user', key_alias: 'of the lead' });
  await post('/user/new', { user_id: 'member', user_role: 'internal_user', key_alias: 'of the member' });
  const members = ['lead', 'member'].map((id) => ({ user_id: id, role: id === 'lead' ? 'admin' : 'user' }));
  await post('/team/new', { team_id: 't', members_with_roles: members });
  await post('/key/generate', { team_id: 't', user_id: 'member', key_alias: 'made by the lead' }, String(key));
  expect(await aliasesOf('', String(key))).toEqual(['of the lead']);
  expect(await aliasesOf(WITH_CREATED, String(key))).toEqual(['of the lead', 'made by the lead']);
  expect(await aliasesOf(`&user_id=lead${WITH_CREATED}`, String(key))).toEqual(['of the lead', 'made by the lead']);
});
