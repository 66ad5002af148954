import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import type { ResponsesClientEvent, ResponsesServerEvent } from 'openai/resources/responses/responses';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

let upstream: LLMock;
let app: TestApp;
let openai: OpenAI;
const sockets: ResponsesWS[] = [];

beforeAll(async () => {
  upstream = new LLMock({ port: 0 });
  upstream.onMessage('hello', { content: 'Hi there, friend.' });
  upstream.onMessage('weather', { toolCalls: [{ name: 'weather', arguments: '{"city":"Paris"}' }] });
  await upstream.start();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'native',
          litellm_params: { model: 'openai/gpt-4o', ...params, use_chat_completions_api: false },
        },
        { model_name: 'translated', litellm_params: { model: 'openai/chat_completions/gpt-4o', ...params } },
      ],
    },
  });
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

function connect(client = openai): ResponsesWS {
  const socket = new ResponsesWS(client);
  sockets.push(socket);
  return socket;
}

type Create = Omit<ResponsesClientEvent.ResponseCreate, 'type'>;
type Completed = Extract<ResponsesServerEvent, { type: 'response.completed' }>;

/** Creates a response, and collects its events up to the last one. */
async function ask(socket: ResponsesWS, body: Create): Promise<{ types: string[]; response: Completed['response'] }> {
  const types: string[] = [];
  const events = socket.stream();
  socket.send({ type: 'response.create', ...body });
  for await (const event of events) {
    if (event.type === 'error') throw event.error;
    if (event.type !== 'message') continue;
    types.push(event.message.type);
    if (event.message.type === 'response.completed') return { types, response: event.message.response };
  }
  throw new Error('The connection was closed before the response was complete.');
}

describe.each(['native', 'translated'])('Responses WebSocket of the OpenAI SDK, %s model', (model) => {
  it('receives the events of two responses on one connection', async () => {
    const socket = connect();
    const { types, response } = await ask(socket, { model, input: 'hello' });
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
    expect(types).toContain('response.output_text.delta');
    expect(response).toMatchObject({
      status: 'completed',
      model,
      output: [{ content: [{ text: 'Hi there, friend.' }] }],
    });
    const { response: second } = await ask(socket, { model, input: 'hello', previous_response_id: response.id });
    expect(second).toMatchObject({
      status: 'completed',
      model,
      output: [{ content: [{ text: 'Hi there, friend.' }] }],
    });
  });

  it('continues an unstored response with the result of a tool', async () => {
    const socket = connect();
    const tools = [{ type: 'function' as const, name: 'weather', strict: false, parameters: { type: 'object' } }];
    const { response } = await ask(socket, { model, input: 'weather', tools, store: false, stream_id: 'main' });
    const [call] = response.output;
    if (call?.type !== 'function_call') throw new Error(JSON.stringify(response));
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Rain.' };
    const { response: second } = await ask(socket, {
      model,
      input: [output, { role: 'user', content: 'hello' }],
      previous_response_id: response.id,
      store: false,
      stream_id: 'main',
    });
    expect(second).toMatchObject({
      previous_response_id: response.id,
      output: [{ content: [{ text: 'Hi there, friend.' }] }],
    });
  });
});

describe('Responses WebSocket of the OpenAI SDK', () => {
  it('runs two streams of the demo model in parallel, one of them prepared with `generate: false`', async () => {
    const socket = connect();
    const ready = await ask(socket, { model: 'demo', input: 'My name is Ada.', generate: false, stream_id: 'main' });
    expect(ready.response).toMatchObject({ status: 'completed', output: [] });
    const events = socket.stream();
    /** Completed responses by stream id. */
    const completed = new Map<string, Completed['response']>();
    socket.send({
      type: 'response.create',
      model: 'demo',
      input: 'Who am I?',
      previous_response_id: ready.response.id,
      stream_id: 'main',
    });
    socket.send({ type: 'response.create', model: 'demo', input: 'Hello', stream_id: 'side' });
    for await (const event of events) {
      if (event.type === 'error') throw event.error;
      if (event.type !== 'message' || event.message.type !== 'response.completed') continue;
      completed.set(event.message.stream_id ?? '', event.message.response);
      if (completed.size === 2) break;
    }
    expect([...completed.keys()].toSorted()).toEqual(['main', 'side']);
    expect(completed.get('main')).toMatchObject({ status: 'completed', previous_response_id: ready.response.id });
  });

  it('throws the error of a failed request, and stays open', async () => {
    const socket = connect();
    const refused = ask(socket, { model: 'no-such-model', input: 'hello' });
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining('Invalid model name passed in model=no-such-model'),
      error: { status: 400, error: { code: '400' } },
    });
    expect((await ask(socket, { model: 'demo', input: 'Hello' })).response.status).toBe('completed');
  });

  it('fails at the handshake with an unknown key', async () => {
    const socket = connect(new OpenAI({ apiKey: 'sk-unknown-virtual-key', baseURL: `${app.url}/v1` }));
    const error = await new Promise<Error>((resolve) => {
      socket.on('error', resolve);
    });
    expect(error.message).toContain('401');
  });
});
