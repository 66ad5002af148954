import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aDraft,
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

beforeAll(async () => {
  server = await startGuardrailServer();
});
afterAll(() => server.app.stop());

/** Guardrail in the answer to a change. It has more members than a guardrail in other answers. */
const changedRow = (overrides: Json): Json =>
  row({ team_id: null, status: 'active', submitted_at: null, reviewed_at: null, ...overrides });
const missingField = (...loc: readonly string[]): Json => ({
  type: 'missing',
  loc: ['body', ...loc],
  msg: 'Field required',
});

const fileGuardrailError = (id: string): Json => ({
  detail: `The guardrail ${id} is in the configuration file. Change it there.`,
});

describe('guardrails.create', () => {
  it('200: the guardrail is created and returned', async () => {
    const [status, body] = await server.create({ guardrail_name: 'new', litellm_params: PARAMS });
    const expected = { guardrail_id: ID, guardrail_name: 'new', litellm_params: PARAMS, guardrail_info: null };
    expect([status, body]).toEqual([200, expected]);
    const stored = row({ ...expected, guardrail_definition_location: 'db' });
    expect(await server.ask('GET', `/guardrails/${String(body['guardrail_id'])}`)).toEqual([200, stored]);
  });

  it('200, then 409: the caller chooses an id, and creates another guardrail with the same id', async () => {
    expect((await server.create(aDraft({ guardrail_id: 'own', team_id: 't' })))[1]['guardrail_id']).toBe('own');
    expect(await server.create(aDraft({ guardrail_id: 'own' }))).toEqual([
      409,
      { detail: `The name '${latestName()}' or the id own is that of another guardrail` },
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
  ])('400: an invalid guardrail is refused: %j', async (overrides, message) => {
    expect(await server.create(aDraft(overrides))).toEqual([
      400,
      { detail: `Guardrail configuration error: ${message}` },
    ]);
  });

  it.each([
    [{ guardrail: 'generic_guardrail_api', mode: 'pre_call', api_base: 'file:///x' }, /^api_base: /],
    [{ ...PARAMS, patterns: [{ pattern_type: 'regex', pattern: '(', name: 'x', action: 'BLOCK' }] }, /./],
  ])('400: settings that are invalid for the kind: %j', async (params, message) => {
    const [status, { detail }] = await server.create(aDraft({ litellm_params: params }));
    expect([status, detail]).toEqual([400, expect.stringMatching(/^Guardrail configuration error: /)]);
    expect(String(detail).slice('Guardrail configuration error: '.length)).toMatch(message);
  });

  it('409: a name that a stored guardrail or a guardrail of the configuration file has', async () => {
    await server.create({ guardrail_name: 'taken', litellm_params: PARAMS });
    expect(await server.create({ guardrail_name: 'taken', litellm_params: PARAMS })).toEqual([
      409,
      { detail: expect.stringMatching(/^The name 'taken' or the id [\w-]+ is that of another guardrail$/) as string },
    ]);
    expect(await server.create({ guardrail_name: 'of-file', litellm_params: PARAMS })).toEqual([
      409,
      { detail: "The name 'of-file' is that of a guardrail of the configuration file" },
    ]);
  });

  it('422: missing members, and wrong types', async () => {
    expect(await server.ask('POST', '/guardrails', {})).toEqual([422, { detail: [missingField('guardrail')] }]);
    expect(await server.create({})).toEqual([
      422,
      { detail: [missingField('guardrail', 'guardrail_name'), missingField('guardrail', 'litellm_params')] },
    ]);
    const wrong = {
      type: 'dict_type',
      loc: ['body', 'guardrail', 'litellm_params'],
      msg: 'Input should be a valid dictionary',
    };
    expect(await server.create(aDraft({ litellm_params: 'x' }))).toEqual([422, { detail: [wrong] }]);
    expect(await server.create(aDraft({ litellm_params: null }))).toEqual([422, { detail: [wrong] }]);
  });
});

describe('guardrails.replace', () => {
  it('200: all members are replaced; the answer shows the secret as REDACTED', async () => {
    const id = await server.createAndGetId({ litellm_params: { ...PARAMS, api_key: 'sk-guard', timeout: 3 } });
    const service = { guardrail: 'generic_guardrail_api', api_base: 'http://127.0.0.1:1/' };
    const params = { ...service, mode: ['post_call'], api_key: 'REDACTED', default_on: true };
    const name = `${latestName()}-new`;
    expect(
      await server.ask('PUT', `/guardrails/${id}`, { guardrail: { guardrail_name: name, litellm_params: params } }),
    ).toEqual([
      200,
      changedRow({ guardrail_id: id, guardrail_name: name, litellm_params: params, guardrail_info: null }),
    ]);
  });

  it('400: an unsupported kind; 404: an unknown id; 409: a name or guardrail of the configuration file; 422: no guardrail', async () => {
    const id = await server.createAndGetId();
    const put = (guardrail: Json | undefined, target = id) => server.ask('PUT', `/guardrails/${target}`, { guardrail });
    expect(await put(aDraft({ litellm_params: { guardrail: 'zzz', mode: 'pre_call' } }))).toEqual([
      400,
      { detail: 'Guardrail configuration error: Unsupported guardrail: zzz' },
    ]);
    expect(await put(aDraft(), 'nope')).toEqual([404, notFoundBody('nope')]);
    expect(await put(aDraft({ guardrail_name: 'of-file' }))).toEqual([
      409,
      { detail: "The name 'of-file' is that of a guardrail of the configuration file" },
    ]);
    const fileId = await server.idOfFileGuardrail();
    expect(await put(aDraft(), fileId)).toEqual([409, fileGuardrailError(fileId)]);
    expect(await put(undefined)).toEqual([422, { detail: [missingField('guardrail')] }]);
  });
});

describe('guardrails.update', () => {
  it('200: only the members of the body are changed', async () => {
    const id = await server.createAndGetId({ litellm_params: { ...PARAMS, api_key: 'sk-guard', timeout: 3 } });
    const patch = (body: Json) => server.ask('PATCH', `/guardrails/${id}`, body);
    const name = `${latestName()}-b`;
    const params = { ...PARAMS, api_key: 'REDACTED', timeout: 3 };
    expect(await patch({ guardrail_name: name })).toEqual([
      200,
      changedRow({ guardrail_id: id, guardrail_name: name, litellm_params: params }),
    ]);
    // `REDACTED` keeps the stored secret, null removes a setting.
    expect(await patch({ litellm_params: { timeout: null, api_key: 'REDACTED', default_on: true } })).toEqual([
      200,
      changedRow({
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

  it('400: a change that removes the mode', async () => {
    const id = await server.createAndGetId();
    expect(await server.ask('PATCH', `/guardrails/${id}`, { litellm_params: { mode: null } })).toMatchObject([
      400,
      { detail: expect.stringMatching(/^Guardrail configuration error: litellm_params.mode must be/) },
    ]);
  });

  it('404: an unknown id', async () => {
    expect(await server.ask('PATCH', '/guardrails/nope', {})).toEqual([404, notFoundBody('nope')]);
  });

  it('409: a guardrail of the configuration file, and a name that is taken', async () => {
    const fileId = await server.idOfFileGuardrail();
    expect(await server.ask('PATCH', `/guardrails/${fileId}`, {})).toEqual([409, fileGuardrailError(fileId)]);
    const [draft, id] = [aDraft(), await server.createAndGetId()];
    await server.create(draft);
    expect(await server.ask('PATCH', `/guardrails/${id}`, { guardrail_name: draft['guardrail_name'] })).toEqual([
      409,
      { detail: `The name '${String(draft['guardrail_name'])}' or the id ${id} is that of another guardrail` },
    ]);
  });

  it('422: a wrong type', async () => {
    const wrong = { type: 'string_type', loc: ['body', 'guardrail_name'], msg: 'Input should be a valid string' };
    expect(await server.ask('PATCH', `/guardrails/${await server.createAndGetId()}`, { guardrail_name: 1 })).toEqual([
      422,
      { detail: [wrong] },
    ]);
  });
});

describe('guardrails.delete', () => {
  it('200: the guardrail is deleted', async () => {
    const id = await server.createAndGetId();
    expect(await server.ask('DELETE', `/guardrails/${id}`)).toEqual([
      200,
      { message: `Guardrail ${id} deleted successfully` },
    ]);
    expect(await server.ask('GET', `/guardrails/${id}`)).toEqual([404, notFoundBody(id)]);
  });

  it('404: an unknown id', async () => {
    expect(await server.ask('DELETE', '/guardrails/nope')).toEqual([404, notFoundBody('nope')]);
  });

  it('409: a guardrail of the configuration file', async () => {
    const fileId = await server.idOfFileGuardrail();
    expect(await server.ask('DELETE', `/guardrails/${fileId}`)).toEqual([409, fileGuardrailError(fileId)]);
  });
});
