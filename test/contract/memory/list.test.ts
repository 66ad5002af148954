import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

let app: TestApp;
/** Keys of a user, of a team, and without both. */
let [ann, team, orphan] = ['', '', ''];

/** Status and body of a request. A null key sends no credential. */
async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey) {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [answer.status, (await answer.json()) as Json] as const;
}

beforeAll(async () => {
  app = await startApp();
  await ask('POST', '/team/new', { team_id: 'red' });
  ann = String((await ask('POST', '/key/generate', { user_id: 'ann' }))[1]['key']);
  team = String((await ask('POST', '/key/generate', { team_id: 'red' }))[1]['key']);
  orphan = String((await ask('POST', '/key/generate', {}))[1]['key']);
  for (const key of ['user:1', 'user:2', 'User:3', '50%:a', '50x:b', '😀:c'])
    await ask('POST', '/v1/memory', { key, value: 'v' }, ann);
  await ask('POST', '/v1/memory', { key: 'plan', value: 'v' }, team);
  await ask('POST', '/v1/memory', { key: 'admin', value: 'v' });
});
afterAll(() => app.stop());

/** Status, names and total of a list. */
async function list(query: string, key = ann) {
  const [status, body] = await ask('GET', `/v1/memory${query}`, undefined, key);
  const memories = body['memories'] as readonly Json[];
  return [status, memories.map((memory) => memory['key']), body['total']] as const;
}

/** Names of the entries of the user, newest first. */
const OF_ANN = ['😀:c', '50x:b', '50%:a', 'User:3', 'user:2', 'user:1'];

describe('memory.list', () => {
  it('200: the entries that the caller may use, newest first', async () => {
    expect(await list('')).toEqual([200, OF_ANN, 6]);
    expect(await list('', team)).toEqual([200, ['plan'], 1]);
    expect(await list('', orphan)).toEqual([200, [], 0]);
    expect(await list('', app.adminKey)).toEqual([200, ['admin', 'plan', ...OF_ANN], 8]);
  });

  it.each([
    ['?key=user:1', ['user:1']],
    ['?key=user', []],
    ['?key_prefix=user:', ['user:2', 'user:1']],
    ['?key_prefix=50%25', ['50%:a']],
    ['?key_prefix=%F0%9F%98%80', ['😀:c']],
    ['?key_prefix=user:&key=50x:b', ['user:2', 'user:1']],
    ['?search=us&key_prefix=50', ['user:2', 'user:1']],
    ['?key=plan', []],
  ] as const)('200: filtered by %s', async (query, keys) => {
    expect(await list(query)).toEqual([200, keys, keys.length]);
  });

  it('200: pages with the total; an entry by its id, for its owner only', async () => {
    expect(await list('?page=2&page_size=4')).toEqual([200, ['user:2', 'user:1'], 6]);
    expect(await list('?page=9')).toEqual([200, [], 6]);
    const [, entry] = await ask('GET', '/v1/memory/user:1', undefined, ann);
    const id = String(entry['memory_id']);
    expect(await list(`?search=${id}`)).toEqual([200, ['user:1'], 1]);
    expect(await list(`?search=${id}`, team)).toEqual([200, [], 0]);
  });

  it('401: no key', async () => {
    expect((await ask('GET', '/v1/memory', undefined, null))[0]).toBe(401);
  });

  it.each(['?page=0', '?page_size=501', '?page=x'])('422: %s', async (query) => {
    expect((await ask('GET', `/v1/memory${query}`, undefined, ann))[0]).toBe(422);
  });
});
