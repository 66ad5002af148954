import type { ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export type Json = Readonly<Record<string, unknown>>;
export type Answer = readonly [status: number, body: unknown];

/** Answer to a request without a key. */
export const NO_KEY: Answer = [401, { error: expect.objectContaining({ type: 'auth_error', code: '401' }) as Json }];
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;

/** An app with the guardrails `before` and `after` of the kind tool_policy. The answers of its upstream call tools. */
export interface ToolServer {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  ask(method: string, path: string, body?: unknown, key?: string | null): Promise<Answer>;
  /** Asks with the admin key, and returns the status and the text of the answer. */
  text(path: string, body: object): Promise<readonly [number, string]>;
  newKey(draft?: object): Promise<string>;
  stop(): Promise<void>;
}

const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

const chat = (names: readonly string[]): Json => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: names.map((name, index) => ({
          id: `call_${index}`,
          type: 'function',
          function: { name, arguments: '{}' },
        })),
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: USAGE,
});

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

/** A stream that begins with text and then calls tools without arguments. */
const chatEvents = (names: readonly string[]): string =>
  [
    chunk({ role: 'assistant', content: '' }, null),
    ...Array.from({ length: 20 }, () => chunk({ content: 'word ' }, null)),
    ...names.map((name, index) =>
      chunk(
        { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] },
        null,
      ),
    ),
    chunk({}, 'tool_calls'),
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [], usage: USAGE })}\n\n`,
    'data: [DONE]\n\n',
  ].join('');

/** Makes the upstream call these tools in its next answers. */
export function callTools(upstream: FaultServer, ...names: readonly string[]): void {
  upstream.answer((response: ServerResponse, _socket, { body }) => {
    const streams = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' });
    response.end(streams ? chatEvents(names) : JSON.stringify(chat(names)));
  });
}

export async function startToolServer(guardrails: readonly object[] = []): Promise<ToolServer> {
  const upstream = await startFaultServer();
  callTools(upstream);
  const app = await startApp({
    config: {
      general_settings: { demo_model: false, proxy_batch_write_at: 1 },
      guardrails,
      model_list: [
        {
          model_name: 'm',
          litellm_params: {
            model: 'openai/up',
            api_base: `${upstream.url}/v1`,
            api_key: 'k',
            input_cost_per_token: 0.001,
            output_cost_per_token: 0.002,
          },
        },
      ],
    },
  });
  async function ask(method: string, path: string, body?: unknown, key: string | null = app.adminKey): Promise<Answer> {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [answer.status, (await answer.json()) as unknown];
  }
  return {
    app,
    upstream,
    ask,
    async text(path, body) {
      const answer = await app.call('POST', path, body);
      return [answer.status, await answer.text()];
    },
    newKey: async (draft = {}) => String(((await ask('POST', '/key/generate', draft))[1] as Json)['key']),
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** A tool as a chat request offers it. */
export const offered = (name: string): Json => ({ type: 'function', function: { name, parameters: {} } });
export const aChat = (...names: readonly string[]): Json => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  ...(names.length === 0 ? {} : { tools: names.map(offered) }),
});
