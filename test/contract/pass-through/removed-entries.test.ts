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

const INFO = '/config/field/info?field_name=pass_through_endpoints';

it('settings.get 200: shows the stored endpoints as the value of their setting; 400: none is stored', async () => {
  const endpoint = (path: string) => ({
    id: expect.any(String),
    path,
    target: TARGET,
    headers: {},
    default_query_params: {},
    include_subpath: false,
    cost_per_request: 0,
    timeout: null,
    auth: true,
    guardrails: null,
    methods: null,
  });
  const value = [endpoint('/one'), endpoint('/two')];
  expect(await answerOf(await app.call('GET', INFO))).toEqual([
    200,
    { field_name: 'pass_through_endpoints', field_value: value, source: 'db', editable: true },
  ]);
  const [, list] = await answerOf(await app.call('GET', '/config/list?config_type=general_settings'));
  expect(list).toContainEqual(
    expect.objectContaining({ field_name: 'pass_through_endpoints', field_value: value, stored_in_db: true }),
  );
  await removeField();
  expect(await answerOf(await app.call('GET', INFO))).toEqual([
    400,
    { detail: { error: 'Field name=pass_through_endpoints is not set' } },
  ]);
});

it('settings.update, settings.updateSections 400: the list of endpoints is not stored as a setting', async () => {
  const list = [{ path: '/three', target: TARGET }];
  const message = 'pass_through_endpoints is no setting to store: create and change each endpoint.';
  const update = { ...FIELD, field_value: list };
  expect(await answerOf(await app.call('POST', '/config/field/update', update))).toEqual([
    400,
    { detail: { error: message } },
  ]);
  const sections = { general_settings: { pass_through_endpoints: list } };
  expect(await answerOf(await app.call('POST', '/config/update', sections))).toMatchObject([400, { error: {} }]);
  expect(await paths()).toEqual(['/of-the-file', '/one', '/two']);
});

it('updateSetting with null in the graph removes all stored endpoints', async () => {
  const query = `mutation { updateSetting(input: { section: GENERAL, name: "pass_through_endpoints", value: null }) {
    ... on Setting { name } } }`;
  const [, body] = await answerOf(await app.call('POST', '/graphql', { query }));
  expect(body).toEqual({ data: { updateSetting: { name: 'pass_through_endpoints' } } });
  expect(await paths()).toEqual(['/of-the-file']);
});
