import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GATEWAY_FIELDS } from '../../../src/domain/inference/gateway-fields.ts';
import { newTrace, spansIn } from './trace-spans.ts';
import { completionOf, MESSAGES, refused, contentOf, type ScriptedApp, startScripted } from './scripted.ts';

let setup: ScriptedApp;

beforeAll(async () => {
  setup = await startScripted({ general_settings: { store_prompts_in_spend_logs: true } });
});

afterAll(() => setup.stop());

beforeEach(() => setup.plan({}));

const lastBody = (): unknown => JSON.parse(setup.upstream.received.at(-1)?.body ?? '');

interface StoredCall {
  readonly attributes: Readonly<Record<string, string>>;
  readonly spendRow: object;
}

/** Span attributes of a call, without those whose names begin with `gen_ai.` or `litellm.`. */
async function spanFields(body: object, headers: Record<string, string> = {}, path?: string): Promise<unknown> {
  const trace = newTrace();
  expect((await setup.ask({ model: 'one', ...body }, { ...trace.headers, ...headers }, path)).status).toBe(200);
  const [span] = (await spansIn(setup.app, trace.traceId)) as readonly StoredCall[];
  return Object.fromEntries(
    Object.entries(span?.attributes ?? {}).filter(([name]) => !/^(gen_ai|litellm)\./.test(name)),
  );
}

describe('tags, session, user and metadata of a call', () => {
  it('are attributes of its span, from headers and body', async () => {
    const metadata = {
      tags: ['a', 'b'],
      session_id: 's-1',
      spend_logs_metadata: { project: 7 },
      run: 'nightly',
    };
    expect(await spanFields({ metadata, tags: ['b', 'c'], user: 'u-1' })).toEqual({
      'session.id': 's-1',
      'user.id': 'u-1',
      'tag.tags': '["b","c","a"]',
      metadata: '{"run":"nightly","project":7}',
    });
    expect(lastBody()).toEqual({ model: 'one-up', messages: MESSAGES, user: 'u-1' });
    const headers = {
      'x-litellm-session-id': 's-2',
      'x-litellm-end-user-id': 'u-2',
      'x-litellm-tags': 'x, y,',
      // The UTF-8 bytes of `ü`, as characters of a header.
      'x-litellm-spend-logs-metadata': '{"project":"\u00c3\u00bc"}',
    };
    expect(await spanFields({ metadata, user: 'u-1' }, headers)).toEqual({
      'session.id': 's-2',
      'user.id': 'u-2',
      'tag.tags': '["x","y","a","b"]',
      metadata: '{"run":"nightly","project":"ü"}',
    });
    expect(await spanFields({}, { 'x-litellm-trace-id': 't', 'x-litellm-customer-id': 'c' })).toEqual({
      'session.id': 't',
      'user.id': 'c',
    });
    expect(await spanFields({})).toEqual({});
  });

  it('are read from litellm_metadata, except for the user, if the dialect has its own metadata', async () => {
    const body = { max_tokens: 5, metadata: { user_id: 'u-3' }, litellm_metadata: { tags: ['t'], trace_id: 's-3' } };
    expect(await spanFields({ ...body, model: 'claude' }, {}, '/v1/messages')).toEqual({
      'session.id': 's-3',
      'user.id': 'u-3',
      'tag.tags': '["t"]',
    });
    expect(lastBody()).toEqual({
      model: 'claude-up',
      messages: MESSAGES,
      max_tokens: 5,
      metadata: { user_id: 'u-3' },
    });
  });

  it('apply to one call: the next call of the same key does not have them', async () => {
    expect(await spanFields({ user: 'first', tags: ['first'] })).toEqual({
      'user.id': 'first',
      'tag.tags': '["first"]',
    });
    expect(await spanFields({ user: 'second', tags: ['second'] })).toEqual({
      'user.id': 'second',
      'tag.tags': '["second"]',
    });
  });

  it.each([
    [{ tags: 'a' }, 'tags', 'an array of strings'],
    [{ tags: [1] }, 'tags', 'an array of strings'],
    [{ litellm_metadata: 'a' }, 'litellm_metadata', 'an object'],
  ])('400: the invalid body %j', async (body, param, wanted) => {
    expect(await setup.ask({ model: 'one', ...body })).toEqual(
      refused(400, {
        message: `/chat/completions: Invalid type for parameter '${param}': it must be ${wanted}.`,
        type: 'invalid_request_error',
        param,
      }),
    );
  });

  it('400: metadata in a header that is not a JSON object', async () => {
    for (const value of ['{', '[]', '3'])
      expect(await setup.ask({ model: 'one' }, { 'x-litellm-spend-logs-metadata': value })).toEqual(
        refused(400, {
          message:
            "/chat/completions: Invalid value for header 'x-litellm-spend-logs-metadata': it must be a JSON object.",
          type: 'invalid_request_error',
          param: 'x-litellm-spend-logs-metadata',
        }),
      );
  });
});

describe('a form', () => {
  function formOf(fields: Readonly<Record<string, string>>): FormData {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'one', ...fields })) form.append(name, value);
    form.append('file', new Blob(['RIFF']), 'a.wav');
    return form;
  }

  const transcribe = (fields: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
    fetch(`${setup.app.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${setup.app.adminKey}`, ...headers },
      body: formOf(fields),
    });

  it('may have gateway fields, as JSON or as text, which are not forwarded', async () => {
    let calls = 0;
    setup.answerWith((response) => {
      calls += 1;
      response.writeHead(calls === 1 ? 500 : 200, { 'content-type': 'application/json' });
      response.end(calls === 1 ? '{}' : '{"text":"hello"}');
    });
    const trace = newTrace();
    const fields = { num_retries: '1', 'tags[]': 'a', metadata: '{"run":"x"}', fallbacks: 'spare', user: '7' };
    const answer = await transcribe(fields, trace.headers);
    expect([answer.status, await answer.json()]).toEqual([200, { text: 'hello' }]);
    expect(answer.headers.get('x-litellm-attempted-retries')).toBe('1');
    expect(await spansIn(setup.app, trace.traceId)).toMatchObject([
      { attributes: { 'tag.tags': '["a"]', metadata: '{"run":"x"}', 'user.id': '7' } },
    ]);
    expect(
      [...(setup.upstream.received.at(-1)?.body ?? '').matchAll(/; name="([^"]+)"/g)].map(([, name]) => name),
    ).toEqual(['model', 'user', 'file']);
  });

  it('400: an invalid field', async () => {
    const answer = await transcribe({ num_retries: 'often' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        error: {
          message:
            "/audio/transcriptions: Invalid type for parameter 'num_retries': it must be a whole number from 0 to 20.",
          type: 'invalid_request_error',
          param: 'num_retries',
          code: '400',
        },
      },
    ]);
  });
});

describe('x-litellm-enable-message-redaction', () => {
  async function storedSpan(headers: Record<string, string>): Promise<unknown> {
    const trace = newTrace();
    await setup.ask({ model: 'one' }, { ...trace.headers, ...headers });
    const read = await setup.app.call('GET', `/v1/traces/${trace.traceId}`);
    const { spans } = (await read.json()) as { spans: { span_id: string }[] };
    const span = await setup.app.call('GET', `/v1/traces/${trace.traceId}/spans/${spans[0]?.span_id}`);
    const { input, output } = (await span.json()) as { input: unknown; output: unknown };
    return { input, output };
  }

  it('removes prompt and answer from the span if prompts are stored', async () => {
    expect(await storedSpan({})).toEqual({ input: JSON.stringify(MESSAGES), output: 'I am one-up' });
    expect(await storedSpan({ 'x-litellm-enable-message-redaction': 'true' })).toEqual({ input: '', output: '' });
    expect(await storedSpan({ 'x-litellm-enable-message-redaction': 'false' })).toMatchObject({
      output: 'I am one-up',
    });
  });
});

describe('mock_response', () => {
  it('is the answer, at no cost and without an upstream call', async () => {
    const firstIndex = setup.upstream.received.length;
    const trace = newTrace();
    const answer = await setup.ask({ model: 'one', mock_response: 'It is fine.' }, trace.headers);
    expect(answer).toEqual({
      status: 200,
      retryHeaders: {
        'model-group': 'one',
        'model-id': 'mock',
        'attempted-retries': '0',
        'attempted-fallbacks': '0',
      },
      body: {
        id: expect.stringMatching(/^chatcmpl-/),
        object: 'chat.completion',
        created: expect.any(Number),
        model: 'one',
        choices: [{ index: 0, message: { role: 'assistant', content: 'It is fine.' }, finish_reason: 'stop' }],
        // A token per four characters, rounded up: of the messages as JSON, and of the answer.
        usage: { prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 },
      },
    });
    expect(setup.requestedModels(firstIndex)).toEqual([]);
    expect(await spansIn(setup.app, trace.traceId)).toMatchObject([
      { spendRow: { modelGroup: 'one', model: 'mock', costUsd: '0', status: 'SUCCESS' } },
    ]);
  });

  it('is streamed on request, and is the answer in other dialects', async () => {
    const streamAnswer = await setup.ask({ model: 'one', mock_response: 'It is fine.', stream: true });
    expect(streamAnswer.body).toMatch(/"content":"It".*"content":" is".*"content":" fine\.".*data: \[DONE\]\n\n$/s);
    const text = { messages: undefined, mock_response: 'It is fine.' };
    expect(await setup.ask({ model: 'one', ...text, prompt: 'x' }, {}, '/v1/completions')).toMatchObject({
      body: { choices: [{ text: 'It is fine.' }] },
    });
    const message = { model: 'claude', max_tokens: 9, mock_response: 'It is fine.' };
    expect(await setup.ask(message, {}, '/v1/messages')).toMatchObject({
      body: { content: [{ text: 'It is fine.' }] },
    });
    expect(await setup.ask({ model: 'one', ...text, input: 'x' }, {}, '/v1/responses')).toMatchObject({
      body: { output: [{ content: [{ text: 'It is fine.' }] }] },
    });
  });

  it('403: a model that the caller may not call; 400: an unknown model, a value that is not a string, and embeddings', async () => {
    const response = await setup.app.call('POST', '/key/generate', { models: ['one'] });
    const { key } = (await response.json()) as { key: string };
    const mock = { mock_response: 'x' };
    expect((await setup.ask({ model: 'spare', ...mock }, { authorization: `Bearer ${key}` })).status).toBe(403);
    expect((await setup.ask({ model: 'unknown', ...mock })).status).toBe(400);
    expect(await setup.ask({ model: 'one', mock_response: 3 })).toEqual(
      refused(400, {
        message: "/chat/completions: Invalid type for parameter 'mock_response': it must be a string.",
        type: 'invalid_request_error',
        param: 'mock_response',
      }),
    );
    expect(await setup.ask({ model: 'one', input: 'x', ...mock }, {}, '/v1/embeddings')).toEqual(
      refused(400, {
        message: "/embeddings: The parameter 'mock_response' cannot be honoured: the endpoint answers no text.",
        type: 'invalid_request_error',
        param: 'mock_response',
      }),
    );
  });
});

const NOT_CONFIGURED =
  'the configuration does not allow it (general_settings.allow_client_side_credentials, or configurable_clientside_auth_params of the model)';

/** Refused fields: the body, the name of the field, and the reason in the error. */
const REFUSALS: readonly (readonly [object, string, string])[] = [
  [{ api_key: 'sk-mine' }, 'api_key', NOT_CONFIGURED],
  ...['', '_context', '_content_policy'].map((kind): readonly [object, string, string] => {
    const name = `mock_testing${kind}_fallbacks`;
    return [{ [name]: true }, name, 'switches for router tests are disabled'];
  }),
];

describe('gateway fields', () => {
  it.each(REFUSALS)('that are not allowed cause a 400, without an upstream call: %j', async (body, param, reason) => {
    const firstIndex = setup.upstream.received.length;
    const error = `/chat/completions: The parameter '${param}' cannot be honoured: ${reason}.`;
    // As in the reference, `provider_specific_fields` repeats an error about a switch for router tests.
    const repeatedError = param.startsWith('mock_testing') ? { provider_specific_fields: { error } } : {};
    expect(await setup.ask({ model: 'one', ...body })).toEqual(
      refused(400, { message: error, type: 'invalid_request_error', param, ...repeatedError }),
    );
    const message = `/messages: The parameter '${param}' cannot be honoured: ${reason}.`;
    const repeatedMessage = param.startsWith('mock_testing') ? { provider_specific_fields: { error: message } } : {};
    expect(await setup.ask({ model: 'claude', max_tokens: 5, ...body }, {}, '/v1/messages')).toEqual({
      status: 400,
      retryHeaders: {},
      body: { type: 'error', error: { type: 'invalid_request_error', message, ...repeatedMessage } },
    });
    expect(setup.requestedModels(firstIndex)).toEqual([]);
  });

  it('are accepted if their values are empty, null or false', async () => {
    const emptyFields = { guardrails: [], mock_testing_fallbacks: false, api_key: null, tags: null, fallbacks: [] };
    expect(contentOf(await setup.ask({ model: 'one', ...emptyFields }))).toBe('I am one-up');
  });

  it('are not forwarded from chat completions, messages and generateContent', async () => {
    const gatewayFields: Readonly<Record<string, unknown>> = {
      litellm_metadata: { a: 1 },
      tags: ['a'],
      guardrails: [],
      policies: [],
      prompt_id: null,
      prompt_variables: null,
      prompt_version: null,
      include_guardrail_response: true,
      fallbacks: ['spare'],
      context_window_fallback_dict: { one: 'spare' },
      disable_fallbacks: true,
      num_retries: 1,
      timeout: 9,
      stream_timeout: 9,
      cache: { 'no-cache': true },
      caching: true,
      mock_response: null,
      mock_testing_fallbacks: false,
      mock_testing_context_fallbacks: false,
      mock_testing_content_policy_fallbacks: false,
      api_key: null,
      api_base: null,
      drop_params: true,
    };
    expect(Object.keys(gatewayFields).toSorted()).toEqual(GATEWAY_FIELDS.toSorted());
    expect((await setup.ask({ model: 'one', ...gatewayFields })).body).toEqual({
      ...completionOf('one-up'),
      model: 'one',
      guardrail_information: [],
    });
    expect(lastBody()).toEqual({ model: 'one-up', messages: MESSAGES });
    await setup.ask({ model: 'claude', max_tokens: 5, ...gatewayFields }, {}, '/v1/messages');
    expect(lastBody()).toEqual({ model: 'claude-up', messages: MESSAGES, max_tokens: 5 });
    // Google's dialect also accepts members in snake case. With `drop_params: false`, an unknown member causes a 400.
    const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
    const content = { messages: undefined, contents, ...gatewayFields, drop_params: false };
    expect((await setup.ask(content, {}, '/v1beta/models/one:generateContent')).status).toBe(200);
    expect(lastBody()).toEqual({ model: 'one-up', messages: MESSAGES });
  });
});
