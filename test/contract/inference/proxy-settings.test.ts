import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp({ config: { general_settings: { litellm_key_header_name: 'X-Our-Key' } } });
});

afterAll(() => app.stop());

const CHAT = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'x' }] });

/** Answer to a request with these headers and no other credential. */
async function ask(path: string, headers: Record<string, string>) {
  const body = path === '/graphql' ? JSON.stringify({ query: '{ traces { nodes { traceId } } }' }) : CHAT;
  const methodAndBody = path === '/v1/models' ? {} : { method: 'POST', body };
  const response = await fetch(`${app.url}${path}`, {
    ...methodAndBody,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return {
    status: response.status,
    body: (await response.json()) as { error?: object; data?: object; errors?: object },
  };
}

const MISSING_KEY = {
  status: 401,
  body: {
    error: {
      message:
        'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
      type: 'auth_error',
      param: 'None',
      code: '401',
    },
  },
};

describe('litellm_key_header_name', () => {
  // One request path for each part of the server: the fast path, Koa and the graph.
  it.each(['/v1/chat/completions', '/v1/models', '/graphql'])('is the header for the key (%s)', async (path) => {
    const bearer = `Bearer ${app.adminKey}`;
    const answer = await ask(path, { 'x-our-key': bearer, authorization: 'Bearer for-another-server' });
    expect(answer.status).toBe(200);
    expect(answer.body.errors).toBeUndefined();
  });

  it.each(['/v1/chat/completions', '/v1/models'])(
    '401: a key in Authorization, no key, and a key without `Bearer` (%s)',
    async (path) => {
      expect(await ask(path, { authorization: `Bearer ${app.adminKey}` })).toEqual(MISSING_KEY);
      expect(await ask(path, { 'x-our-key': '' })).toEqual(MISSING_KEY);
      expect((await ask(path, { 'x-our-key': app.adminKey })).status).toBe(401);
    },
  );

  it('does not disable x-api-key', async () => {
    expect((await ask('/v1/chat/completions', { 'x-api-key': app.adminKey })).status).toBe(200);
  });

  it('applies to WebSockets', async () => {
    const url = `${app.url.replace('http', 'ws')}/v1/realtime?model=demo`;
    const refusalStatus = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url, { headers });
        socket.once('unexpected-response', (_request, response) => {
          resolve(response.statusCode ?? 0);
          response.destroy();
        });
        socket.once('open', () => reject(new Error('the demo model has no sessions')));
        socket.once('error', () => {});
      });
    // With a valid key, the status is 400 because the demo model has no sessions.
    expect(await refusalStatus({ 'x-our-key': `Bearer ${app.adminKey}` })).toBe(400);
    expect(await refusalStatus({ authorization: `Bearer ${app.adminKey}` })).toBe(401);
  });
});

describe('budget_exceeded_status_code', () => {
  const answerOf = async (server: TestApp, path: string, key: string) => {
    const body = { model: 'm', messages: [], max_tokens: 5 };
    const response = await server.call('POST', path, body, { authorization: `Bearer ${key}` });
    return { status: response.status, body: (await response.json()) as unknown };
  };

  it.each([
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [400, 'invalid_request_error'],
  ])('is the status for a used-up budget: %i', async (code, anthropicType) => {
    const server = await startApp({
      config: {
        litellm_settings: { budget_exceeded_status_code: code },
        model_list: [
          { model_name: 'm', litellm_params: { model: 'openai/up', api_key: 'x', api_base: 'http://127.0.0.1:9' } },
        ],
      },
    });
    try {
      const response = await server.call('POST', '/key/generate', { key_alias: 'poor', max_budget: 0 });
      const { key } = (await response.json()) as { key: string };
      const message = `Budget has been exceeded! Key=poor (sk-...${key.slice(-4)}) Current cost: 0.0, Max budget: 0.0`;
      expect(await answerOf(server, '/v1/chat/completions', key)).toEqual({
        status: code,
        body: { error: { message, type: 'budget_exceeded', param: null, code: String(code) } },
      });
      expect(await answerOf(server, '/v1/messages', key)).toEqual({
        status: code,
        body: { type: 'error', error: { type: anthropicType, message } },
      });
    } finally {
      await server.stop();
    }
  });
});

describe('always_include_stream_usage', () => {
  it('adds the usage to the end of a stream; the gateway always requests it from the upstream; a header has the region', async () => {
    const upstream = await startFaultServer();
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' };
    const events = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } },
    ];
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
    });
    const params = { model: 'openai/up', api_key: 'x', api_base: `${upstream.url}/v1` };
    const config = (includesUsage: boolean) => ({
      general_settings: { always_include_stream_usage: includesUsage },
      model_list: [{ model_name: 'm', litellm_params: { ...params, aws_region_name: 'eu-west-1' } }],
    });
    const usagesAndRegion = async (includesUsage: boolean) => {
      const server = await startApp({ config: config(includesUsage) });
      try {
        const response = await server.call('POST', '/v1/chat/completions', { model: 'm', messages: [], stream: true });
        const usages = (await response.text()).match(/"usage":\{[^}]*\}/g);
        return { usages, region: response.headers.get('x-litellm-model-region') };
      } finally {
        await server.stop();
      }
    };
    try {
      const usage = '"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3}';
      expect(await usagesAndRegion(true)).toEqual({ usages: [usage], region: 'eu-west-1' });
      expect(await usagesAndRegion(false)).toEqual({ usages: null, region: 'eu-west-1' });
      const options = upstream.received.map(
        ({ body }) => (JSON.parse(body) as { stream_options?: object }).stream_options,
      );
      expect(options).toEqual([{ include_usage: true }, { include_usage: true }]);
    } finally {
      await upstream.stop();
    }
  });
});
