import { expect, it } from 'vitest';
import { chat, envelope, tenancyClient } from '../../support/tenancy-client.ts';

const unreachable = { model: 'openai/m', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };

const { app, send, get, post, key, user } = tenancyClient({
  env: { STORE_MODEL_IN_DB: 'True', LITELLM_SALT_KEY: 'a-salt-key' },
  config: {
    model_list: [
      { model_name: 'works', litellm_params: { model: 'demo' } },
      { model_name: 'away', litellm_params: unreachable },
      { model_name: 'team/away', litellm_params: unreachable },
      { model_name: 'filed', litellm_params: unreachable },
    ],
    router_settings: { num_retries: 0, disable_cooldowns: true, fallbacks: [{ filed: ['works'] }] },
  },
});

const call = async (model: string) => {
  const answer = await app().call('POST', '/v1/chat/completions', chat(model));
  return [answer.status, answer.headers.get('x-litellm-attempted-fallbacks')];
};
const detail = (status: number, error: string) => ({ status, body: { detail: { error } } });
const setFallbacks = (model: string, targets: unknown, members: object = {}, callerKey?: string) =>
  post('/fallback', { model, fallback_models: targets, ...members }, callerKey);
const deleteFallbacks = (path: string, callerKey?: string) => send('DELETE', path, undefined, callerKey);
const FILE_REFUSED = detail(400, "The general fallbacks of the model 'filed' are set in the configuration file.");
const ADMIN_ONLY = envelope(
  401,
  'Only proxy admin can be used to generate, delete, update info for new keys/users/teams. Your role=internal_user.',
  'auth_error',
  'None',
);
const NOT_CONFIGURED = detail(404, "No general fallbacks configured for model 'away'");

it('fallbacks.set 200: calls use the list immediately; a second write replaces it', async () => {
  expect(await call('away')).toEqual([500, null]);
  const body = { model: 'away', fallback_models: ['works'], fallback_type: 'general' };
  expect(await setFallbacks('away', ['filed'])).toEqual({
    status: 200,
    body: { ...body, fallback_models: ['filed'], message: 'Fallback configuration created successfully' },
  });
  expect(await setFallbacks('away', ['works'])).toEqual({
    status: 200,
    body: { ...body, message: 'Fallback configuration updated successfully' },
  });
  expect(await call('away')).toEqual([200, '1']);
});

it('fallbacks.set 404: an unknown model; 400: unknown fallbacks, the model itself, a model of the file', async () => {
  expect(await setFallbacks('nope', ['works'])).toEqual(detail(404, "Model 'nope' not found in router"));
  expect(await setFallbacks('away', ['works', 'a', 'b'])).toEqual(
    detail(400, 'Fallback models not found in router: a, b'),
  );
  expect(await setFallbacks('away', ['away'])).toEqual(detail(400, "Model 'away' cannot be its own fallback"));
  expect(await setFallbacks('filed', ['away'])).toEqual(FILE_REFUSED);
});

it('fallbacks.set 401: no key, a user key; 403: a read-only administrator; 422: invalid lists and types', async () => {
  expect((await setFallbacks('away', ['works'], {}, '')).status).toBe(401);
  expect(await setFallbacks('away', ['works'], {}, await key({}))).toEqual(ADMIN_ONLY);
  expect((await setFallbacks('away', ['works'], {}, await user({ user_role: 'proxy_admin_viewer' }))).status).toBe(403);
  const fault = (type: string, member: string, msg: string) => ({
    status: 422,
    body: { detail: [{ type, loc: ['body', member], msg }] },
  });
  expect(await setFallbacks('away', [])).toEqual(
    fault('too_short', 'fallback_models', 'List should have at least 1 item after validation, not 0'),
  );
  expect(await setFallbacks('away', ['works', 'works'])).toEqual(
    fault('value_error', 'fallback_models', 'Value error, a model is named more than once'),
  );
  expect(await setFallbacks('away', ['works'], { fallback_type: 'x' })).toEqual(
    fault('enum', 'fallback_type', "Input should be 'general', 'context_window' or 'content_policy'"),
  );
});

it('fallbacks.get 200: fallbacks of the database and of the file, by type, and for a name with a slash', async () => {
  await setFallbacks('team/away', ['works'], { fallback_type: 'context_window' });
  const bodyOf = async (path: string) => (await get(path)).body;
  expect(await bodyOf('/fallback/away')).toEqual({
    model: 'away',
    fallback_models: ['works'],
    fallback_type: 'general',
  });
  expect(await bodyOf('/fallback/filed')).toEqual({
    model: 'filed',
    fallback_models: ['works'],
    fallback_type: 'general',
  });
  expect(await bodyOf('/fallback/team/away?fallback_type=context_window')).toEqual({
    model: 'team/away',
    fallback_models: ['works'],
    fallback_type: 'context_window',
  });
});

it('models.list 200: fallbacks of the given type, without models that the key may not call', async () => {
  const metadataOf = async (query: string, callerKey?: string) =>
    ((await get(`/v1/models?${query}`, callerKey)).body['data'] as readonly { id: string; metadata?: object }[])
      .filter(({ id }) => id === 'filed' || id === 'team/away')
      .map(({ metadata }) => metadata);
  // In the order of the configuration: `team/away`, then `filed`.
  expect(await metadataOf('')).toEqual([undefined, undefined]);
  expect(await metadataOf('include_metadata=true')).toEqual([{ fallbacks: [] }, { fallbacks: ['works'] }]);
  const byType = 'include_metadata=true&fallback_type=context_window';
  expect(await metadataOf(byType)).toEqual([{ fallbacks: ['works'] }, { fallbacks: [] }]);
  expect(await metadataOf('include_metadata=true', await key({ models: ['filed'] }))).toEqual([{ fallbacks: [] }]);
});

it('fallbacks.get 401: no key, a user key; 404: no fallbacks; 422: an unknown type', async () => {
  expect((await get('/fallback/away', '')).status).toBe(401);
  expect((await get('/fallback/away', await key({}))).status).toBe(401);
  expect(await get('/fallback/works')).toEqual(detail(404, "No general fallbacks configured for model 'works'"));
  expect(await get('/fallback/away?fallback_type=x')).toEqual({
    status: 422,
    body: {
      detail: [
        {
          type: 'enum',
          loc: ['query', 'fallback_type'],
          msg: "Input should be 'general', 'context_window' or 'content_policy'",
        },
      ],
    },
  });
});

it('fallbacks.delete 200: calls fail again; 404: no fallbacks', async () => {
  expect(await deleteFallbacks('/fallback/away')).toEqual({
    status: 200,
    body: { model: 'away', fallback_type: 'general', message: 'Fallback configuration deleted successfully' },
  });
  expect(await call('away')).toEqual([500, null]);
  expect(await deleteFallbacks('/fallback/away')).toEqual(NOT_CONFIGURED);
});

it('fallbacks.delete 400: a model of the file; 401: no key, a user key; 403: a read-only administrator; 422: an unknown type', async () => {
  expect(await deleteFallbacks('/fallback/filed')).toEqual(FILE_REFUSED);
  expect((await deleteFallbacks('/fallback/away', '')).status).toBe(401);
  expect(await deleteFallbacks('/fallback/away', await key({}))).toEqual(ADMIN_ONLY);
  expect((await deleteFallbacks('/fallback/away', await user({ user_role: 'proxy_admin_viewer' }))).status).toBe(403);
  expect((await deleteFallbacks('/fallback/away?fallback_type=x')).status).toBe(422);
});
