import { expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../../src/domain/chat/provider.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { type Json, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';

const demo = (name: string) => ({ model_name: name, litellm_params: { model: 'demo' } });
const { app, get } = tenancyClient({
  config: {
    general_settings: { demo_model: false },
    model_list: [demo('a'), demo('b'), demo('b'), demo('hidden')],
    litellm_settings: { public_model_groups: ['b', 'a', 'nope'] },
  },
});

it('service.test, service.robots, service.providers, service.modelHubInfo 200: without a key', async () => {
  expect(await get('/test', '')).toEqual({ status: 200, body: { route: '/test' } });
  const robots = await fetch(`${app().url}/robots.txt`);
  expect([robots.status, await robots.text()]).toEqual([200, 'User-agent: *\nDisallow: /\n']);
  const providers = await get('/public/providers', '');
  expect(providers).toEqual({ status: 200, body: PROVIDER_NAMES.toSorted() });
  expect(await get('/public/model_hub/info', '')).toEqual({
    status: 200,
    body: { docs_title: 'Lensgate API', custom_docs_description: null, litellm_version: VERSION, useful_links: {} },
  });
});

it('service.clientEvents 200: telemetry of any form is accepted without a key', async () => {
  for (const body of ['{"events":[{"event_type":"x"}]}', '', 'no json']) {
    const answer = await fetch(`${app().url}/api/event_logging/batch`, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  }
});

it('service.routes 200: paths with their methods', async () => {
  const { status, body } = await get('/routes', '');
  expect(status).toBe(200);
  expect(body['routes']).toContainEqual({
    path: '/v1/chat/completions',
    methods: ['POST'],
    name: 'chat.completions',
    endpoint: 'chat.completions',
  });
});

it('service.publicModels, service.publicModelPage 200: only published models', async () => {
  const names = (rows: unknown) => (rows as readonly Json[]).map((row) => row['model_group']);
  const allModels = await get('/public/model_hub', '');
  expect([allModels.status, names(allModels.body)]).toEqual([200, ['a', 'b']]);
  const page = await get('/public/v1/model_hub?page=2&page_size=1', '');
  expect({ ...page.body, data: names(page.body['data']) }).toEqual({
    data: ['b'],
    meta: { total_count: 2, page: 2, page_size: 1, total_pages: 2 },
    links: {
      self: '/public/v1/model_hub?page=2&page_size=1',
      first: '/public/v1/model_hub?page=1&page_size=1',
      prev: '/public/v1/model_hub?page=1&page_size=1',
      next: null,
      last: '/public/v1/model_hub?page=2&page_size=1',
    },
  });
  const previous = await get(String((page.body['links'] as Json)['prev']), '');
  expect({ ...previous.body, data: names(previous.body['data']) }).toMatchObject({
    data: ['a'],
    links: { next: '/public/v1/model_hub?page=2&page_size=1' },
  });
  expect((await get('/public/v1/model_hub', '')).body).toEqual({
    data: allModels.body,
    meta: { total_count: 2, page: 1, page_size: 50, total_pages: 1 },
    links: {
      self: '/public/v1/model_hub?page=1',
      first: '/public/v1/model_hub?page=1',
      prev: null,
      next: null,
      last: '/public/v1/model_hub?page=1',
    },
  });
  expect(JSON.stringify(allModels.body)).not.toContain('api_base');
});

it('service.publicModelPage 422: an invalid page number', async () => {
  expect((await get('/public/v1/model_hub?page=0', '')).status).toBe(422);
});

it('service.routerPresets 200: an empty list', async () => {
  expect(await get('/public/autorouter_presets', '')).toEqual({ status: 200, body: [] });
});

it('service.endpoints, service.latestRelease 200: without a key', async () => {
  const { status, body } = await get('/public/endpoints', '');
  const endpoints = body['endpoints'] as readonly { key: string; endpoint: string; providers: readonly Json[] }[];
  expect(status).toBe(200);
  expect(endpoints.map(({ key }) => key)).toEqual([
    'chat_completions',
    'messages',
    'responses',
    'text_completion',
    'generateContent',
    'count_tokens',
    'embeddings',
    'image_generations',
    'audio_transcriptions',
    'audio_speech',
    'moderations',
    'rerank',
    'ocr',
  ]);
  const providersOf = (key: string) => endpoints.find((endpoint) => endpoint.key === key)?.providers;
  expect(providersOf('chat_completions')).toContainEqual({ slug: 'anthropic', display_name: 'Anthropic' });
  expect(providersOf('embeddings')).toContainEqual({ slug: 'openai', display_name: 'OpenAI' });
  expect(providersOf('embeddings')).not.toContainEqual({ slug: 'anthropic', display_name: 'Anthropic' });
  expect(await get('/get/latest_release_info', '')).toEqual({ status: 200, body: null });
});

it('service.teamMetadata 200 and 401: with the admin key, and without a key', async () => {
  expect(await get('/team/metadata_schema')).toEqual({ status: 200, body: { fields: [] } });
  expect(await get('/team/metadata_schema', '')).toEqual(NO_KEY);
});
