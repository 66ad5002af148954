import { expect, it } from 'vitest';
import { VERSION } from '../../../src/domain/version.ts';
import { type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const demo = (name: string) => ({ model_name: name, litellm_params: { model: 'demo' } });
const MODELS = { general_settings: { demo_model: false }, model_list: [demo('a'), demo('b')] };
const client = tenancyClient({ config: MODELS });
const ofFile = tenancyClient({
  config: {
    ...MODELS,
    litellm_settings: { public_model_groups: ['a'], public_model_groups_links: { Docs: 'https://docs.test' } },
  },
});
const notStored = tenancyClient({ config: { ...MODELS, general_settings: { store_model_in_db: false } } });

const publish = (body: object, key?: string) => client.post('/model_group/make_public', body, key);
const link = (body: object, key?: string) => client.post('/model_hub/update_useful_links', body, key);
const names = async (): Promise<unknown> =>
  ((await client.get('/public/model_hub', '')).body as unknown as readonly Json[]).map((one) => one['model_group']);
const info = (links: Json) => ({
  status: 200,
  body: { docs_title: 'Lensgate API', custom_docs_description: null, litellm_version: VERSION, useful_links: links },
});
const refused = (message: string, role: string) => ({
  status: 403,
  body: { error: { message: `${message}, role= ${role}.`, type: 'auth_error', param: 'None', code: '403' } },
});
const missing = (member: string) => ({
  status: 422,
  body: { detail: [{ type: 'missing', loc: ['body', member], msg: 'Field required' }] },
});

it('service.publishModels 200: replaces the public models at once; the change is in the audit log', async () => {
  expect(await names()).toEqual([]);
  expect(await publish({ model_groups: ['b'] })).toEqual({
    status: 200,
    body: {
      message: 'Successfully updated public model groups',
      public_model_groups: ['b'],
      updated_by: 'default_user_id',
    },
  });
  expect(await names()).toEqual(['b']);
  expect((await publish({ model_groups: ['a', 'b'] })).status).toBe(200);
  expect(await names()).toEqual(['a', 'b']);
  const { body } = await client.get('/audit?page_size=1&sort_by=updated_at&sort_order=desc');
  expect(JSON.stringify(body)).toContain('public_model_groups');
});

it('service.publishModels 404: an unknown model changes nothing', async () => {
  await publish({ model_groups: ['a'] });
  expect(await publish({ model_groups: ['b', 'nope'] })).toEqual({
    status: 404,
    body: { detail: { error: "Model 'nope' not found. No model was published." } },
  });
  expect(await names()).toEqual(['a']);
});

it('service.updateHubLinks 200, service.modelHubInfo 200: replaces the links', async () => {
  const links = { Docs: 'https://docs.test/a', Help: { url: 'http://help.test', index: 1 } };
  expect(await link({ useful_links: links })).toEqual({
    status: 200,
    body: { message: 'Successfully updated useful links', useful_links: links },
  });
  expect(await client.get('/public/model_hub/info', '')).toEqual(info(links));
  expect((await link({ useful_links: {} })).status).toBe(200);
  expect(await client.get('/public/model_hub/info', '')).toEqual(info({}));
});

it('service.updateHubLinks 400: addresses that are not of the web', async () => {
  for (const address of ['javascript:alert(1)', 1, { index: 1 }, 'https://'])
    expect(await link({ useful_links: { Docs: address } })).toEqual({
      status: 400,
      body: { detail: { error: "useful_links: 'Docs' must be an http:// or https:// address, or an object with url" } },
    });
});

it('service.updateHubLinks 400: too many links, and titles that are too long or empty', async () => {
  const links = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, 'https://docs.test']));
  expect((await link({ useful_links: links(100) })).status).toBe(200);
  const invalid = (error: string) => ({ status: 400, body: { detail: { error } } });
  expect(await link({ useful_links: links(101) })).toEqual(invalid('useful_links can have at most 100 links'));
  for (const title of ['', 'x'.repeat(257)])
    expect(await link({ useful_links: { [title]: 'https://docs.test' } })).toEqual(
      invalid('A title of useful_links must have 1 to 256 characters'),
    );
});

it('service.publishModels 400, service.updateHubLinks 400: settings of the file, and settings that are not stored', async () => {
  for (const [path, body] of [
    ['/model_group/make_public', { model_groups: ['b'] }],
    ['/model_hub/update_useful_links', { useful_links: {} }],
  ] as const) {
    expect((await ofFile.post(path, body)).status).toBe(400);
    expect(await notStored.post(path, body)).toEqual({
      status: 400,
      body: { detail: { error: "Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature." } },
    });
  }
  expect(await ofFile.get('/public/model_hub/info', '')).toEqual(info({ Docs: 'https://docs.test' }));
});

it('service.publishModels 401, service.updateHubLinks 401, service.publishModels 403, service.updateHubLinks 403: who may not', async () => {
  const viewer = await client.user({ user_role: 'proxy_admin_viewer' });
  for (const change of [publish, link]) {
    expect(await change({}, '')).toEqual(NO_KEY);
    expect(await change({ model_groups: [], useful_links: {} }, viewer)).toEqual(
      refused('user not allowed to access this route', 'proxy_admin_viewer'),
    );
  }
});

it('service.publishModels 422, service.updateHubLinks 422: missing members', async () => {
  expect(await publish({})).toEqual(missing('model_groups'));
  expect(await link({})).toEqual(missing('useful_links'));
});
