import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"no"}}');
  });
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-hidden-credential' };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'known',
          litellm_params: { ...params, model: 'openai/gpt-4o-mini', input_cost_per_token: 0.5, timeout: 20 },
          model_info: { id: 'known-1' },
        },
        {
          model_name: 'known',
          litellm_params: { ...params, model: 'openai/made-up', drop_params: true },
          model_info: { id: 'known-2' },
        },
        // `*` stands for the same text in both names: `g/-lite` is gemini-2.5-flash-lite.
        {
          model_name: 'g/*',
          litellm_params: { ...params, model: 'gemini/gemini-2.5-flash*' },
          model_info: { id: 'g' },
        },
      ],
      general_settings: { demo_model: false },
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

interface Entry {
  readonly model_name: string;
  readonly litellm_params: Readonly<Record<string, unknown>>;
  readonly model_info: Readonly<Record<string, unknown>>;
}

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await app.call('GET', path, undefined, headers);
  return { status: response.status, body: (await response.json()) as { readonly data: readonly Entry[] } };
}

async function keyFor(models: readonly string[]): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', { models });
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

describe('models.info', () => {
  it('200: has the configuration of every deployment, completed from the catalog', async () => {
    const { status, body } = await read('/model/info');
    expect(status).toBe(200);
    const [known, madeUp, ...wildcardEntries] = body.data;
    const catalog = await app.call('GET', '/model_catalog/gpt-4o-mini');
    const { max_input_tokens, output_cost_per_token } = (await catalog.json()) as Readonly<Record<string, number>>;
    expect(known).toEqual({
      model_name: 'known',
      litellm_params: {
        model: 'openai/gpt-4o-mini',
        api_base: `${upstream.url}/v1`,
        timeout: 20,
        input_cost_per_token: 0.5,
      },
      model_info: expect.objectContaining({
        id: 'known-1',
        db_model: false,
        key: 'gpt-4o-mini',
        litellm_provider: 'openai',
        mode: 'chat',
        max_input_tokens,
        input_cost_per_token: 0.5,
        output_cost_per_token,
        supports_function_calling: true,
        pricing_overrides: ['input_cost_per_token'],
      }),
    });
    expect(madeUp).toEqual({
      model_name: 'known',
      litellm_params: { model: 'openai/made-up', api_base: `${upstream.url}/v1`, timeout: 600, drop_params: true },
      model_info: {
        id: 'known-2',
        db_model: false,
        key: null,
        litellm_provider: 'openai',
        input_cost_per_token: null,
        output_cost_per_token: null,
        pricing_overrides: [],
        direct_access: true,
        access_via_team_ids: [],
      },
    });
    expect(wildcardEntries.map(({ model_name }) => model_name)).toContain('g/-lite');
    expect(wildcardEntries.find(({ model_name }) => model_name === 'g/-lite')).toMatchObject({
      litellm_params: { model: 'gemini/gemini-2.5-flash-lite' },
      model_info: { id: 'g', key: 'gemini/gemini-2.5-flash-lite', litellm_provider: 'gemini' },
    });
    expect(JSON.stringify(body)).not.toContain('sk-hidden-credential');
    expect(await read('/v1/model/info')).toEqual({ status, body });
  });

  it('200: shows a key the deployments it may call, without addresses', async () => {
    const { body } = await read('/model/info', await keyFor(['known', 'g/-lite']));
    expect(body.data.map(({ model_name }) => model_name)).toEqual(['known', 'known', 'g/-lite']);
    expect(body.data.map(({ litellm_params }) => litellm_params['api_base'])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect((await read('/model/info', await keyFor(['g/-lite']))).body.data).toHaveLength(1);
  });

  it('200: one deployment by its id, and only healthy deployments if the query asks for them', async () => {
    const ids = async (query: string) =>
      (await read(`/model/info${query}`)).body.data.map(({ model_info }) => model_info['id']);
    expect(await ids('?litellm_model_id=known-2')).toEqual(['known-2']);
    const sendFailingCall = () => app.call('POST', '/v1/chat/completions', { model: 'known', messages: [] });
    // Each of the two deployments receives one call, and is then not healthy.
    await Promise.all([sendFailingCall(), sendFailingCall()]);
    expect((await ids('')).slice(0, 2)).toEqual(['known-1', 'known-2']);
    expect((await ids('?healthy_only=true')).filter((id) => id !== 'g')).toEqual([]);
  });

  it('400: no deployment with this id that the caller may call', async () => {
    const refusal = (error: string) => ({ status: 400, body: { detail: { error } } });
    const unknown = (id: string) => refusal(`Model id = ${id} not found on litellm proxy`);
    expect(await read('/model/info?litellm_model_id=x')).toEqual(unknown('x'));
    expect(await read('/model/info?litellm_model_id=known-1', await keyFor(['g/-lite']))).toEqual(unknown('known-1'));
  });

  it.each(['models.info', 'models.groups'])('%s 401: an unknown key', async (name) => {
    const path = name === 'models.info' ? '/model/info' : '/model_group/info';
    const { status, body } = await read(path, { authorization: 'Bearer sk-unknown' });
    expect({ status, body }).toEqual({
      status: 401,
      body: {
        error: {
          message: expect.stringMatching(/^Authentication Error, Invalid proxy server token passed\. /),
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      },
    });
  });
});

describe('models.groups', () => {
  it('200: combines the properties of the deployments of each model', async () => {
    const { status, body } = await read('/model_group/info?model_group=known');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          model_group: 'known',
          providers: ['openai'],
          mode: 'chat',
          // The catalog has these limits and this output price for `gpt-4o-mini`.
          max_input_tokens: 128_000,
          max_output_tokens: 16_384,
          input_cost_per_token: 0.5,
          output_cost_per_token: 6e-7,
          tpm: null,
          rpm: null,
          // A group supports what all its deployments support. The catalog has no entry for `made-up`.
          supports_function_calling: false,
          supports_parallel_function_calling: false,
          supports_vision: false,
          supports_reasoning: false,
          supports_web_search: false,
        },
      ],
    });
    expect((await read('/model_group/info', await keyFor(['g/-lite']))).body.data).toMatchObject([
      { model_group: 'g/-lite', supports_vision: true },
    ]);
  });
});
