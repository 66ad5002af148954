import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  const params = { model: 'openai/up-1', api_base: 'http://127.0.0.1:9/v1' };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'assistant', litellm_params: params },
        { model_name: 'assistant', litellm_params: params },
        { model_name: 'team/a', litellm_params: params },
      ],
    },
  });
});

afterAll(() => app.stop());

/** Creation time of every listed model, as in the reference. */
const CREATED_AT = 1677610602;
const model = (id: string) => ({ id, object: 'model', created: CREATED_AT, owned_by: 'openai' });

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await app.call('GET', path, undefined, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

async function keyHeadersFor(models: readonly string[]): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', { models });
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

const UNKNOWN_KEY_HEADERS = { authorization: 'Bearer sk-unknown-virtual-key' };

const UNKNOWN_KEY_REFUSAL = {
  status: 401,
  body: {
    error: {
      message: expect.stringMatching(
        /^Authentication Error, Invalid proxy server token passed\. Received API Key = sk-\.\.\.-key, Key Hash \(Token\) =[0-9a-f]{64}\. /,
      ),
      type: 'token_not_found_in_db',
      param: 'key',
      code: '401',
    },
  },
};

describe('models.list', () => {
  it.each(['/v1/models', '/models'])('models.list 200: each model name once (%s)', async (path) => {
    expect(await read(path)).toEqual({
      status: 200,
      body: { object: 'list', data: [model('assistant'), model('team/a'), model('demo')] },
    });
  });

  it('models.list 200: only models that the key may call', async () => {
    expect(await read('/v1/models', await keyHeadersFor(['team/*', 'demo']))).toEqual({
      status: 200,
      body: { object: 'list', data: [model('team/a'), model('demo')] },
    });
  });

  it('models.list 200: models have an empty list of fallbacks if none are configured', async () => {
    const metadata = { fallbacks: [] };
    const listed = ['assistant', 'team/a', 'demo'].map((id) => ({ ...model(id), metadata }));
    for (const query of ['include_metadata=true', 'include_metadata=True&fallback_type=context_window'])
      expect(await read(`/v1/models?${query}`)).toEqual({ status: 200, body: { object: 'list', data: listed } });
  });

  it('models.list 400: an unknown kind of fallback', async () => {
    expect(await read('/v1/models?include_metadata=true&fallback_type=luck')).toEqual({
      status: 400,
      body: { detail: 'Invalid fallback_type. It must be one of: general, context_window, content_policy' },
    });
  });

  it('models.list 200: the list of access groups is empty', async () => {
    expect(await read('/v1/models?only_model_access_groups=true')).toEqual({
      status: 200,
      body: { object: 'list', data: [] },
    });
  });

  it('models.list 200: a key names its own team and lists its own models', async () => {
    const response = await app.call('POST', '/key/generate', { models: ['demo'], team_id: 'team-1' });
    const { key } = (await response.json()) as { key: string };
    expect(await read('/v1/models?team_id=team-1', { authorization: `Bearer ${key}` })).toEqual({
      status: 200,
      body: { object: 'list', data: [model('demo')] },
    });
  });

  it('models.list 200, 403 and 404: a team for an administrator, a team for another key, and an unknown team', async () => {
    await app.call('POST', '/team/new', { team_id: 'team-2', models: ['demo'] });
    const listed = { object: 'list', data: [model('demo')] };
    expect(await read('/v1/models?team_id=team-2')).toEqual({ status: 200, body: listed });
    expect(await read('/v1/models?team_id=nope')).toEqual({
      status: 404,
      body: { detail: 'Team not found, passed team_id=nope' },
    });
    const response = await app.call('POST', '/key/generate', { models: ['demo'] });
    const { key } = (await response.json()) as { key: string };
    const message = 'Only proxy admins can see the models of other teams.';
    expect(await read('/v1/models?team_id=team-2', { authorization: `Bearer ${key}` })).toEqual({
      status: 403,
      body: { error: { message, type: 'auth_error', param: 'None', code: '403' } },
    });
  });

  it('models.list 422: a key whose own budget is used up; a used-up team budget is not checked', async () => {
    const keyOf = async (draft: object) => {
      const response = await app.call('POST', '/key/generate', draft);
      return (await response.json()) as { key: string; key_name: string };
    };
    const listOf = async ({ key }: { readonly key: string }) => read('/v1/models', { authorization: `Bearer ${key}` });
    const spentKey = await keyOf({ max_budget: 0 });
    const message = `Budget has been exceeded! Key=None (${spentKey.key_name}) Current cost: 0.0, Max budget: 0.0`;
    expect(await listOf(spentKey)).toEqual({
      status: 422,
      body: { error: { message, type: 'budget_exceeded', param: null, code: '422' } },
    });
    const team = (await (await app.call('POST', '/team/new', { max_budget: 0 })).json()) as { team_id: string };
    for (const draft of [{ max_budget: 1 }, { team_id: team.team_id }])
      expect((await listOf(await keyOf(draft))).status).toBe(200);
  });

  it('models.list 401: an unknown key', async () => {
    expect(await read('/v1/models', UNKNOWN_KEY_HEADERS)).toEqual(UNKNOWN_KEY_REFUSAL);
  });
});

describe('models.get', () => {
  it.each(['/v1/models/team/a', '/models/team%2Fa'])('models.get 200: by a name with a slash (%s)', async (path) => {
    expect(await read(path)).toEqual({ status: 200, body: model('team/a') });
  });

  it.each(['nothing', 'assistant'])(
    'models.get 404: an unknown model and a model that the key may not call have the same error (%s)',
    async (id) => {
      expect(await read(`/v1/models/${id}`, await keyHeadersFor(['demo']))).toEqual({
        status: 404,
        body: {
          detail: `The model \`${id}\` does not exist or you do not have access to it.`,
        },
      });
    },
  );

  it('models.get 401: an unknown key', async () => {
    expect(await read('/v1/models/demo', UNKNOWN_KEY_HEADERS)).toEqual(UNKNOWN_KEY_REFUSAL);
  });
});
