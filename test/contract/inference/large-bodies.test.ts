import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError } from '../../support/error-bodies.ts';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { ENDPOINT_ROWS } from './endpoint-rows.ts';

/** Text for a body whose large members are parsed only when they are needed (ADR 0037). */
const LARGE = 'é "quoted"\n'.repeat(2_000);
const LARGE_JSON = JSON.stringify(LARGE);

const CHAT = {
  path: '/chat/completions',
  field: 'messages',
  fieldType: 'an array of messages',
  fields: { messages: [{ role: 'user', content: LARGE }] },
  answer: { choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }] },
} as const;

/** A large value that the required member of an endpoint accepts. */
function largeValueOf({ field, fieldType, fields }: typeof CHAT | (typeof ENDPOINT_ROWS)[number]): unknown {
  const value = (fields as Readonly<Record<string, unknown>>)[field];
  if (field === 'messages') return value;
  return fieldType === 'an object' ? { ...(value as object), padding: LARGE } : LARGE;
}

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream', use_chat_completions_api: false };
  app = await startApp({
    config: { model_list: [{ model_name: 'assistant', litellm_params: { model: 'openai/up-1', ...params } }] },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Messages where a body without a model has the model of the provider's default, by path. */
const DEFAULT_MODELS = new Map([
  [
    '/moderations',
    'Invalid model name passed in model=omni-moderation-latest. Call `/v1/models` to view available models for your key.',
  ],
]);

describe.each([CHAT, ...ENDPOINT_ROWS])('a large body at $path', (row) => {
  const { path, field, fieldType, fields, answer } = row;
  async function ask(body: unknown) {
    const response = await app.call('POST', `/v1${path}`, body);
    return { status: response.status, body: (await response.json()) as unknown };
  }

  it('200: is forwarded without gateway fields', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
    const requestBody = { ...fields, [field]: largeValueOf(row), tags: ['ours'], seed: 1 };
    expect((await ask({ ...requestBody, model: 'assistant' })).status).toBe(200);
    const { tags: _, ...forwarded } = requestBody;
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ ...forwarded, model: 'up-1' });
  });

  const NOT_JSON = ['The request body is not valid JSON.', 'request_body'] as const;
  const NOT_OBJECT = ['The request body is not a JSON object.', 'request_body'] as const;
  const MISSING = [`${path}: Missing required parameter: '${field}'.`, field] as const;
  const MISTYPED = [`${path}: Invalid type for parameter '${field}': it must be ${fieldType}.`, field] as const;
  it('400: a body without a model', async () => {
    const message = DEFAULT_MODELS.get(path) ?? `Missing required parameter: 'model'.`;
    const error = { ...modelNameError(`${path}: ${message}`), code: '400' };
    const { [field]: _, ...others } = fields as Readonly<Record<string, unknown>>;
    const requestBody = `${JSON.stringify({ ...others, seed: 1 }).slice(0, -1)},"${field}":${LARGE_JSON}}`;
    expect(await ask(requestBody)).toEqual({ status: 400, body: { error } });
  });

  it.each([
    ['that is cut off', `{"model":"assistant","${field}":${LARGE_JSON.slice(0, -1)}`, NOT_JSON],
    ['with unescaped quotes and control characters', `{"model":"assistant","${field}":"${LARGE}"}`, NOT_JSON],
    ['with a bracket after its end', `{"model":"assistant","${field}":${LARGE_JSON}}]`, NOT_JSON],
    ['that is an array', `[${LARGE_JSON}]`, NOT_OBJECT],
    ['without the required member', `{"model":"assistant","seed":${LARGE_JSON}}`, MISSING],
    [
      'whose required member is null the second time',
      `{"model":"assistant","${field}":${LARGE_JSON},"${field}":null}`,
      MISSING,
    ],
    [
      'whose required member has the wrong type',
      JSON.stringify({ ...fields, model: 'assistant', [field]: fieldType === 'an object' ? LARGE : { text: LARGE } }),
      MISTYPED,
    ],
  ] as const)('400: a body %s', async (_description, requestBody, [message, param]) => {
    const earlierRequests = upstream.received.length;
    const error = { message, type: 'invalid_request_error', param, code: '400' };
    expect(await ask(requestBody)).toEqual({ status: 400, body: { error } });
    expect(upstream.received.length).toBe(earlierRequests);
  });
});

it.each([
  ['a string', LARGE_JSON, 'an array of messages'],
  ['an array of strings', `[${LARGE_JSON}]`, 'an array of objects'],
  ['an array of a message and null', `[{"role":"user","content":${LARGE_JSON}},null]`, 'an array of objects'],
])('400: a chat whose messages are %s', async (_description, messages, wanted) => {
  const response = await app.call('POST', '/v1/chat/completions', `{"model":"assistant","messages":${messages}}`);
  const message = `/chat/completions: Invalid type for parameter 'messages': it must be ${wanted}.`;
  const error = { message, type: 'invalid_request_error', param: 'messages', code: '400' };
  expect([response.status, await response.json()]).toEqual([400, { error }]);
});
