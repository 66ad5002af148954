import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CHAT = { messages: [{ role: 'user', content: 'x' }], max_tokens: 9 };

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({ config: { model_list: modelList() } });
});

function modelList(): readonly object[] {
  const params = { api_key: 'sk-up', timeout: 20, input_cost_per_token: 0.25, output_cost_per_token: 0.5 };
  return [
    { model_name: 'gpt', litellm_params: { ...params, model: 'openai/up-1', api_base: `${upstream.url}/v1` } },
    { model_name: 'claude', litellm_params: { ...params, model: 'anthropic/up-2', api_base: upstream.url } },
  ];
}

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const OPENAI_LIMITS = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '499',
  'x-ratelimit-reset-requests': '120ms',
  'x-ratelimit-limit-tokens': '30000',
  'x-ratelimit-remaining-tokens': '29000',
  'x-ratelimit-reset-tokens': '6s',
};
// The reset has no header in the answer: it is a point in time, and that of OpenAI is a duration.
const ANTHROPIC_LIMITS = {
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '49',
  'anthropic-ratelimit-requests-reset': '2026-11-22T00:00:00Z',
  'anthropic-ratelimit-tokens-limit': '9000',
  'anthropic-ratelimit-tokens-remaining': '8000',
};
const ANSWERS = {
  gpt: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'up-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  },
  claude: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up-2',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 2, output_tokens: 1 },
  },
};

function answerWith(model: keyof typeof ANSWERS, limits: Record<string, string>): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...limits });
    response.end(JSON.stringify(ANSWERS[model]));
  });
}

async function headOf(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await app.call('POST', path, body, headers);
  expect(response.status).toBe(200);
  await response.text();
  return Object.fromEntries(
    [...response.headers].filter(([name]) => /^x-(ratelimit|litellm-(key|att|time))/.test(name)),
  );
}

const HEADERS_OF_EVERY_CALL = {
  'x-litellm-timeout': '20',
  'x-litellm-attempted-retries': '0',
  'x-litellm-attempted-fallbacks': '0',
};

describe('the response head of a call', () => {
  it.each(['/v1/chat/completions', '/v1/messages'])('has the rate limit headers of the upstream (%s)', async (path) => {
    answerWith('gpt', OPENAI_LIMITS);
    expect(await headOf(path, { ...CHAT, model: 'gpt' })).toEqual({ ...HEADERS_OF_EVERY_CALL, ...OPENAI_LIMITS });
    answerWith('claude', ANTHROPIC_LIMITS);
    expect(await headOf(path, { ...CHAT, model: 'claude' })).toEqual({
      ...HEADERS_OF_EVERY_CALL,
      'x-ratelimit-limit-requests': '50',
      'x-ratelimit-remaining-requests': '49',
      'x-ratelimit-limit-tokens': '9000',
      'x-ratelimit-remaining-tokens': '8000',
    });
  });

  describe('x-litellm-model-api-base', () => {
    const ask = async (server: TestApp, headers: Record<string, string>) => {
      const response = await server.call('POST', '/v1/chat/completions', { ...CHAT, model: 'gpt' }, headers);
      expect(response.status).toBe(200);
      await response.text();
      return response.headers.get('x-litellm-model-api-base');
    };
    const newKeyHeaders = async (server: TestApp) => {
      const { key } = (await (await server.call('POST', '/key/generate', {})).json()) as { key: string };
      return { authorization: `Bearer ${key}` };
    };

    it('is sent to every key by default', async () => {
      answerWith('gpt', {});
      expect(await ask(app, {})).toBe(`${upstream.url}/v1`);
      expect(await ask(app, await newKeyHeaders(app))).toBe(`${upstream.url}/v1`);
    });

    it.each([
      ['general_settings.expose_api_base_header', { general_settings: { expose_api_base_header: false } }, {}],
      ['LENSGATE_EXPOSE_API_BASE_HEADER', {}, { LENSGATE_EXPOSE_API_BASE_HEADER: 'false' }],
    ])('is sent only to administrators if %s is false', async (_setting, config, env) => {
      answerWith('gpt', {});
      const guarded = await startApp({ config: { model_list: modelList(), ...config }, env });
      try {
        const keyHeaders = await newKeyHeaders(guarded);
        expect(await ask(guarded, {})).toBe(`${upstream.url}/v1`);
        expect(await ask(guarded, keyHeaders)).toBeNull();
        expect(await ask(guarded, {})).toBe(`${upstream.url}/v1`);
      } finally {
        await guarded.stop();
      }
    });
  });

  it('has the spend of a key with a budget, including this call', async () => {
    answerWith('gpt', {});
    const response = await app.call('POST', '/key/generate', { max_budget: 10 });
    const { key } = (await response.json()) as { key: string };
    const ask = () => headOf('/v1/chat/completions', { ...CHAT, model: 'gpt' }, { authorization: `Bearer ${key}` });
    // Each call costs 1: two tokens at 0.25 and one at 0.5.
    const limits = { ...HEADERS_OF_EVERY_CALL, 'x-litellm-key-max-budget': '10' };
    expect(await ask()).toEqual({ ...limits, 'x-litellm-key-spend': '1' });
    expect(await ask()).toEqual({ ...limits, 'x-litellm-key-spend': '2' });
  });
});
