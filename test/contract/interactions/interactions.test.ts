import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Json, type ResponseClient, startResponses } from '../responses/response-client.ts';

const PATH = '/v1beta/interactions';
const USAGE = {
  prompt_tokens: 9,
  completion_tokens: 5,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"city":"Wien"}' } };

let client: ResponseClient;
beforeAll(async () => {
  client = await startResponses();
});
afterAll(() => client.stop());
beforeEach(() => answerWith({ role: 'assistant', content: 'Hi' }));

function answerWith(message: object, reason = 'stop'): void {
  client.upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'chat', choices: [{ message, finish_reason: reason }], usage: USAGE }));
  });
}

async function ask(body: object, path = PATH): Promise<{ readonly status: number; readonly body: Json }> {
  const response = await client.app.call('POST', path, { model: 'chats', ...body }, client.key);
  return { status: response.status, body: (await response.json()) as Json };
}

const upstreamBody = (): Json => JSON.parse(client.upstream.received.at(-1)?.body ?? '{}') as Json;
const invalid = (member: string, message: string) => ({
  status: 400,
  body: { error: { code: 400, message: `/interactions: ${member}: ${message}.`, status: 'INVALID_ARGUMENT' } },
});

describe('interactions.create', () => {
  it.each([PATH, '/interactions'])('200: the answer as an interaction (%s)', async (path) => {
    const { status, body } = await ask({ input: 'Hello' }, path);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
        object: 'interaction',
        model: 'chats',
        agent: null,
        status: 'completed',
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        updated: body['created'],
        outputs: [{ type: 'text', text: 'Hi' }],
        steps: [{ type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }],
        usage: { total_input_tokens: 9, total_output_tokens: 5, total_cached_tokens: 4, total_thought_tokens: 2 },
      },
    });
  });

  it('200: settings, instructions, tools and the response format are sent to the model', async () => {
    const { status } = await ask({
      input: 'Hello',
      system_instruction: 'Be brief.',
      generation_config: { temperature: 0.1, top_p: 0.5, max_output_tokens: 50, tool_choice: 'any', seed: null },
      tools: [{ type: 'function', name: 'look', description: 'Look.', parameters: { type: 'object', properties: {} } }],
      response_format: { type: 'text', mime_type: 'application/json', schema: { type: 'object' } },
      agent: null,
    });
    expect(status).toBe(200);
    expect(upstreamBody()).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      temperature: 0.1,
      top_p: 0.5,
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'look', description: 'Look.' } }],
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    });
  });

  it('200: content, turns, steps, calls and results become messages of a conversation', async () => {
    await ask({
      input: [
        { type: 'text', text: 'Look:' },
        { type: 'image', data: 'AAAA', mime_type: 'image/png' },
        { role: 'model', content: 'Yes?' },
        { type: 'user_input', content: [{ type: 'text', text: 'The weather.' }] },
        { type: 'thought', summary: [] },
        { type: 'function_call', id: 'c1', name: 'look', arguments: { city: 'Wien' } },
        { type: 'function_result', call_id: 'c1', name: 'look', result: [{ type: 'text', text: 'Rain.' }] },
      ],
    });
    expect(upstreamBody()['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'The weather.' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c1', content: 'Rain.' },
    ]);
  });

  it('200: a function call requires an action, and its result continues the interaction', async () => {
    answerWith({ role: 'assistant', content: null, tool_calls: [CALL] }, 'tool_calls');
    const first = await ask({ input: 'Weather?' });
    const step = { type: 'function_call', id: 'c1', name: 'look', arguments: { city: 'Wien' } };
    expect(first.body).toMatchObject({ status: 'requires_action', steps: [step], outputs: [step] });

    answerWith({ role: 'assistant', content: 'It rains.' });
    const result = { type: 'function_result', call_id: 'c1', result: { weather: 'rain' } };
    const second = await ask({ input: [result], previous_interaction_id: first.body['id'] });
    expect(second.body).toMatchObject({ status: 'completed', previous_interaction_id: first.body['id'] });
    expect(upstreamBody()['messages']).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'c1', content: '{"weather":"rain"}' },
    ]);
  });

  it.each([
    [{}, 'input', 'it is required'],
    [{ input: 3 }, 'input', 'it must be an object'],
    [{ input: [{ type: 'zzz' }] }, 'input.0.type', 'steps of this type cannot be honoured'],
    [{ input: [{ role: 'user', content: 3 }] }, 'input.0.content', 'it must be a string or an array'],
    [
      { input: [{ role: 'user', content: [{ role: 'user', content: 'a' }] }] },
      'input.0.content.0.type',
      'content of this type cannot be honoured',
    ],
    [{ input: [{ type: 'text' }] }, 'input.0.text', 'it must be a string'],
    [{ input: { type: 'image' } }, 'input', 'it must have a uri, or data and mime_type'],
    [{ input: { type: 'audio', data: 'A' } }, 'input.type', 'content of this type cannot be honoured here'],
    [{ input: 'a', model: 3 }, 'model', 'it must be a string'],
    [{ input: 'a', agent: 'deep-research' }, 'agent', 'it cannot be honoured'],
    [{ input: 'a', generation_config: { seed: 1 } }, 'generation_config.seed', 'it cannot be honoured'],
    [
      { input: 'a', tools: [{ type: 'maps' }] },
      'tools.0',
      'it must be an object of the type function or google_search',
    ],
    [{ input: 'a', response_modalities: ['audio'] }, 'response_modalities', 'only text is answered here'],
    [{ input: 'a', response_format: { type: 'image' } }, 'response_format', 'only text is answered here'],
  ])('400: an invalid request: %j', async (body, member, message) => {
    const before = client.upstream.received.length;
    expect(await ask(body)).toEqual(invalid(member, message));
    expect(client.upstream.received.length).toBe(before);
  });

  it('401: no key; 403: a model that the key may not call; 429, 500 and 503: the status of the upstream', async () => {
    const withoutKey = await client.app.call('POST', PATH, { model: 'chats', input: 'a' }, { authorization: '' });
    expect([withoutKey.status, await withoutKey.json()]).toMatchObject([401, { error: { code: 401 } }]);
    const thinkerKey = await client.newKey({ models: ['thinker'] });
    const denied = await client.app.call('POST', PATH, { model: 'chats', input: 'a' }, thinkerKey);
    expect([denied.status, await denied.json()]).toMatchObject([403, { error: { code: 403 } }]);
    for (const status of [429, 500, 503]) {
      client.upstream.answer((response) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end('{"error":{"message":"not now"}}');
      });
      expect(await ask({ input: 'a', num_retries: 0 })).toMatchObject({ status, body: { error: { code: status } } });
    }
  });

  it('422: a used-up budget', async () => {
    const key = await client.newKey({ max_budget: 0 });
    const refused = await client.app.call('POST', PATH, { model: 'chats', input: 'a' }, key);
    expect([refused.status, await refused.json()]).toMatchObject([422, { error: { code: 422 } }]);
  });
});

describe('a stored interaction', () => {
  it('interactions.get, interactions.delete 200: its owner reads and deletes it; 404: another key, a deleted interaction', async () => {
    const { body } = await ask({ input: 'Hello' });
    const path = `${PATH}/${String(body['id'])}`;
    expect(await client.call('GET', path)).toEqual({ status: 200, body });
    const otherKey = await client.newKey();
    expect(await client.call('GET', path, otherKey)).toMatchObject({ status: 404, body: { error: { code: 404 } } });
    expect(await client.call('DELETE', path)).toEqual({ status: 200, body: {} });
    expect(await client.call('GET', path)).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } });
    expect(await client.call('DELETE', path)).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } });
  });

  it('interactions.cancel, interactions.get, interactions.delete 400: a completed interaction, or a request with `stream`', async () => {
    const { body } = await ask({ input: 'Hello' });
    const path = `${PATH}/${String(body['id'])}`;
    expect(await client.call('POST', `${path}/cancel`)).toMatchObject({ status: 400, body: { error: { code: 400 } } });
    const message = '/interactions: A stored interaction is not streamed: leave out `stream`.';
    const refused = { status: 400, body: { error: { message } } };
    expect(await client.call('GET', `${path}?stream=true`)).toMatchObject(refused);
    expect(await client.call('DELETE', `${path}?stream=true`)).toMatchObject(refused);
  });

  it('interactions.get, interactions.cancel 200: an interaction that its upstream stores', async () => {
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] }];
    const response = { id: 'resp_up', object: 'response', created_at: 60, model: 'up-2', output, usage: null };
    const answerInState = (status: string): void =>
      client.upstream.answer((answer) => {
        answer.writeHead(200, { 'content-type': 'application/json' });
        answer.end(JSON.stringify({ ...response, status }));
      });
    answerInState('completed');
    const { body } = await ask({ model: 'thinker', input: 'Hello' });
    expect(body).toMatchObject({ created: '1970-01-01T00:01:00Z', outputs: [{ type: 'text', text: 'Yes' }] });
    const path = `${PATH}/${String(body['id'])}`;
    expect(await client.call('GET', path)).toEqual({ status: 200, body });
    answerInState('cancelled');
    expect(await client.call('POST', `${path}/cancel`)).toEqual({
      status: 200,
      body: { ...body, status: 'cancelled' },
    });
  });

  it('interactions.get, interactions.delete, interactions.cancel 500 and 503: its upstream fails', async () => {
    client.upstream.answer((answer) => {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ id: 'resp_up', object: 'response', status: 'completed', output: [], usage: null }));
    });
    const { body } = await ask({ model: 'thinker', input: 'Hello' });
    const path = `${PATH}/${String(body['id'])}`;
    for (const status of [500, 503]) {
      client.upstream.answer((answer) => {
        answer.writeHead(status, { 'content-type': 'application/json' });
        answer.end('{"error":{"message":"not now"}}');
      });
      const failed = { status, body: { error: { code: status, message: expect.stringContaining('not now') } } };
      expect(await client.call('GET', path)).toMatchObject(failed);
      expect(await client.call('DELETE', path)).toMatchObject(failed);
      expect(await client.call('POST', `${path}/cancel`)).toMatchObject(failed);
    }
  });

  it('interactions.get, interactions.delete, interactions.cancel 401: no key; 403: an id not issued here; 404: a deleted interaction', async () => {
    const calls = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/cancel'],
    ] as const;
    const { body } = await ask({ input: 'Hello' });
    await client.call('DELETE', `${PATH}/${String(body['id'])}`);
    for (const [method, ending] of calls) {
      expect(await client.call(method, `${PATH}/resp_x${ending}`, { authorization: '' })).toMatchObject({
        status: 401,
        body: { error: { code: 401, status: 'UNAUTHENTICATED' } },
      });
      expect(await client.call(method, `${PATH}/resp_x${ending}`)).toEqual({
        status: 403,
        body: {
          error: {
            code: 403,
            message: 'This response id was not issued by this gateway, so its owner is unknown.',
            status: 'PERMISSION_DENIED',
          },
        },
      });
      expect(await client.call(method, `${PATH}/${String(body['id'])}${ending}`)).toMatchObject({
        status: 404,
        body: { error: { code: 404, status: 'NOT_FOUND' } },
      });
    }
  });
});

describe('a streamed interaction', () => {
  function streamWith(...deltas: readonly object[]): void {
    client.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const [index, delta] of deltas.entries()) {
        const reason = index === deltas.length - 1 ? 'tool_calls' : null;
        response.write(
          `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`,
        );
      }
      response.end(`data: ${JSON.stringify({ id: 'c', choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`);
    });
  }

  it('interactions.create 200: streams its steps in order, then state and usage', async () => {
    const piece = (index: number, members: object) => ({ tool_calls: [{ index, ...members }] });
    streamWith(
      { role: 'assistant', content: 'Let' },
      { content: ' me look.' },
      piece(0, { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"city":' } }),
      piece(0, { function: { arguments: '"Wien"}' } }),
    );
    const body = { model: 'chats', input: 'Weather?', stream: true };
    const response = await client.app.call('POST', PATH, body, client.key);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = (await response.text()).trimEnd().split('\n\n');
    expect(events.at(-1)).toBe('event: done\ndata: [DONE]');
    const values = events.slice(0, -1).map((event) => {
      const [name, data] = event.split('\n');
      const value = JSON.parse(data?.slice('data: '.length) ?? '') as Json;
      expect(name).toBe(`event: ${String(value['event_type'])}`);
      return value;
    });
    const interactionFields = {
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'interaction',
      model: 'chats',
      created: expect.any(String),
      updated: expect.any(String),
    };
    const delta = (index: number, value: object) => ({ event_type: 'step.delta', index, delta: value });
    const call = { type: 'function_call', id: 'c1', name: 'look', arguments: {} };
    expect(values).toEqual([
      { event_type: 'interaction.created', interaction: { ...interactionFields, status: 'in_progress' } },
      { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
      delta(0, { type: 'text', text: 'Let' }),
      delta(0, { type: 'text', text: ' me look.' }),
      { event_type: 'step.stop', index: 0 },
      { event_type: 'step.start', index: 1, step: call },
      delta(1, { type: 'arguments_delta', arguments: '{"city":' }),
      delta(1, { type: 'arguments_delta', arguments: '"Wien"}' }),
      { event_type: 'step.stop', index: 1 },
      {
        event_type: 'interaction.completed',
        interaction: {
          ...interactionFields,
          status: 'requires_action',
          usage: { total_input_tokens: 9, total_output_tokens: 5, total_cached_tokens: 4, total_thought_tokens: 2 },
        },
      },
    ]);
    const { interaction } = values[0] as { readonly interaction: { readonly id: string } };
    expect(await client.call('GET', `${PATH}/${interaction.id}`)).toMatchObject({
      status: 200,
      body: { status: 'requires_action', steps: [{ type: 'model_output' }, { type: 'function_call' }] },
    });
  });

  it('ends with an error event if the upstream closes the connection', async () => {
    client.upstream.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choices = [{ index: 0, delta: { role: 'assistant', content: 'Let' }, finish_reason: null }];
      response.write(`data: ${JSON.stringify({ id: 'c', choices })}\n\n`, () => socket.destroy());
    });
    const body = { model: 'chats', input: 'Weather?', stream: true };
    const response = await client.app.call('POST', PATH, body, client.key);
    const text = await response.text();
    expect(text).toContain('"delta":{"type":"text","text":"Let"}');
    const last = text.trimEnd().split('\n\n').at(-1);
    expect(last).toMatch(/^event: error\ndata: {"event_type":"error","error":{"code":"[A-Z_]+","message":".+"}}$/);
  });
});
