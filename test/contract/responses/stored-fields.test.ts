import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

let app: TestApp;
let upstream: FaultServer;
let key: Record<string, string>;
/** Id of a stored response of the key. */
let id: string;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'thinker',
          litellm_params: { model: 'openai/up-1', ...params, use_chat_completions_api: false },
        },
        {
          model_name: 'chats',
          litellm_params: { model: 'openai/up-2', ...params, use_chat_completions_api: true },
        },
      ],
    },
  });
  key = await newKey({});
  answerWith(200, RESPONSE);
  const response = await app.call('POST', '/v1/responses', { model: 'thinker', input: 'Hello', background: true }, key);
  ({ id } = (await response.json()) as { id: string });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const RESPONSE = { id: 'resp_up', object: 'response', status: 'queued', model: 'up-1', output: [] };
const ITEMS = { object: 'list', data: [{ id: 'msg_1', type: 'message' }], first_id: 'msg_1', has_more: false };

function answerWith(status: number, body: unknown): void {
  upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

async function newKey(draft: object): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', draft);
  return { authorization: `Bearer ${((await response.json()) as { key: string }).key}` };
}

async function ask(method: string, path: string, headers: Record<string, string> = key) {
  const response = await app.call(method, path, undefined, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

const refusal = (status: number, error: object) => ({
  status,
  body: { error: { param: null, code: String(status), ...error } },
});

describe.each([
  {
    name: 'responses.get',
    method: 'GET',
    tail: '',
    answer: RESPONSE,
    forwarded: { ...RESPONSE, model: 'thinker' },
    callType: 'aget_responses',
  },
  {
    name: 'responses.delete',
    method: 'DELETE',
    tail: '',
    answer: { id: 'resp_up', object: 'response', deleted: true },
    forwarded: { object: 'response', deleted: true },
    callType: 'adelete_responses',
  },
  {
    name: 'responses.inputItems',
    method: 'GET',
    tail: '/input_items',
    answer: ITEMS,
    forwarded: ITEMS,
    callType: 'alist_input_items',
  },
  {
    name: 'responses.cancel',
    method: 'POST',
    tail: '/cancel',
    answer: { ...RESPONSE, status: 'cancelled' },
    forwarded: { ...RESPONSE, status: 'cancelled', model: 'thinker' },
    callType: 'acancel_responses',
  },
])('$name', ({ method, tail, answer, forwarded, callType }) => {
  // A function, because `id` is not known before the first test.
  const expected = (): object => ('id' in answer ? { ...forwarded, id } : forwarded);

  it.each(['/v1/responses', '/responses', '/openai/v1/responses'])(
    '200: a response that the upstream stores (%s)',
    async (base) => {
      answerWith(200, answer);
      const { traceId, headers } = newTrace();
      const query = method === 'GET' ? '?include=message.input_image.image_url&limit=2' : '';
      expect(await ask(method, `${base}/${id}${tail}${query}`, { ...key, ...headers })).toEqual({
        status: 200,
        body: expected(),
      });
      expect(upstream.received.at(-1)?.path).toBe(`/v1/responses/resp_up${tail}${query}`);
      expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { callType, costUsd: '0', status: 'SUCCESS' } }]);
    },
  );

  it('401: an unknown key', async () => {
    const { status } = await ask(method, `/v1/responses/${id}${tail}`, {
      authorization: 'Bearer sk-unknown-virtual-key',
    });
    expect(status).toBe(401);
  });

  it('404: a response of another owner, and one that is not stored; 403: an id that the gateway did not issue', async () => {
    answerWith(200, { id: 'chat', choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
    const response = await app.call('POST', '/v1/responses', { model: 'chats', input: 'Hello', store: false }, key);
    const unstored = (await response.json()) as { id: string; store: boolean };
    expect(unstored).toMatchObject({ id: expect.stringMatching(/^resp_[0-9a-f]{32}$/), store: false });
    const callCount = upstream.received.length;
    const missing = (responseId: string) =>
      refusal(404, { message: `Response with id '${responseId}' not found.`, type: 'not_found_error' });
    expect(await ask(method, `/v1/responses/${unstored.id}${tail}`)).toEqual(missing(unstored.id));
    const message = 'This response id was not issued by this gateway, so its owner is unknown.';
    expect(await ask(method, `/v1/responses/resp_up${tail}`)).toEqual(
      refusal(403, { message, type: 'permission_error' }),
    );
    expect(await ask(method, `/v1/responses/${id}${tail}`, await newKey({}))).toEqual(missing(id));
    expect(upstream.received.length).toBe(callCount);
  });

  it('404: a response that its upstream no longer has', async () => {
    answerWith(404, { error: { message: 'gone', type: 'invalid_request_error' } });
    const message = 'litellm.NotFoundError: NotFoundError: OpenAIException - gone';
    expect(await ask(method, `/v1/responses/${id}${tail}`)).toEqual(
      refusal(404, { message, type: 'invalid_request_error' }),
    );
  });

  it('503: a temporarily unavailable upstream', async () => {
    answerWith(503, { error: { message: 'later', type: 'server_error' } });
    expect(await ask(method, `/v1/responses/${id}${tail}`)).toEqual(
      refusal(503, {
        message: 'litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - later',
        type: 'internal_server_error',
      }),
    );
  });

  it('500: an invalid answer', async () => {
    answerWith(200, '<html>');
    const { traceId, headers } = newTrace();
    expect(await ask(method, `/v1/responses/${id}${tail}`, { ...key, ...headers })).toEqual(
      refusal(500, {
        message: "The upstream's answer cannot be used: it is not JSON.",
        type: 'internal_server_error',
      }),
    );
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { status: 'FAILURE' } }]);
  });
});

describe.each([
  ['responses.delete', 'DELETE', ''],
  ['responses.cancel', 'POST', '/cancel'],
])('%s', (_name, method, tail) => {
  it.each([
    ['administrator', 'proxy_admin_viewer', 'administrators'],
    ['key', 'internal_user_viewer', 'keys'],
  ])('403: a read-only %s', async (_who, user_role, whom) => {
    const message = `Read-only ${whom} cannot change files, batches, responses and videos.`;
    const viewer = await newKey({ user_role });
    expect(await ask(method, `/v1/responses/${id}${tail}`, viewer)).toEqual(
      refusal(403, { message, type: 'auth_error', param: 'None' }),
    );
  });
});

it('responses.get, responses.delete 400: a stream of a stored response', async () => {
  const message = '/responses: A stored response is not streamed: leave out `stream`.';
  const refused = refusal(400, { message, type: 'invalid_request_error', param: 'stream' });
  expect(await ask('GET', `/v1/responses/${id}?stream=true`)).toEqual(refused);
  expect(await ask('DELETE', `/v1/responses/${id}?stream=true`)).toEqual(refused);
});

it('responses.compact 400: a model whose provider cannot compact', async () => {
  for (const model of ['chats', 'demo']) {
    const response = await app.call('POST', '/v1/responses/compact', { model, input: 'x' });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { message: expect.stringMatching(/^\/responses\/compact: The /), code: '400' } },
    ]);
  }
});
