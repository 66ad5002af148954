import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf } from './targets.ts';

const ENDPOINTS = '/config/pass_through_endpoint';
const TARGET = 'http://127.0.0.1:1/target';
const FIELD = { config_type: 'general_settings', field_name: 'pass_through_endpoints' };

let app: TestApp;
beforeEach(async () => {
  app = await startApp({
    config: { general_settings: { pass_through_endpoints: [{ path: '/of-the-file', target: TARGET }] } },
  });
  for (const path of ['/one', '/two']) await app.call('POST', ENDPOINTS, { path, target: TARGET });
});
afterEach(() => app.stop());

const removeField = async () => answerOf(await app.call('POST', '/config/field/delete', FIELD));

async function paths(): Promise<readonly string[]> {
  const [, body] = await answerOf(await app.call('GET', ENDPOINTS));
  return (body as { readonly endpoints: readonly { readonly path: string }[] }).endpoints.map(({ path }) => path);
}

const NONE = { detail: { error: 'Field name=pass_through_endpoints not in config' } };

it('settings.delete 200: removes all stored endpoints; those of the file remain; 400: none is stored', async () => {
  expect(await paths()).toEqual(['/of-the-file', '/one', '/two']);
  const stored = { param_name: 'general_settings', param_value: {}, last_run_at: null, reload_revision: 0 };
  expect(await removeField()).toEqual([200, stored]);
  expect(await paths()).toEqual(['/of-the-file']);
  expect(await removeField()).toEqual([400, NONE]);
});

it('settings.delete 200: also removes the stored value of the setting', async () => {
  const update = { ...FIELD, field_value: [{ path: '/three', target: TARGET }] };
  expect((await app.call('POST', '/config/field/update', update)).status).toBe(200);
  expect(await removeField()).toMatchObject([200, { param_name: 'general_settings', param_value: {} }]);
  expect(await paths()).toEqual(['/of-the-file']);
  expect((await app.call('GET', '/config/field/info?field_name=pass_through_endpoints')).status).toBe(400);
});

it('updateSetting with null in the graph removes all stored endpoints', async () => {
  const query = `mutation { updateSetting(input: { section: GENERAL, name: "pass_through_endpoints", value: null }) {
    ... on Setting { name } } }`;
  const [, body] = await answerOf(await app.call('POST', '/graphql', { query }));
  expect(body).toEqual({ data: { updateSetting: { name: 'pass_through_endpoints' } } });
  expect(await paths()).toEqual(['/of-the-file']);
});
