import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

const FILE_PARAMS = { guardrail: 'presidio', mode: 'pre_call', api_key: 'sk-file', default_on: false };

let app: TestApp;
let userKey: string;
let viewerKey: string;

beforeAll(async () => {
  app = await startApp({
    config: {
      guardrails: [{ guardrail_name: 'of-file', litellm_params: FILE_PARAMS, guardrail_info: { a: 1 } }],
    },
  });
  userKey = await keyFrom('/key/generate', { user_id: 'someone' });
  viewerKey = await keyFrom('/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer' });
});
afterAll(() => app.stop());

async function keyFrom(path: string, body: Json): Promise<string> {
  return String((await ask('POST', path, body))[1]['key']);
}

async function ask(method: string, path: string, body?: unknown, key = app.adminKey): Promise<readonly [number, Json]> {
  const answer = await app.call(method, path, body, { authorization: `Bearer ${key}` });
  return [answer.status, (await answer.json()) as Json];
}

const PARAMS = {
  guardrail: 'litellm_content_filter',
  mode: 'pre_call',
  blocked_words: [{ keyword: 'bad', action: 'BLOCK' }],
};
let number = 0;
const aDraft = (differing: Json = {}): Json => {
  number += 1;
  return { guardrail_name: `g${number}`, litellm_params: PARAMS, guardrail_info: { i: 1 }, ...differing };
};
const create = (guardrail: Json, key?: string) => ask('POST', '/guardrails', { guardrail }, key);
const created = async (differing: Json = {}): Promise<string> =>
  String((await create(aDraft(differing)))[1]['guardrail_id']);

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const ID = expect.any(String) as string;
const row = (differing: Json): Json => ({
  guardrail_id: ID,
  litellm_params: PARAMS,
  guardrail_info: { i: 1 },
  created_at: TIME,
  updated_at: TIME,
  ...differing,
});
const changed = (differing: Json): Json =>
  row({ team_id: null, status: 'active', submitted_at: null, reviewed_at: null, ...differing });
const ofFile = (params: Json): Json => ({
  guardrail_id: ID,
  guardrail_name: 'of-file',
  litellm_params: params,
  guardrail_info: { a: 1 },
  created_at: null,
  updated_at: null,
  guardrail_definition_location: 'config',
});

const noKey = (): Json => ({
  error: {
    message: expect.stringContaining('No api key passed in') as string,
    type: 'auth_error',
    param: 'None',
    code: '401',
  },
});
const adminOnly = (): Json => ({
  error: { message: expect.stringContaining('proxy admin') as string, type: 'auth_error', param: 'None', code: '401' },
});
const readOnly = (): Json => ({
  error: {
    message: expect.stringContaining('proxy_admin_viewer') as string,
    type: 'auth_error',
    param: 'None',
    code: '403',
  },
});
/** A body that the row accepts; undefined for a row without one. */
const bodyFor = (method: string): Json | undefined => {
  if (method === 'PATCH') return {};
  return method === 'POST' || method === 'PUT' ? { guardrail: aDraft() } : undefined;
};
const missing = (...loc: readonly string[]): Json => ({
  type: 'missing',
  loc: ['body', ...loc],
  msg: 'Field required',
});

async function anonymous(method: string, path: string): Promise<readonly [number, Json]> {
  const answer = await fetch(`${app.url}${path}`, { method });
  return [answer.status, (await answer.json()) as Json];
}

const ROWS = [
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

describe('rows of guardrails', () => {
  it.each(ROWS)('%s 401: no key', async (_name, method, path) => {
    expect(await anonymous(method, path)).toEqual([401, noKey()]);
  });

  it.each(ROWS.filter(([name]) => name !== 'guardrails.list'))(
    '%s 401: a key of no administrator',
    async (_name, method, path) => {
      expect(await ask(method, path, bodyFor(method), userKey)).toEqual([401, adminOnly()]);
    },
  );

  it.each(ROWS.filter(([, method]) => method !== 'GET'))(
    '%s 403: a read-only administrator',
    async (_name, method, path) => {
      expect(await ask(method, path, bodyFor(method), viewerKey)).toEqual([403, readOnly()]);
    },
  );
});

describe('guardrails.list', () => {
  it('200: those of the file, without secrets', async () => {
    await created();
    const params = { ...FILE_PARAMS, api_key: 'REDACTED' };
    expect(await ask('GET', '/guardrails/list')).toEqual([200, { guardrails: [ofFile(params)] }]);
    expect(await ask('GET', '/guardrails/list', undefined, viewerKey)).toEqual([200, { guardrails: [ofFile(params)] }]);
  });

  it('200: kind and modes only, for every key', async () => {
    const params = { guardrail: 'presidio', mode: ['pre_call'], default_on: false };
    expect(await ask('GET', '/guardrails/list', undefined, userKey)).toEqual([200, { guardrails: [ofFile(params)] }]);
  });
});

describe('guardrails.listAll', () => {
  it('200: those of the file, then stored ones', async () => {
    const id = await created({ litellm_params: { ...PARAMS, api_key: 'os.environ/GUARD', headers: { x: 'y' } } });
    const [status, body] = await ask('GET', '/v2/guardrails/list', undefined, viewerKey);
    const rows = body['guardrails'] as readonly Json[];
    expect([status, rows[0], rows.at(-1)]).toEqual([
      200,
      ofFile({ ...FILE_PARAMS, api_key: 'REDACTED' }),
      row({
        guardrail_id: id,
        guardrail_name: `g${number}`,
        litellm_params: { ...PARAMS, api_key: 'os.environ/GUARD', headers: { x: 'REDACTED' } },
        guardrail_definition_location: 'db',
      }),
    ]);
  });
});

describe('guardrails.create', () => {
  it('200: the guardrail', async () => {
    const [status, body] = await create({ guardrail_name: 'new', litellm_params: PARAMS });
    const expected = { guardrail_id: ID, guardrail_name: 'new', litellm_params: PARAMS, guardrail_info: null };
    expect([status, body]).toEqual([200, expected]);
    const stored = row({ ...expected, guardrail_definition_location: 'db' });
    expect(await ask('GET', `/guardrails/${String(body['guardrail_id'])}`)).toEqual([200, stored]);
  });

  it('200: an id of the caller', async () => {
    expect((await create(aDraft({ guardrail_id: 'own', team_id: 't' })))[1]['guardrail_id']).toBe('own');
    expect(await create(aDraft({ guardrail_id: 'own' }))).toEqual([
      409,
      { detail: "Guardrail 'g" + number + "' already exists" },
    ]);
  });

  it.each([
    [{ litellm_params: { guardrail: 'zzz', mode: 'pre_call' } }, 'Unsupported guardrail: zzz'],
    [{ litellm_params: { mode: 'pre_call' } }, 'litellm_params.guardrail must name the kind of the guardrail'],
    [
      { litellm_params: { ...PARAMS, mode: 'precall' } },
      'litellm_params.mode must be one or more of pre_call, during_call, post_call, logging_only, pre_mcp_call, ' +
        'during_mcp_call, post_mcp_call, realtime_input_transcription',
    ],
    [
      { litellm_params: { ...PARAMS, mode: ['pre_mcp_call'] } },
      'litellm_params.mode names no mode in which guardrails run here',
    ],
    [{ litellm_params: { ...PARAMS, default_on: 'yes' } }, 'litellm_params.default_on is neither true nor false'],
    [{ guardrail_name: ' ' }, 'guardrail_name must not be blank'],
    [{ guardrail_name: 'a,b' }, 'guardrail_name must have no comma and no control character'],
    [{ guardrail_name: 'a\0' }, 'guardrail_name must have no comma and no control character'],
    [{ guardrail_name: 'x'.repeat(257) }, 'guardrail_name must have at most 256 characters'],
  ])('400: what could not run: %j', async (differing, message) => {
    expect(await create(aDraft(differing))).toEqual([400, { detail: `Guardrail configuration error: ${message}` }]);
  });

  it('409: a name that is taken, by a stored guardrail or by the file', async () => {
    await create({ guardrail_name: 'taken', litellm_params: PARAMS });
    expect(await create({ guardrail_name: 'taken', litellm_params: PARAMS })).toEqual([
      409,
      { detail: "Guardrail 'taken' already exists" },
    ]);
    expect(await create({ guardrail_name: 'of-file', litellm_params: PARAMS })).toEqual([
      409,
      { detail: "Guardrail 'of-file' already exists in the configuration file" },
    ]);
  });

  it('422: without its members, or with wrong ones', async () => {
    expect(await ask('POST', '/guardrails', {})).toEqual([422, { detail: [missing('guardrail')] }]);
    expect(await create({})).toEqual([
      422,
      { detail: [missing('guardrail', 'guardrail_name'), missing('guardrail', 'litellm_params')] },
    ]);
    const wrong = {
      type: 'dict_type',
      loc: ['body', 'guardrail', 'litellm_params'],
      msg: 'Input should be a valid dictionary',
    };
    expect(await create(aDraft({ litellm_params: 'x' }))).toEqual([422, { detail: [wrong] }]);
    expect(await create(aDraft({ litellm_params: null }))).toEqual([422, { detail: [wrong] }]);
  });
});

const unknown = (id: string): Json => ({ detail: `Guardrail with ID ${id} not found` });
const fixed = (id: string): Json => ({ detail: `The guardrail ${id} is in the configuration file. Change it there.` });

async function idOfFile(): Promise<string> {
  const [, { guardrails }] = await ask('GET', '/guardrails/list');
  return String((guardrails as readonly Json[])[0]?.['guardrail_id']);
}

describe('guardrails.get', () => {
  it('200: one guardrail, on both paths', async () => {
    const id = await created();
    const expected = row({ guardrail_id: id, guardrail_name: `g${number}`, guardrail_definition_location: 'db' });
    expect(await ask('GET', `/guardrails/${id}`)).toEqual([200, expected]);
    expect(await ask('GET', `/guardrails/${id}/info`, undefined, viewerKey)).toEqual([200, expected]);
    expect((await ask('GET', `/guardrails/${await idOfFile()}`))[0]).toBe(200);
  });

  it('404: an unknown id', async () => {
    expect(await ask('GET', '/guardrails/nope')).toEqual([404, unknown('nope')]);
  });
});

describe('guardrails.replace', () => {
  it('200: the whole guardrail is replaced, except secrets that are shown as redacted', async () => {
    const id = await created({ litellm_params: { ...PARAMS, api_key: 'sk-guard', timeout: 3 } });
    const params = { guardrail: 'generic_guardrail_api', mode: ['post_call'], api_key: 'REDACTED', default_on: true };
    const name = `g${number}-new`;
    expect(
      await ask('PUT', `/guardrails/${id}`, { guardrail: { guardrail_name: name, litellm_params: params } }),
    ).toEqual([200, changed({ guardrail_id: id, guardrail_name: name, litellm_params: params, guardrail_info: null })]);
  });

  it('400, 404, 409, 422: guardrails.replace refuses what guardrails.create refuses', async () => {
    const id = await created();
    const put = (guardrail: Json | undefined, at = id) => ask('PUT', `/guardrails/${at}`, { guardrail });
    expect(await put(aDraft({ litellm_params: { guardrail: 'zzz', mode: 'pre_call' } }))).toEqual([
      400,
      { detail: 'Guardrail configuration error: Unsupported guardrail: zzz' },
    ]);
    expect(await put(aDraft(), 'nope')).toEqual([404, unknown('nope')]);
    expect(await put(aDraft({ guardrail_name: 'of-file' }))).toEqual([
      409,
      { detail: "Guardrail 'of-file' already exists in the configuration file" },
    ]);
    const file = await idOfFile();
    expect(await put(aDraft(), file)).toEqual([409, fixed(file)]);
    expect(await put(undefined)).toEqual([422, { detail: [missing('guardrail')] }]);
  });
});

describe('guardrails.update', () => {
  it('200: only what was sent is changed', async () => {
    const id = await created({ litellm_params: { ...PARAMS, api_key: 'sk-guard', timeout: 3 } });
    const patch = (body: Json) => ask('PATCH', `/guardrails/${id}`, body);
    const name = `g${number}-b`;
    const params = { ...PARAMS, api_key: 'REDACTED', timeout: 3 };
    expect(await patch({ guardrail_name: name })).toEqual([
      200,
      changed({ guardrail_id: id, guardrail_name: name, litellm_params: params }),
    ]);
    expect(await patch({ litellm_params: { timeout: null, api_key: 'REDACTED', default_on: true } })).toEqual([
      200,
      changed({
        guardrail_id: id,
        guardrail_name: name,
        litellm_params: { ...PARAMS, api_key: 'REDACTED', default_on: true },
      }),
    ]);
    expect(await patch({ guardrail_info: null, team_id: 't' })).toMatchObject([
      200,
      { guardrail_info: null, team_id: 't' },
    ]);
  });

  it('400: what could not run', async () => {
    const id = await created();
    expect(await ask('PATCH', `/guardrails/${id}`, { litellm_params: { mode: null } })).toMatchObject([
      400,
      { detail: expect.stringMatching(/^Guardrail configuration error: litellm_params.mode must be/) },
    ]);
  });

  it('404: an unknown id', async () => {
    expect(await ask('PATCH', '/guardrails/nope', {})).toEqual([404, unknown('nope')]);
  });

  it('409: a guardrail of the file, and a name that is taken', async () => {
    const file = await idOfFile();
    expect(await ask('PATCH', `/guardrails/${file}`, {})).toEqual([409, fixed(file)]);
    const [one, two] = [aDraft(), await created()];
    await create(one);
    expect(await ask('PATCH', `/guardrails/${two}`, { guardrail_name: one['guardrail_name'] })).toEqual([
      409,
      { detail: `Guardrail '${String(one['guardrail_name'])}' already exists` },
    ]);
  });

  it('422: a wrong type', async () => {
    const wrong = { type: 'string_type', loc: ['body', 'guardrail_name'], msg: 'Input should be a valid string' };
    expect(await ask('PATCH', `/guardrails/${await created()}`, { guardrail_name: 1 })).toEqual([
      422,
      { detail: [wrong] },
    ]);
  });
});

describe('guardrails.delete', () => {
  it('200: it is gone', async () => {
    const id = await created();
    expect(await ask('DELETE', `/guardrails/${id}`)).toEqual([
      200,
      { message: `Guardrail ${id} deleted successfully` },
    ]);
    expect(await ask('GET', `/guardrails/${id}`)).toEqual([404, unknown(id)]);
  });

  it('404: an unknown id', async () => {
    expect(await ask('DELETE', '/guardrails/nope')).toEqual([404, unknown('nope')]);
  });

  it('409: a guardrail of the file', async () => {
    const file = await idOfFile();
    expect(await ask('DELETE', `/guardrails/${file}`)).toEqual([409, fixed(file)]);
  });
});

describe('forms of guardrails', () => {
  it('guardrails.submissions 200: nothing waits for a review', async () => {
    expect(await ask('GET', '/guardrails/submissions')).toEqual([
      200,
      { submissions: [], summary: { total: 0, pending_review: 0, active: 0, rejected: 0 } },
    ]);
  });

  it('guardrails.settings 200: what runs here', async () => {
    const [status, body] = await ask('GET', '/guardrails/ui/add_guardrail_settings');
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
          presidio: modes,
        },
        providers_without_directional_logging_only_scope: [],
        pii_entity_categories: expect.arrayContaining([
          { category: 'Finance', entities: ['CREDIT_CARD', 'CRYPTO', 'IBAN_CODE'] },
        ]),
        content_filter_settings: {
          prebuilt_patterns: [],
          pattern_categories: [],
          supported_actions: ['BLOCK', 'MASK'],
          content_categories: [],
        },
        decision_model_providers: [],
      },
    ]);
  });

  it('guardrails.kinds 200: the settings of each kind', async () => {
    const [status, body] = await ask('GET', '/guardrails/ui/provider_specific_params');
    expect([status, Object.keys(body)]).toEqual([
      200,
      [
        'litellm_content_filter',
        'hide-secrets',
        'openai_moderation',
        'generic_guardrail_api',
        'decision_model',
        'presidio',
      ],
    ]);
    expect(body['hide-secrets']).toEqual({ ui_friendly_name: 'Hidden secrets' });
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

  it('guardrails.airlines 200: none', async () => {
    expect(await ask('GET', '/guardrails/ui/major_airlines')).toEqual([200, { airlines: [] }]);
  });

  it('guardrails.category 404: none exists', async () => {
    expect(await ask('GET', '/guardrails/ui/category_yaml/nope')).toEqual([
      404,
      { detail: 'Category file not found: nope (tried .yaml and .json)' },
    ]);
  });
});

describe('changes of guardrails', () => {
  it('are recorded without params', async () => {
    const id = await created({ litellm_params: { ...PARAMS, api_key: 'sk-guard', default_on: true } });
    const [, { audit_logs: logs }] = await ask('GET', `/audit?object_id=${id}`);
    expect(logs).toMatchObject([{ action: 'created', object_id: id }]);
    const text = JSON.stringify(logs);
    expect(text).not.toContain('sk-guard');
    expect(text).not.toContain('blocked_words');
    expect(text).toContain('default_on');
  });
});
