import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  type Answer,
  FULL,
  GITHUB,
  type Json,
  NO_KEY,
  PATH,
  type PluginClient,
  pluginClient,
} from './plugin-client.ts';

let app: TestApp;
let user: string;
let viewer: string;
let ask: PluginClient['ask'];
let register: PluginClient['register'];
let add: PluginClient['add'];
let remove: PluginClient['remove'];

beforeAll(async () => {
  app = await startApp();
  ({ ask, register, add, remove } = pluginClient(app));
  const keyOf = async (path: string, body: Json): Promise<string> =>
    String(((await ask('POST', path, body))[1] as Json)['key']);
  user = await keyOf('/user/new', { user_id: 'u', user_role: 'internal_user' });
  viewer = await keyOf('/user/new', { user_id: 'v', user_role: 'proxy_admin_viewer' });
});
afterAll(() => app.stop());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const shown = (plugin: Json, more: Json = {}): Json => ({
  id: expect.any(String) as string,
  version: null,
  description: null,
  author: null,
  homepage: null,
  keywords: [],
  category: null,
  domain: null,
  namespace: null,
  enabled: true,
  created_at: TIME,
  updated_at: TIME,
  created_by: 'default_user_id',
  ...plugin,
  ...more,
});
const refused = (message: string): Answer => [
  403,
  { error: { message, type: 'auth_error', param: 'None', code: '403' } },
];
const MAY_NOT_CHANGE = refused('Only proxy admins can change plugins.');
const MAY_NOT_SEE = refused('Only proxy admins can see the list of all plugins.');
const notFound = (name: string): Answer => [404, { detail: { error: `Plugin '${name}' not found` } }];
const invalid = (message: string): Answer => [400, { detail: { error: message } }];

describe('plugins.register', () => {
  it('200: creates a plugin, then replaces it; a disabled one stays disabled', async () => {
    expect(await register(FULL)).toEqual([200, { status: 'success', action: 'created', plugin: shown(FULL) }]);
    await ask('POST', `${PATH}/full/disable`);
    const url = { source: 'url', url: 'https://git.test/org/full.git' };
    expect(await register({ name: 'full', source: url })).toEqual([
      200,
      { status: 'success', action: 'updated', plugin: shown({ name: 'full', source: url }, { enabled: false }) },
    ]);
    await remove('full');
  });

  it('200: null and blank members are absent', async () => {
    const source = { ...GITHUB, url: null, path: '', ref: null };
    const nothing = { version: null, description: '', author: null, homepage: '', keywords: null, category: ' ' };
    expect(await register({ name: 'blank', source, ...nothing })).toEqual([
      200,
      { status: 'success', action: 'created', plugin: shown({ name: 'blank', source: GITHUB }) },
    ]);
    await remove('blank');
  });

  it('200: concurrent requests for one name create one plugin', async () => {
    const versions = Array.from({ length: 8 }, (_, index) => String(index));
    const answers = await Promise.all(versions.map((version) => register({ name: 'race', source: GITHUB, version })));
    expect(answers.map(([status]) => status)).toEqual(versions.map(() => 200));
    expect(answers.filter(([, body]) => (body as Json)['action'] === 'created')).toHaveLength(1);
    expect((await ask('GET', PATH))[1]).toMatchObject({ count: 1, plugins: [{ name: 'race' }] });
    await remove('race');
  });

  it('400: a name, source or member that is not allowed', async () => {
    expect(await register({ name: 'My Plugin', source: GITHUB })).toEqual(
      invalid(
        'name must be kebab-case, such as my-plugin: lower-case letters, digits and hyphens, at most 64 characters',
      ),
    );
    expect(await register({ name: 'x', source: { source: 'url', url: 'https://me:secret@git.test/x.git' } })).toEqual(
      invalid(
        'source.url must be an https:// address without user name and password; http:// is for loopback addresses only',
      ),
    );
    expect(await register({ name: 'x', source: { ...FULL.source, path: '../x' } })).toEqual(
      invalid('source.path must be a relative path inside the repository, such as plugins/my-plugin'),
    );
    expect(await register({ name: 'x', source: GITHUB, author: { name: ' ' } })).toEqual(
      invalid('author.name must not be empty'),
    );
    expect(await register({ name: 'x', source: { source: null, repo: 'a/b' } })).toEqual(
      invalid('source.source must not be null'),
    );
  });

  it('401: without a key', async () => {
    expect(await register({ name: 'x', source: GITHUB }, null)).toEqual(NO_KEY);
  });

  it('403: users and read-only administrators', async () => {
    expect(await register({ name: 'x', source: GITHUB }, user)).toEqual(MAY_NOT_CHANGE);
    expect(await register({ name: 'x', source: GITHUB }, viewer)).toEqual(MAY_NOT_CHANGE);
  });

  it('422: a body of another form', async () => {
    const missing = (...loc: readonly string[]) => ({ type: 'missing', loc: ['body', ...loc], msg: 'Field required' });
    expect(await register({})).toEqual([422, { detail: [missing('name'), missing('source')] }]);
    expect(await register({ name: 'x', source: {}, author: {} })).toEqual([
      422,
      { detail: [missing('source', 'source')] },
    ]);
    expect(await register({ name: 'x', source: GITHUB, author: {} })).toEqual([
      422,
      { detail: [missing('author', 'name')] },
    ]);
    expect(await register({ name: 'x', source: 'org/x', author: 'me', keywords: 'a', version: 1 })).toEqual([
      422,
      {
        detail: [
          { type: 'dict_type', loc: ['body', 'source'], msg: 'Input should be a valid dictionary' },
          { type: 'string_type', loc: ['body', 'version'], msg: 'Input should be a valid string' },
          { type: 'dict_type', loc: ['body', 'author'], msg: 'Input should be a valid dictionary' },
          { type: 'list_type', loc: ['body', 'keywords'], msg: 'Input should be a valid list' },
        ],
      },
    ]);
    expect(await register({ name: 'x', source: { source: 'npm', package: 'x' } })).toEqual([
      422,
      {
        detail: [
          {
            type: 'literal_error',
            loc: ['body', 'source', 'source'],
            msg: "Input should be 'github', 'url' or 'git-subdir'",
          },
        ],
      },
    ]);
    expect((await register('['))[0]).toBe(422);
  });
});

describe('plugins.list', () => {
  it('200: all plugins, newest first, or the enabled ones', async () => {
    await register(FULL);
    await add('bare');
    await ask('POST', `${PATH}/full/disable`);
    const [full, bare] = [shown(FULL, { enabled: false }), shown({ name: 'bare', source: GITHUB })];
    expect(await ask('GET', PATH)).toEqual([200, { plugins: [bare, full], count: 2 }]);
    expect(await ask('GET', `${PATH}?enabled_only=false`)).toEqual([200, { plugins: [bare, full], count: 2 }]);
    expect(await ask('GET', `${PATH}?enabled_only=true`, undefined, viewer)).toEqual([
      200,
      { plugins: [bare], count: 1 },
    ]);
    for (const name of ['full', 'bare']) await remove(name);
    expect(await ask('GET', PATH)).toEqual([200, { plugins: [], count: 0 }]);
  });

  it('401: without a key', async () => {
    expect(await ask('GET', PATH, undefined, null)).toEqual(NO_KEY);
  });

  it('403: users', async () => {
    expect(await ask('GET', PATH, undefined, user)).toEqual(MAY_NOT_SEE);
  });

  it('422: enabled_only is no boolean', async () => {
    expect(await ask('GET', `${PATH}?enabled_only=x`)).toEqual([
      422,
      {
        detail: [
          {
            type: 'bool_parsing',
            loc: ['query', 'enabled_only'],
            msg: 'Input should be a valid boolean, unable to interpret input',
          },
        ],
      },
    ]);
  });
});

describe('plugins.get', () => {
  it('200: a plugin by its name', async () => {
    await register(FULL);
    expect(await ask('GET', `${PATH}/full`, undefined, viewer)).toEqual([200, shown(FULL)]);
    await remove('full');
  });

  it('401: without a key', async () => {
    expect(await ask('GET', `${PATH}/full`, undefined, null)).toEqual(NO_KEY);
  });

  it('403: users', async () => {
    expect(await ask('GET', `${PATH}/full`, undefined, user)).toEqual(MAY_NOT_SEE);
  });

  it('404: an unknown name, of any form', async () => {
    expect(await ask('GET', `${PATH}/nope`)).toEqual(notFound('nope'));
    expect(await ask('GET', `${PATH}/%00`)).toEqual(notFound('\0'));
    expect(await ask('GET', `${PATH}/${'x'.repeat(500)}`)).toEqual(notFound('x'.repeat(64)));
  });
});

const send = (action: 'enable' | 'disable', name: string, key?: string | null) =>
  ask('POST', `${PATH}/${name}/${action}`, undefined, key);
const done = (message: string): Answer => [200, { status: 'success', message }];

describe('plugins.enable', () => {
  it('200: enables a plugin, also a second time', async () => {
    await add('one');
    await send('disable', 'one');
    expect(await send('enable', 'one')).toEqual(done("Plugin 'one' enabled"));
    expect(await send('enable', 'one')).toEqual(done("Plugin 'one' enabled"));
    expect((await ask('GET', `${PATH}/one`))[1]).toMatchObject({ enabled: true });
    await remove('one');
  });

  it('401: without a key', async () => {
    expect(await send('enable', 'one', null)).toEqual(NO_KEY);
  });

  it('403: users and read-only administrators', async () => {
    expect(await send('enable', 'one', user)).toEqual(MAY_NOT_CHANGE);
    expect(await send('enable', 'one', viewer)).toEqual(MAY_NOT_CHANGE);
  });

  it('404: an unknown name', async () => {
    expect(await send('enable', 'nope')).toEqual(notFound('nope'));
  });
});

describe('plugins.disable', () => {
  it('200: disables a plugin, also a second time', async () => {
    await add('one');
    expect(await send('disable', 'one')).toEqual(done("Plugin 'one' disabled"));
    expect(await send('disable', 'one')).toEqual(done("Plugin 'one' disabled"));
    expect((await ask('GET', `${PATH}/one`))[1]).toMatchObject({ enabled: false });
    await remove('one');
  });

  it('401: without a key', async () => {
    expect(await send('disable', 'one', null)).toEqual(NO_KEY);
  });

  it('403: users and read-only administrators', async () => {
    expect(await send('disable', 'one', user)).toEqual(MAY_NOT_CHANGE);
    expect(await send('disable', 'one', viewer)).toEqual(MAY_NOT_CHANGE);
  });

  it('404: an unknown name', async () => {
    expect(await send('disable', 'nope')).toEqual(notFound('nope'));
  });
});

describe('plugins.delete', () => {
  it('200: removes a plugin; its name can be used again', async () => {
    await add('one');
    expect(await remove('one')).toEqual([200, { status: 'success', message: "Plugin 'one' deleted" }]);
    expect(await ask('GET', `${PATH}/one`)).toEqual(notFound('one'));
    await add('one');
    await remove('one');
  });

  it('401: without a key', async () => {
    expect(await ask('DELETE', `${PATH}/one`, undefined, null)).toEqual(NO_KEY);
  });

  it('403: users and read-only administrators', async () => {
    expect(await ask('DELETE', `${PATH}/one`, undefined, user)).toEqual(MAY_NOT_CHANGE);
    expect(await ask('DELETE', `${PATH}/one`, undefined, viewer)).toEqual(MAY_NOT_CHANGE);
  });

  it('404: an unknown name', async () => {
    expect(await remove('nope')).toEqual(notFound('nope'));
  });
});
