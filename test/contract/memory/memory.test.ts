import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;
type Answer = readonly [status: number, body: unknown];

let app: TestApp;
/** Keys: two users in the team red, ann in the team blue, both teams without a user, two read-only users, no owner. */
const keys: Record<
  'ann' | 'bob' | 'annElsewhere' | 'team' | 'otherTeam' | 'viewer' | 'adminViewer' | 'orphan',
  string
> = { ann: '', bob: '', annElsewhere: '', team: '', otherTeam: '', viewer: '', adminViewer: '', orphan: '' };

/** Status and body of a request. A null key sends no credential. */
async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey): Promise<Answer> {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return [answer.status, (await answer.json()) as unknown];
}
/** The key that a route creates. */
const keyOf = async (path: string, body: Json): Promise<string> =>
  String(((await ask('POST', path, body))[1] as Json)['key']);

beforeAll(async () => {
  app = await startApp({ env: { LITELLM_SALT_KEY: 'a-salt-key' } });
  for (const id of ['red', 'blue']) await ask('POST', '/team/new', { team_id: id });
  for (const id of ['ann', 'bob']) await ask('POST', '/user/new', { user_id: id, user_role: 'internal_user' });
  for (const id of ['ann', 'bob'])
    await ask('POST', '/team/member_add', { team_id: 'red', member: { user_id: id, role: 'user' } });
  await ask('POST', '/team/member_add', { team_id: 'blue', member: { user_id: 'ann', role: 'user' } });
  keys.ann = await keyOf('/key/generate', { user_id: 'ann', team_id: 'red' });
  keys.bob = await keyOf('/key/generate', { user_id: 'bob', team_id: 'red' });
  keys.annElsewhere = await keyOf('/key/generate', { user_id: 'ann', team_id: 'blue' });
  keys.team = await keyOf('/key/generate', { team_id: 'red' });
  keys.otherTeam = await keyOf('/key/generate', { team_id: 'blue' });
  keys.viewer = await keyOf('/user/new', { user_id: 'v', user_role: 'internal_user_viewer' });
  keys.adminViewer = await keyOf('/user/new', { user_id: 'av', user_role: 'proxy_admin_viewer' });
  keys.orphan = await keyOf('/key/generate', {});
});
afterAll(() => app.stop());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
/** An entry of ann. */
const entryOf = (key: string, more: Json = {}): Json => ({
  memory_id: expect.any(String) as string,
  key,
  value: 'v',
  metadata: null,
  user_id: 'ann',
  team_id: 'red',
  created_at: TIME,
  created_by: 'ann',
  updated_at: TIME,
  updated_by: 'ann',
  ...more,
});
const create = (key: string, by: string, more: Json = {}) =>
  ask('POST', '/v1/memory', { key, value: 'v', ...more }, by);
const get = (key: string, by: string | null) => ask('GET', `/v1/memory/${key}`, undefined, by);
const notFound = (key: string): Answer => [404, { detail: `Memory with key '${key}' not found` }];

const NO_KEY = { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json };
const readOnlyRefused = {
  error: expect.objectContaining({ message: expect.stringContaining('Read-only keys') as string }) as Json,
};
const otherOwnerRefused: Answer = [
  403,
  {
    error: expect.objectContaining({
      message: expect.stringContaining('Only proxy admins can use the memory of another user or team.') as string,
      code: '403',
    }) as Json,
  },
];
const missing = (...names: readonly string[]): Answer => [
  422,
  { detail: names.map((name) => ({ type: 'missing', loc: ['body', name], msg: 'Field required' })) },
];

describe('memory.create', () => {
  it('200: an entry of the user of the key, with any JSON as metadata', async () => {
    expect(await create('made', keys.ann, { metadata: { z: [1], a: 'b' } })).toEqual([
      200,
      entryOf('made', { metadata: { z: [1], a: 'b' } }),
    ]);
    expect(await get('made', keys.ann)).toEqual([200, entryOf('made', { metadata: { z: [1], a: 'b' } })]);
    expect((await create('list', keys.ann, { metadata: [1, null, 'x'] }))[1]).toMatchObject({
      metadata: [1, null, 'x'],
    });
  });

  it('200: an entry of the team, for a key without a user and for user_id null', async () => {
    const ofTeam = { user_id: null, team_id: 'red' };
    expect((await create('of team', keys.team))[1]).toMatchObject(ofTeam);
    expect((await create('given', keys.ann, { user_id: null }))[1]).toMatchObject({ ...ofTeam, created_by: 'ann' });
    expect((await get('given', keys.bob))[1]).toMatchObject(ofTeam);
  });

  it('200: administrators store for any user and team', async () => {
    expect((await create('for bob', app.adminKey, { user_id: 'bob' }))[1]).toMatchObject({ user_id: 'bob' });
    expect((await get('for%20bob', keys.bob))[0]).toBe(200);
    expect((await create('for blue', app.adminKey, { team_id: 'blue' }))[1]).toMatchObject({
      user_id: null,
      team_id: 'blue',
    });
    expect((await get('for%20blue', keys.otherTeam))[0]).toBe(200);
  });

  it('400: a key without a user and a team, and values that cannot be stored', async () => {
    expect(await create('x', keys.orphan)).toEqual([
      400,
      { detail: 'The key has neither a user nor a team that can own the memory.' },
    ]);
    const wrong: readonly (readonly [Json, string])[] = [
      [{ key: ' ' }, 'key must not be empty'],
      [{ key: 'a\nb' }, 'key must have no control character'],
      [{ key: 'a'.repeat(513) }, 'key must have at most 512 characters'],
      [{ value: 'a\0' }, 'value must have no NUL character and no unpaired surrogate'],
      [{ value: '\ud800' }, 'value must have no NUL character and no unpaired surrogate'],
      [{ value: 'a'.repeat(262_145) }, 'value must have at most 262144 characters'],
      [{ metadata: { a: '\0' } }, 'metadata must have no NUL character and no unpaired surrogate'],
      [{ metadata: 'a'.repeat(65_536) }, 'metadata must have at most 65536 characters as JSON'],
    ];
    for (const [more, detail] of wrong) expect(await create('x', keys.ann, more)).toEqual([400, { detail }]);
    // Six characters that look like an escape are no NUL character.
    expect((await create('escape', keys.ann, { metadata: 'a\\u0000' }))[1]).toMatchObject({ metadata: 'a\\u0000' });
  });

  it('401: no key', async () => {
    expect(await ask('POST', '/v1/memory', { key: 'x', value: 'v' }, null)).toEqual([401, NO_KEY]);
  });

  it('403: another user, another team, and read-only keys', async () => {
    expect(await create('x', keys.ann, { user_id: 'bob' })).toEqual(otherOwnerRefused);
    expect(await create('x', keys.ann, { team_id: 'blue' })).toEqual(otherOwnerRefused);
    expect(await create('x', keys.ann, { user_id: null, team_id: 'blue' })).toEqual(otherOwnerRefused);
    expect(await create('x', keys.team, { user_id: 'ann' })).toEqual(otherOwnerRefused);
    for (const key of [keys.viewer, keys.adminViewer]) expect(await create('x', key)).toEqual([403, readOnlyRefused]);
  });

  it('409: the owner has an entry with this name; other owners may have one', async () => {
    expect((await create('twice', keys.ann))[0]).toBe(200);
    expect(await create('twice', keys.ann)).toEqual([409, { detail: "Memory with key 'twice' already exists" }]);
    expect(await create('twice', keys.annElsewhere)).toEqual([
      409,
      { detail: "Memory with key 'twice' already exists" },
    ]);
    expect((await create('twice', keys.bob))[1]).toMatchObject({ user_id: 'bob' });
    expect((await create('twice', keys.team))[1]).toMatchObject({ user_id: null });
  });

  it('422: missing members and wrong types', async () => {
    expect(await ask('POST', '/v1/memory', {}, keys.ann)).toEqual(missing('key', 'value'));
    expect((await ask('POST', '/v1/memory', { key: 1, value: 'v' }, keys.ann))[0]).toBe(422);
    expect((await ask('POST', '/v1/memory', '[', keys.ann))[0]).toBe(422);
  });
});

describe('memory.get', () => {
  it('200: a name with slashes; the entry of the user takes precedence over the entry of the team', async () => {
    expect((await create('a/b c', keys.ann))[0]).toBe(200);
    expect((await get('a/b%20c', keys.ann))[1]).toMatchObject({ key: 'a/b c' });
    await create('both', keys.team, { value: 'of team' });
    expect((await get('both', keys.ann))[1]).toMatchObject({ value: 'of team' });
    await create('both', keys.ann, { value: 'of ann' });
    expect((await get('both', keys.ann))[1]).toMatchObject({ value: 'of ann' });
    expect((await get('both', keys.annElsewhere))[1]).toMatchObject({ value: 'of ann' });
    expect((await get('both', keys.bob))[1]).toMatchObject({ value: 'of team' });
  });

  it('200: administrators read entries of all owners, with and without user_id', async () => {
    await create('only bob', keys.bob);
    for (const key of [app.adminKey, keys.adminViewer])
      expect((await get('only%20bob', key))[1]).toMatchObject({ user_id: 'bob' });
    for (const key of [app.adminKey, keys.adminViewer]) {
      expect((await get('only%20bob?user_id=bob', key))[0]).toBe(200);
      expect(await get('only%20bob?user_id=ann', key)).toEqual(notFound('only bob'));
    }
  });

  it('401: no key', async () => {
    expect(await get('x', null)).toEqual([401, NO_KEY]);
  });

  it('403: user_id or team_id of another owner', async () => {
    expect(await get('x?user_id=bob', keys.ann)).toEqual(otherOwnerRefused);
    expect(await get('x?team_id=blue', keys.ann)).toEqual(otherOwnerRefused);
  });

  it('404: an unknown name, and an entry of another user or team', async () => {
    await create('secret', keys.ann);
    await create('secret of red', keys.team);
    for (const key of [keys.bob, keys.team, keys.otherTeam, keys.orphan, keys.viewer])
      expect(await get('secret', key)).toEqual(notFound('secret'));
    for (const key of [keys.otherTeam, keys.annElsewhere, keys.orphan])
      expect(await get('secret%20of%20red', key)).toEqual(notFound('secret of red'));
    expect(await get('nope', app.adminKey)).toEqual(notFound('nope'));
  });

  it('409: an administrator names no owner, and several owners have an entry with this name', async () => {
    await create('shared', keys.ann);
    await create('shared', keys.bob);
    expect(await get('shared', app.adminKey)).toEqual([
      409,
      { detail: "Several users and teams have a memory with key 'shared'. Name one by user_id or team_id." },
    ]);
  });
});

describe('a request for no owner', () => {
  it.each([
    ['memory.get', 'GET'],
    ['memory.delete', 'DELETE'],
  ])('%s 400: an empty user and no team', async (_row, method) => {
    expect(await ask(method, '/v1/memory/x?user_id=', undefined, app.adminKey)).toEqual([
      400,
      { detail: 'The key has neither a user nor a team that can own the memory.' },
    ]);
  });
});

describe('memory.put', () => {
  const put = (key: string, body: unknown, by: string | null = keys.ann) => ask('PUT', `/v1/memory/${key}`, body, by);

  it('200: stores a new entry, and changes only the sent members of an existing one', async () => {
    expect(await put('put', { value: 'v', metadata: { a: 1 } })).toEqual([200, entryOf('put', { metadata: { a: 1 } })]);
    expect(await put('put', { value: 'w' })).toEqual([200, entryOf('put', { value: 'w', metadata: { a: 1 } })]);
    expect(await put('put', { metadata: null })).toEqual([200, entryOf('put', { value: 'w' })]);
    expect(await put('put', {})).toEqual([200, entryOf('put', { value: 'w' })]);
  });

  it('200: changes the entry of the team if the user has no entry with this name', async () => {
    await create('plan', keys.team);
    expect((await put('plan', { value: 'new' }))[1]).toMatchObject({ user_id: null, value: 'new', updated_by: 'ann' });
    expect((await put('plan', { value: 'mine', user_id: 'ann' }))[1]).toMatchObject({ user_id: 'ann', value: 'mine' });
    expect((await get('plan', keys.bob))[1]).toMatchObject({ value: 'new' });
  });

  it('200: an administrator changes an own entry, or the entry of the owner in user_id', async () => {
    await create('mine', keys.ann);
    expect((await put('mine', { value: 'of admin' }, app.adminKey))[1]).toMatchObject({ user_id: 'default_user_id' });
    expect((await get('mine', keys.ann))[1]).toMatchObject({ value: 'v' });
    expect((await put('mine', { value: 'set', user_id: 'ann' }, app.adminKey))[1]).toMatchObject({
      user_id: 'ann',
      updated_by: 'default_user_id',
    });
    expect((await get('mine', keys.ann))[1]).toMatchObject({ value: 'set' });
  });

  it('200: concurrent requests for a new name store one entry', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => put('race', { value: String(at) })));
    expect(answers.map(([status]) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await ask('GET', '/v1/memory?key=race', undefined, keys.ann))[1]).toMatchObject({ total: 1 });
  });

  it('400: a new entry without a value', async () => {
    expect(await put('fresh', { metadata: 1 })).toEqual([400, { detail: 'value is required for a new memory' }]);
  });

  it('401, 403 and 422: no key, another owner, read-only keys, wrong types', async () => {
    expect(await put('x', { value: 'v' }, null)).toEqual([401, NO_KEY]);
    expect(await put('x', { value: 'v', user_id: 'bob' })).toEqual(otherOwnerRefused);
    expect(await put('x', { value: 'v' }, keys.viewer)).toEqual([403, readOnlyRefused]);
    expect((await put('x', { value: 3 }))[0]).toBe(422);
  });

  it('does not change the entry of another user with this name', async () => {
    await create('guarded', keys.bob, { value: 'of bob' });
    await put('guarded', { value: 'of ann' });
    expect((await get('guarded', keys.bob))[1]).toMatchObject({ value: 'of bob' });
  });
});

describe('memory.delete', () => {
  const remove = (key: string, by: string | null) => ask('DELETE', `/v1/memory/${key}`, undefined, by);

  it('200: removes an entry; 404 for a removed entry and for the entry of another owner', async () => {
    await create('gone', keys.ann);
    for (const key of [keys.bob, keys.team, keys.otherTeam, keys.orphan])
      expect(await remove('gone', key)).toEqual(notFound('gone'));
    expect(await remove('gone', keys.ann)).toEqual([200, { key: 'gone', deleted: true }]);
    expect(await remove('gone', keys.ann)).toEqual(notFound('gone'));
  });

  it('401, 403 and 409: no key, read-only keys, another owner, several owners', async () => {
    expect(await remove('x', null)).toEqual([401, NO_KEY]);
    expect(await remove('x', keys.viewer)).toEqual([403, readOnlyRefused]);
    expect(await remove('x?user_id=bob', keys.ann)).toEqual(otherOwnerRefused);
    await create('many', keys.ann);
    await create('many', keys.bob);
    expect((await remove('many', app.adminKey))[0]).toBe(409);
    expect((await remove('many?user_id=bob', app.adminKey))[0]).toBe(200);
    expect((await get('many', keys.ann))[0]).toBe(200);
  });
});
