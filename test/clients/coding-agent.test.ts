import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

let upstream: FaultServer;
let app: TestApp;

beforeAll(async () => {
  upstream = await startFaultServer();
  app = await startApp({
    config: {
      general_settings: { stream_heartbeat_seconds: 0.02 },
      model_list: [
        {
          model_name: 'native',
          litellm_params: { model: 'anthropic/claude-opus-4-8', api_base: upstream.url, api_key: 'k' },
        },
        {
          model_name: 'translated',
          litellm_params: { model: 'openai/gpt-4o', api_base: `${upstream.url}/v1`, api_key: 'k' },
        },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'up', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const MESSAGE = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [],
  usage: { input_tokens: 3, output_tokens: 1 },
};

/** First and last part of the answer of an upstream of each kind. */
const ANSWERS = {
  native: {
    begin: [
      event('message_start', { message: MESSAGE }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
    ].join(''),
    end: [
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' again' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 3, output_tokens: 2 } }),
      event('message_stop'),
    ].join(''),
  },
  translated: {
    begin: chunk({ role: 'assistant', content: 'Hello' }),
    end: `${chunk({ content: ' again' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
  },
} as const;

/** A `fetch`, and a promise that resolves when a response body contains `text` at least `times` times. */
function fetchWatchingFor(
  text: string,
  times: number,
): { readonly fetch: typeof fetch; readonly textReceived: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let output = '';
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      output += Buffer.from(bytes).toString('latin1');
      if (output.split(text).length > times) resolve();
      controller.enqueue(bytes);
    },
  });
  return {
    textReceived: promise,
    async fetch(...args) {
      const answer = await fetch(...args);
      return new Response(answer.body?.pipeThrough(watch) ?? null, answer);
    },
  };
}

describe.each(['native', 'translated'] as const)('a stream of an upstream with a long reasoning phase: %s', (model) => {
  /** The upstream ends its answer when `textReceived` resolves: the client has received the keep-alive messages. */
  function continueAfter(textReceived: Promise<void>): void {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(ANSWERS[model].begin);
      void textReceived.then(() => response.end(ANSWERS[model].end));
    });
  }

  it("reaches Anthropic's SDK whole, because the SDK ignores the pings", async () => {
    const { fetch: watched, textReceived } = fetchWatchingFor('event: ping', 3);
    continueAfter(textReceived);
    const client = new Anthropic({ apiKey: app.adminKey, baseURL: app.url, maxRetries: 0, fetch: watched });
    const body = { model, max_tokens: 9, messages: [{ role: 'user' as const, content: 'x' }] };
    const message = await client.messages.stream(body).finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello again' }]);
    expect(message.stop_reason).toBe('end_turn');
  });

  it("reaches OpenAI's SDK whole, because the SDK ignores the comments", async () => {
    const { fetch: watched, textReceived } = fetchWatchingFor(': heartbeat', 2);
    continueAfter(textReceived);
    const client = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0, fetch: watched });
    const body = { model, messages: [{ role: 'user' as const, content: 'x' }] };
    const { choices } = await client.chat.completions.stream(body).finalChatCompletion();
    expect(choices[0]).toMatchObject({ message: { content: 'Hello again' }, finish_reason: 'stop' });
  });
});

const EPHEMERAL = { cache_control: { type: 'ephemeral' } };
const TOOLS = ['Bash', 'Read', 'Edit', 'Grep'].map((name) => ({
  name,
  description: `${name} something.`,
  input_schema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
}));
/**
 * Request of a local coding tool, such as Claude Code: cache control, tools, tool results, thinking blocks and settings
 * that only Anthropic has.
 */
const AGENT_REQUEST = {
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'You are a coding agent.' },
    { type: 'text', text: 'Be brief.', ...EPHEMERAL },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: '<system-reminder>Today is Friday.</system-reminder>' },
        { type: 'text', text: 'Fix it.' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Look first.', signature: 'sig' },
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { what: 'a.ts' } },
        { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { what: 'ls' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'const a = 1;' }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no such folder', is_error: true, ...EPHEMERAL },
        { type: 'text', text: 'Go on.', ...EPHEMERAL },
      ],
    },
  ],
  tools: TOOLS,
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_1_account__session_2' },
};

describe('the request of a local coding tool', () => {
  async function askAsAgent(
    model: keyof typeof ANSWERS,
  ): Promise<{ readonly headers: Headers; readonly text: string }> {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${ANSWERS[model].begin}${ANSWERS[model].end}`);
    });
    const betas = { 'anthropic-beta': 'context-management-2025-06-27', 'anthropic-version': '2023-06-01' };
    const answer = await app.call('POST', '/v1/messages?beta=true', { model, ...AGENT_REQUEST }, betas);
    expect(answer.status).toBe(200);
    return { headers: answer.headers, text: await answer.text() };
  }
  const upstreamBody = (): unknown => JSON.parse(upstream.received.at(-1)?.body ?? '');

  it('reaches an upstream of the same dialect with another model name and no other change', async () => {
    await askAsAgent('native');
    expect(upstreamBody()).toEqual({ ...AGENT_REQUEST, model: 'claude-opus-4-8' });
  });

  it('reaches a model of another dialect; a header of the answer names the dropped fields', async () => {
    const { headers, text } = await askAsAgent('translated');
    // Indexes count the system prompt as the first message, and both tool results as one message.
    // The text after the tool results is the next message.
    expect(headers.get('x-gateway-dropped-params')?.split(', ')).toEqual([
      'context_management',
      'messages[0].cache_control',
      'messages[2].reasoning',
      'messages[3].cache_control',
      'messages[3].is_error',
      'messages[4].content[0].cache_control',
    ]);
    expect(upstreamBody()).toEqual({
      model: 'gpt-4o',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 32_000,
      reasoning_effort: 'high',
      user: 'user_1_account__session_2',
      messages: [
        { role: 'system', content: 'You are a coding agent.\n\nBe brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>Today is Friday.</system-reminder>' },
            { type: 'text', text: 'Fix it.' },
          ],
        },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { id: 'toolu_1', type: 'function', function: { name: 'Read', arguments: '{"what":"a.ts"}' } },
            { id: 'toolu_2', type: 'function', function: { name: 'Bash', arguments: '{"what":"ls"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'const a = 1;' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'no such folder' },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      ],
      tools: TOOLS.map(({ name, description, input_schema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    });
    const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    expect(types.filter((type) => type !== 'ping')).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });
});
