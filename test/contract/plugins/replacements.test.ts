import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { FULL, GITHUB, type Json, NO_KEY, PATH, type PluginClient, pluginClient } from './plugin-client.ts';

let app: TestApp;
let ask: PluginClient['ask'];
let register: PluginClient['register'];
let add: PluginClient['add'];

beforeAll(async () => {
  app = await startApp();
  ({ ask, register, add } = pluginClient(app));
});
afterAll(() => app.stop());

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const shown = (plugin: Json): Json => ({
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
});
const put = (name: string, body: unknown, key?: string | null) => ask('PUT', `${PATH}/${name}`, body, key);

describe('plugins.replace', () => {
  it('200: replaces the content; a disabled plugin stays disabled, and the change is in the audit log', async () => {
    await register(FULL);
    await ask('POST', `${PATH}/full/disable`);
    const plugin = shown({ name: 'full', source: GITHUB, version: '2', enabled: false });
    expect(await put('full', { source: GITHUB, version: '2' })).toEqual([
      200,
      { status: 'success', action: 'updated', plugin },
    ]);
    expect(await ask('GET', `${PATH}/full`)).toEqual([200, plugin]);
    expect(await put('full', { ...FULL })).toEqual([
      200,
      { status: 'success', action: 'updated', plugin: shown({ ...FULL, enabled: false }) },
    ]);
    const [, audit] = await ask('GET', '/audit?table_name=plugin&page_size=1&sort_by=updated_at&sort_order=desc');
    const stored = (more: Json) => expect.objectContaining({ name: 'full', enabled: false, ...more }) as Json;
    expect((audit as { readonly audit_logs: readonly Json[] }).audit_logs).toEqual([
      expect.objectContaining({
        action: 'updated',
        before_value: stored({ source: GITHUB, version: '2' }),
        updated_values: stored({ source: FULL.source, version: FULL.version }),
      }),
    ]);
  });

  it('400: another name, and a source that is not allowed', async () => {
    await add('kept');
    expect(await put('kept', { name: 'other', source: GITHUB })).toEqual([
      400,
      { detail: { error: 'name must be the name in the path: a plugin cannot be renamed' } },
    ]);
    expect(await put('kept', { source: { source: 'github', repo: 'x' } })).toEqual([
      400,
      { detail: { error: 'source.repo must be owner/repository, such as org/my-plugin' } },
    ]);
    expect(await ask('GET', `${PATH}/kept`)).toEqual([200, shown({ name: 'kept', source: GITHUB })]);
  });

  it('401: without a key', async () => {
    expect(await put('x', { source: GITHUB }, null)).toEqual(NO_KEY);
  });

  it('403: a read-only administrator', async () => {
    const [, made] = await ask('POST', '/user/new', { user_role: 'proxy_admin_viewer' });
    const message = 'Only proxy admins can change plugins.';
    expect(await put('x', { source: GITHUB }, String((made as Json)['key']))).toEqual([
      403,
      { error: { message, type: 'auth_error', param: 'None', code: '403' } },
    ]);
  });

  it('404: an unknown name. Nothing is created', async () => {
    const unknown = [404, { detail: { error: "Plugin 'nope' not found" } }];
    expect(await put('nope', { source: GITHUB })).toEqual(unknown);
    expect(await ask('GET', `${PATH}/nope`)).toEqual(unknown);
  });

  it('422: no source', async () => {
    expect(await put('kept', {})).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['body', 'source'], msg: 'Field required' }] },
    ]);
  });
});

describe('plugins.hub', () => {
  it('200: enabled plugins without members for administrators, without a key', async () => {
    await register({ ...FULL, name: 'listed' });
    const hub = await ask('GET', '/public/skill_hub', undefined, null);
    const listed = (plugin: Json): Json => {
      const { domain: _domain, namespace: _namespace, created_by: _by, ...rest } = shown(plugin);
      return rest;
    };
    expect(hub).toEqual([
      200,
      {
        plugins: expect.arrayContaining([
          listed({ ...FULL, name: 'listed' }),
          listed({ name: 'kept', source: GITHUB }),
        ]) as Json[],
        count: 2,
      },
    ]);
  });
});
