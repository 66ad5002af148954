import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aDraft,
  type Answer,
  FILE_PARAMS,
  type GuardrailServer,
  ID,
  type Json,
  latestName,
  notFoundBody,
  PARAMS,
  row,
  startGuardrailServer,
} from './guardrail-server.ts';

let server: GuardrailServer;
let userKey: string;
let viewerKey: string;

beforeAll(async () => {
  server = await startGuardrailServer();
  const keyFrom = async (path: string, body: Json) => String((await server.ask('POST', path, body))[1]['key']);
  userKey = await keyFrom('/key/generate', { user_id: 'someone' });
  viewerKey = await keyFrom('/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer' });
});
afterAll(() => server.app.stop());

const fileGuardrail = (params: Json): Json => ({
  guardrail_id: ID,
  guardrail_name: 'of-file',
  litellm_params: params,
  guardrail_info: { a: 1 },
  created_at: null,
  updated_at: null,
  guardrail_definition_location: 'config',
});

const noKeyError = (): Json => ({
  error: {
    message: expect.stringContaining('No api key passed in') as string,
    type: 'auth_error',
    param: 'None',
    code: '401',
  },
});
const adminOnlyError = (): Json => ({
  error: { message: expect.stringContaining('proxy admin') as string, type: 'auth_error', param: 'None', code: '401' },
});
const readOnlyError = (): Json => ({
  error: {
    message: expect.stringContaining('proxy_admin_viewer') as string,
    type: 'auth_error',
    param: 'None',
    code: '403',
  },
});
/** Valid body for a method; undefined for GET and DELETE. */
const bodyFor = (method: string): Json | undefined => {
  if (method === 'PATCH') return {};
  return method === 'POST' || method === 'PUT' ? { guardrail: aDraft() } : undefined;
};
async function askWithoutKey(method: string, path: string): Promise<Answer> {
  const answer = await fetch(`${server.app.url}${path}`, { method });
  return [answer.status, (await answer.json()) as Json];
}

const ROUTES = [
  ['guardrails.list', 'GET', '/guardrails/list'],
  ['guardrails.listAll', 'GET', '/v2/guardrails/list'],
  ['guardrails.submissions', 'GET', '/guardrails/submissions'],
  ['guardrails.settings', 'GET', '/guardrails/ui/add_guardrail_settings'],
  ['guardrails.kinds', 'GET', '/guardrails/ui/provider_specific_params'],
  ['guardrails.airlines', 'GET', '/guardrails/ui/major_airlines'],
  ['guardrails.category', 'GET', '/guardrails/ui/category_yaml/x'],
  ['guardrails.create', 'POST', '/guardrails'],
  ['guardrails.get', 'GET', '/guardrails/x'],
  ['guardrails.replace', 'PUT', '/guardrails/x'],
  ['guardrails.update', 'PATCH', '/guardrails/x'],
  ['guardrails.delete', 'DELETE', '/guardrails/x'],
] as const;

describe('routes of guardrails', () => {
  it.each(ROUTES)('%s 401: no key', async (_name, method, path) => {
    expect(await askWithoutKey(method, path)).toEqual([401, noKeyError()]);
  });

  it.each(ROUTES.filter(([name]) => name !== 'guardrails.list'))(
    '%s 401: the key of a user who is not an administrator',
    async (_name, method, path) => {
      expect(await server.ask(method, path, bodyFor(method), userKey)).toEqual([401, adminOnlyError()]);
    },
  );

  it.each(ROUTES.filter(([, method]) => method !== 'GET'))(
    '%s 403: a read-only administrator',
    async (_name, method, path) => {
      expect(await server.ask(method, path, bodyFor(method), viewerKey)).toEqual([403, readOnlyError()]);
    },
  );
});

describe('guardrails.list', () => {
  it('200: only guardrails of the configuration file, without secrets', async () => {
    await server.createAndGetId();
    const params = { ...FILE_PARAMS, api_key: 'REDACTED' };
    expect(await server.ask('GET', '/guardrails/list')).toEqual([200, { guardrails: [fileGuardrail(params)] }]);
    expect(await server.ask('GET', '/guardrails/list', undefined, viewerKey)).toEqual([
      200,
      { guardrails: [fileGuardrail(params)] },
    ]);
  });

  it('200: a user key sees only kind, modes and `default_on` of the settings', async () => {
    const params = { guardrail: 'presidio', mode: ['pre_call'], default_on: false };
    expect(await server.ask('GET', '/guardrails/list', undefined, userKey)).toEqual([
      200,
      { guardrails: [fileGuardrail(params)] },
    ]);
  });
});

describe('guardrails.listAll', () => {
  it('200: guardrails of the configuration file, then stored guardrails, without secrets', async () => {
    const id = await server.createAndGetId({
      litellm_params: { ...PARAMS, api_key: 'os.environ/GUARD', headers: { x: 'y' } },
    });
    const [status, body] = await server.ask('GET', '/v2/guardrails/list', undefined, viewerKey);
    const rows = body['guardrails'] as readonly Json[];
    expect([status, rows[0], rows.at(-1)]).toEqual([
      200,
      fileGuardrail({ ...FILE_PARAMS, api_key: 'REDACTED' }),
      row({
        guardrail_id: id,
        guardrail_name: latestName(),
        // The name of an environment variable is not a secret.
        litellm_params: { ...PARAMS, api_key: 'os.environ/GUARD', headers: { x: 'REDACTED' } },
        guardrail_definition_location: 'db',
      }),
    ]);
  });
});

describe('guardrails.get', () => {
  it('200: one guardrail, on both paths', async () => {
    const id = await server.createAndGetId();
    const expected = row({ guardrail_id: id, guardrail_name: latestName(), guardrail_definition_location: 'db' });
    expect(await server.ask('GET', `/guardrails/${id}`)).toEqual([200, expected]);
    expect(await server.ask('GET', `/guardrails/${id}/info`, undefined, viewerKey)).toEqual([200, expected]);
    expect((await server.ask('GET', `/guardrails/${await server.idOfFileGuardrail()}`))[0]).toBe(200);
  });

  it('404: an unknown id', async () => {
    expect(await server.ask('GET', '/guardrails/nope')).toEqual([404, notFoundBody('nope')]);
  });
});

describe('information for forms in which guardrails are edited', () => {
  it('guardrails.submissions 200: an empty list', async () => {
    expect(await server.ask('GET', '/guardrails/submissions')).toEqual([
      200,
      { submissions: [], summary: { total: 0, pending_review: 0, active: 0, rejected: 0 } },
    ]);
  });

  it('guardrails.settings 200: supported modes, entities and actions', async () => {
    const [status, body] = await server.ask('GET', '/guardrails/ui/add_guardrail_settings');
    const modes = ['pre_call', 'during_call', 'post_call', 'logging_only'];
    expect([status, body]).toEqual([
      200,
      {
        supported_entities: expect.arrayContaining(['EMAIL_ADDRESS', 'IBAN_CODE', 'DE_TAX_ID']),
        supported_actions: ['BLOCK', 'MASK'],
        supported_modes: modes,
        supported_modes_by_provider: {
          litellm_content_filter: modes,
          'hide-secrets': modes,
          openai_moderation: modes,
          generic_guardrail_api: modes,
          decision_model: modes,
          tool_policy: ['pre_call', 'during_call', 'post_call'],
          presidio: modes,
        },
        providers_without_directional_logging_only_scope: [],
        pii_entity_categories: expect.arrayContaining([
          { category: 'Finance', entities: ['CREDIT_CARD', 'CRYPTO', 'IBAN_CODE'] },
        ]),
        content_filter_settings: {
          prebuilt_patterns: expect.arrayContaining([
            { name: 'iban', display_name: 'iban', category: 'Patterns', description: '' },
          ]) as unknown,
          pattern_categories: ['Patterns'],
          supported_actions: ['BLOCK', 'MASK'],
          content_categories: [],
        },
        decision_model_providers: [],
      },
    ]);
  });

  it('guardrails.kinds 200: the settings of each kind', async () => {
    const [status, body] = await server.ask('GET', '/guardrails/ui/provider_specific_params');
    expect([status, Object.keys(body)]).toEqual([
      200,
      [
        'litellm_content_filter',
        'hide-secrets',
        'openai_moderation',
        'generic_guardrail_api',
        'decision_model',
        'tool_policy',
        'presidio',
      ],
    ]);
    expect(body['hide-secrets']).toEqual({ ui_friendly_name: 'Secret filter' });
    expect(body['generic_guardrail_api']).toMatchObject({
      api_base: { type: 'string', description: 'Address of the service.', required: true },
      unreachable_fallback: {
        type: 'select',
        required: false,
        options: ['fail_closed', 'fail_open'],
        default_value: 'fail_closed',
      },
      ui_friendly_name: 'Own guardrail server',
    });
  });

  it('guardrails.airlines 200: an empty list', async () => {
    expect(await server.ask('GET', '/guardrails/ui/major_airlines')).toEqual([200, { airlines: [] }]);
  });

  it('guardrails.category 404: an unknown category', async () => {
    expect(await server.ask('GET', '/guardrails/ui/category_yaml/nope')).toEqual([
      404,
      { detail: 'Category file not found: nope (tried .yaml and .json)' },
    ]);
  });
});

describe('the audit log entry of a new guardrail', () => {
  it('has `default_on`, and neither secrets nor blocked words', async () => {
    const id = await server.createAndGetId({ litellm_params: { ...PARAMS, api_key: 'sk-guard', default_on: true } });
    const [, { audit_logs: logs }] = await server.ask('GET', `/audit?object_id=${id}`);
    expect(logs).toMatchObject([{ action: 'created', object_id: id }]);
    const text = JSON.stringify(logs);
    expect(text).not.toContain('sk-guard');
    expect(text).not.toContain('blocked_words');
    expect(text).toContain('default_on');
  });
});
