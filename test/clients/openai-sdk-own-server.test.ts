import OpenAI, { NotFoundError, RateLimitError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

const CHAT = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'from chat' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'from responses', annotations: [] }],
};
const RESPONSE = {
  id: 'resp_up',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [MESSAGE],
  usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
};
const EVENTS = [
  { type: 'response.created', sequence_number: 0, response: { ...RESPONSE, status: 'in_progress', output: [] } },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: { ...MESSAGE, content: [] } },
  {
    type: 'response.content_part.added',
    sequence_number: 2,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    part: { type: 'output_text', text: '', annotations: [] },
  },
  {
    type: 'response.output_text.delta',
    sequence_number: 3,
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    delta: 'from responses',
  },
  { type: 'response.completed', sequence_number: 4, response: RESPONSE },
];

let upstream: FaultServer;
let app: TestApp;
let openai: OpenAI;
let ide: OpenAI;

/** Answer of the upstream at `/responses`. */
let responses: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> };
const SERVED = { status: 200, body: RESPONSE };

/** Number of requests before the current test. */
let requestsBefore = 0;
/** Paths that the current test called, without the first segment: the name of the model. */
const calledPaths = (): readonly string[] =>
  upstream.received.slice(requestsBefore).map(({ path }) => path.replace(/^\/\w+/, ''));

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response, _socket, { path, body }) => {
    if (!path.endsWith('/responses')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(CHAT));
    }
    const { stream } = JSON.parse(body) as { stream?: boolean };
    if (stream === true && responses.status === 200) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const lines = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      return void response.end(lines.join(''));
    }
    response.writeHead(responses.status, { 'content-type': 'application/json', ...responses.headers });
    response.end(JSON.stringify(responses.body));
  });
  // An address for each case: the gateway caches that an upstream lacks `/responses`.
  const modelWithOwnAddress = (name: string, more: object = {}) => ({
    model_name: name,
    litellm_params: { model: 'openai/up', api_base: `${upstream.url}/${name}`, api_key: 'k', ...more },
  });
  const names = ['served', 'status404', 'status405', 'status501', 'unknown', 'busy'];
  const config = {
    model_list: [
      ...names.map((name) => modelWithOwnAddress(name)),
      modelWithOwnAddress('chats', { use_chat_completions_api: true }),
    ],
  };
  app = await startApp({ config });
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
  ide = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/ide`, maxRetries: 0 });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

beforeEach(() => {
  responses = SERVED;
  requestsBefore = upstream.received.length;
});

/** A request of an IDE: the input of a response at the path of chat completions. */
const askAsIde = (model: string) =>
  ide.chat.completions.create({ model, messages: [], input: [{ role: 'user', content: 'hello' }] } as never);

describe('an OpenAI-compatible server at a configured address', () => {
  it('is called at `/responses`, whole and streamed', async () => {
    const whole = await openai.responses.create({ model: 'served', input: 'hello' });
    expect([whole.output_text, whole.model]).toEqual(['from responses', 'served']);
    const stream = openai.responses.stream({ model: 'served', input: 'hello' });
    expect((await stream.finalResponse()).output_text).toBe('from responses');
    expect(calledPaths()).toEqual(['/responses', '/responses']);
  });

  it('is called at `/responses` for the IDE route', async () => {
    const { choices } = await askAsIde('served');
    expect(choices[0]?.message.content).toBe('from responses');
    expect(calledPaths()).toEqual(['/responses']);
  });

  it.each([404, 405, 501])(
    'that answers %i to `/responses` is called at its chat completions, by later requests only there',
    async (status) => {
      responses = { status, body: { detail: 'no' } };
      const model = `status${status}`;
      for (let nth = 0; nth < 2; nth += 1)
        expect((await openai.responses.create({ model, input: 'hello' })).output_text).toBe('from chat');
      const { choices } = await askAsIde(model);
      expect(choices[0]?.message.content).toBe('from chat');
      expect(calledPaths()).toEqual(['/responses', '/chat/completions', '/chat/completions', '/chat/completions']);
    },
  );

  it('that answers 404 for the model is called at `/responses` again', async () => {
    responses = { status: 404, body: { error: { message: 'no such model', code: 'model_not_found', type: 'x' } } };
    for (let nth = 0; nth < 2; nth += 1)
      await expect(openai.responses.create({ model: 'unknown', input: 'hello' })).rejects.toThrow(NotFoundError);
    expect(calledPaths()).toEqual(['/responses', '/responses']);
  });

  it('is called only at chat completions with `use_chat_completions_api`', async () => {
    expect((await openai.responses.create({ model: 'chats', input: 'hello' })).output_text).toBe('from chat');
    expect(calledPaths()).toEqual(['/chat/completions']);
  });
});

describe('a server that answers with `retry-after`', () => {
  it('has its `retry-after` forwarded to the client', async () => {
    responses = {
      status: 429,
      body: { error: { message: 'slow down', type: 'requests' } },
      headers: { 'retry-after': '7', 'retry-after-ms': '6500', 'x-ratelimit-remaining-requests': '0' },
    };
    const refused = await openai.responses.create({ model: 'busy', input: 'hello' }).catch((error: unknown) => error);
    if (!(refused instanceof RateLimitError)) throw new Error('It was not refused.');
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '7',
      'retry-after-ms': '6500',
      'x-ratelimit-remaining-requests': '0',
    });
  });

  it('is called again by a retry of the client', async () => {
    let calls = 0;
    responses = { status: 503, body: { error: { message: 'later' } }, headers: { 'retry-after-ms': '20' } };
    const patient = new OpenAI({
      apiKey: app.adminKey,
      baseURL: `${app.url}/v1`,
      maxRetries: 1,
      fetch: async (...args) => {
        calls += 1;
        if (calls === 2) responses = SERVED;
        return await fetch(...args);
      },
    });
    expect((await patient.responses.create({ model: 'busy', input: 'hello' })).output_text).toBe('from responses');
    expect(calls).toBe(2);
  });
});
