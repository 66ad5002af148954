import { afterAll, beforeAll, expect } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Servers of the current test file. */
export const servers = {} as { app: TestApp; upstream: FaultServer };

/** Starts app and upstream before the tests of a file, and stops them after the tests. */
export function startServersForFile(): void {
  beforeAll(async () => {
    servers.upstream = await startFaultServer();
    const params = { api_base: `${servers.upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
    const responsesParams = {
      ...params,
      use_chat_completions_api: false,
      input_cost_per_token: 0.5,
      output_cost_per_token: 0.25,
    };
    servers.app = await startApp({
      config: {
        model_list: [
          { model_name: 'gpt', litellm_params: { model: 'openai/up-1', ...responsesParams } },
          { model_name: 'gpt-thinking-low', litellm_params: { model: 'openai/up-2', ...responsesParams } },
          {
            model_name: 'chats',
            litellm_params: { model: 'openai/up-3', ...params, use_chat_completions_api: true },
          },
        ],
      },
    });
  });

  afterAll(async () => {
    await servers.app.stop();
    await servers.upstream.stop();
  });
}

export const PATH = '/ide/chat/completions';
export const INPUT = [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }];
export const MESSAGE = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
export const FUNCTION_CALL = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' };
export const CUSTOM_CALL = { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin\n' };
/** Answer that costs 1.25 with the prices of `gpt`. */
export const RESPONSE = {
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  model: 'up-1',
  output: [MESSAGE],
  usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
};

export function answerWith(status: number, body: unknown): void {
  servers.upstream.answer((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

export type Event = { readonly type: string; readonly [member: string]: unknown };

export function streamWith(...events: readonly Event[]): void {
  servers.upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
}

export async function newKey(draft: object): Promise<Record<string, string>> {
  const response = await servers.app.call('POST', '/key/generate', draft);
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

export async function ask(body: unknown, headers: Record<string, string> = {}, path = PATH) {
  const response = await servers.app.call('POST', path, body, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

/** Members of every chunk except an error: their values, or the types of `id` and `created`. */
const FRAME = { id: 'string', object: 'chat.completion.chunk', created: 'number', model: 'gpt' };

/** Requests a stream. Returns its chunks without the members of `FRAME`, and the complete text. */
export async function askStreamed(
  body: object,
): Promise<{ readonly chunks: readonly unknown[]; readonly text: string }> {
  const response = await servers.app.call('POST', PATH, { ...body, stream: true });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const text = await response.text();
  const frames: unknown[] = [];
  const chunks = text
    .trimEnd()
    .split('\n\n')
    .map((event) => event.slice('data: '.length))
    .map((data): unknown => {
      if (data === '[DONE]') return data;
      const { id, object, created, model, ...members } = JSON.parse(data) as Record<string, unknown>;
      frames.push(members['error'] === undefined ? { id: typeof id, object, created: typeof created, model } : FRAME);
      return members;
    });
  expect(frames).toEqual(frames.map(() => FRAME));
  return { chunks, text };
}

/** Body of the last request to the upstream. */
export const lastUpstreamBody = (): unknown => JSON.parse(servers.upstream.received.at(-1)?.body ?? '');

/** Answer with an error. */
export const refusal = (status: number, error: object) => ({
  status,
  body: { error: { code: String(status), ...error } },
});

/** Answer with a chat completion. */
export const completionAnswer = (message: object, finish = 'stop', usage: object = {}) => ({
  status: 200,
  body: {
    id: expect.stringMatching(/^resp_/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'gpt',
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        finish_reason: finish,
        message: {
          role: 'assistant',
          content: 'Hi',
          tool_calls: null,
          function_call: null,
          provider_specific_fields: null,
          ...message,
        },
      },
    ],
    usage: {
      prompt_tokens: 2,
      completion_tokens: 1,
      total_tokens: 3,
      prompt_tokens_details: null,
      completion_tokens_details: null,
      ...usage,
    },
  },
});
