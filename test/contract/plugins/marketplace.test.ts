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
let ask: PluginClient['ask'];
let register: PluginClient['register'];
let add: PluginClient['add'];
let remove: PluginClient['remove'];

beforeAll(async () => {
  app = await startApp();
  ({ ask, register, add, remove } = pluginClient(app));
});
afterAll(() => app.stop());

const market = (...plugins: readonly Json[]): Answer => [
  200,
  { name: 'litellm', owner: { name: 'LiteLLM', email: 'support@litellm.ai' }, plugins },
];

describe('plugins.marketplace', () => {
  it('200: is empty at first, and needs no key', async () => {
    expect(await ask('GET', '/claude-code/marketplace.json', undefined, null)).toEqual(market());
  });

  it('200: lists enabled plugins at once, with the members that are set', async () => {
    await register(FULL);
    await add('bare');
    const { domain: _domain, namespace: _namespace, ...entry } = FULL;
    const read = () => ask('GET', '/claude-code/marketplace.json', undefined, null);
    expect(await read()).toEqual(market(entry, { name: 'bare', source: GITHUB }));
    await ask('POST', `${PATH}/full/disable`);
    expect(await read()).toEqual(market({ name: 'bare', source: GITHUB }));
    await register({ name: 'bare', source: GITHUB, author: { name: 'A' }, version: '2' });
    expect(await read()).toEqual(market({ name: 'bare', source: GITHUB, author: { name: 'A' }, version: '2' }));
    await ask('POST', `${PATH}/full/enable`);
    await remove('bare');
    expect(await read()).toEqual(market(entry));
    await remove('full');
    expect(await read()).toEqual(market());
  });

  it('is not answered at other paths', async () => {
    expect((await ask('GET', '/claude-code/auth'))[0]).toBe(404);
  });
});

describe('plugins.extensions', () => {
  it('200: no extension of the dashboard', async () => {
    expect(await ask('GET', '/api/plugins')).toEqual([200, []]);
  });

  it('401: without a key', async () => {
    expect(await ask('GET', '/api/plugins', undefined, null)).toEqual(NO_KEY);
  });
});

it('changes of plugins are in the audit log', async () => {
  await register({ ...FULL, name: 'audited' });
  await ask('POST', `${PATH}/audited/disable`);
  await ask('POST', `${PATH}/audited/disable`);
  await remove('audited');
  const [, body] = await ask('GET', '/audit?table_name=plugin&page_size=3&sort_by=updated_at&sort_order=desc');
  const entries = (body as { readonly audit_logs: readonly Json[] }).audit_logs;
  const facts = entries.map(({ action, table_name: table, before_value: before, updated_values: after }) => ({
    action,
    table,
    before,
    after,
  }));
  const { name: _name, ...content } = FULL;
  const stored = (enabled: boolean) => expect.objectContaining({ name: 'audited', ...content, enabled }) as Json;
  expect(facts).toEqual([
    { action: 'deleted', table: 'plugin', before: stored(false), after: null },
    { action: 'updated', table: 'plugin', before: stored(true), after: stored(false) },
    { action: 'created', table: 'plugin', before: null, after: stored(true) },
  ]);
});
