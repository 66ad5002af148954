import type { ServerResponse } from 'node:http';
import { type FaultServer, startFaultServer } from './fault-server.ts';
import { openRealtime, type RealtimeClient } from './realtime-client.ts';
import { startApp, type TestApp } from './start-app.ts';

/** One event that came, parsed. */
export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** A connection for responses that is open. */
export interface ResponseSocket extends RealtimeClient {
  frame(): Promise<Frame>;
  /** The events that come, up to one that ends a response. */
  answer(): Promise<readonly Frame[]>;
  /** Asks for a response; gives its events. */
  ask(body: object): Promise<readonly Frame[]>;
}

export async function openResponses(
  app: TestApp,
  asked: { readonly path?: string; readonly headers?: Record<string, string> } = {},
): Promise<ResponseSocket> {
  const client = await openRealtime(app, { path: '/v1/responses', ...asked });
  const frame = async (): Promise<Frame> => JSON.parse(await client.heard()) as Frame;
  async function answer(): Promise<readonly Frame[]> {
    const frames: Frame[] = [];
    for (;;) {
      const next = await frame();
      frames.push(next);
      if (LAST.has(next.type)) return frames;
    }
  }
  return {
    ...client,
    frame,
    answer,
    ask(body) {
      client.say({ type: 'response.create', ...body });
      return answer();
    },
  };
}

/** The id of the response that these events end with. */
export const idOf = (frames: readonly Frame[]): string =>
  String((frames.at(-1) as { response?: Frame })?.response?.['id']);

/** A server-sent event of a response. */
export const eventText = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** A response of an upstream that has the API. */
export const aResponse = (differing: object = {}): object => ({
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  model: 'up-2',
  output: [
    {
      id: 'msg_up',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi' }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
  previous_response_id: null,
  ...differing,
});

/** The whole stream of one. */
export const streamOf = (response = aResponse()): string =>
  eventText({ type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } }) +
  eventText({ type: 'response.completed', sequence_number: 1, response });

/** A chat's stream that says a text. */
export const chatStream = (content: string): string =>
  [
    { id: 'chat', choices: [{ index: 0, delta: { role: 'assistant', content } }] },
    { id: 'chat', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'chat', choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');

/** The product before an upstream of chat completions (`chats`), and one with a Responses API (`thinker`). */
export interface ResponseSetup {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  newKey(draft?: object): Promise<string>;
  /** How calls are answered from now on. */
  streamWith(text: string): void;
  /** From now on calls wait until their answers are given: the next one that comes. */
  hold(): { next(): Promise<{ readonly response: ServerResponse; readonly body: Readonly<Record<string, unknown>> }> };
  /** What the upstream was sent last. */
  sent(): Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

export async function startResponseSetup(settings: Record<string, unknown> = {}): Promise<ResponseSetup> {
  const upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  const prices = { input_cost_per_token: 0.5, output_cost_per_token: 0.25 };
  const native = { ...params, ...prices, use_chat_completions_api: false };
  const app = await startApp({
    config: {
      model_list: [
        { model_name: 'chats', litellm_params: { model: 'openai/chat_completions/up-1', ...params, ...prices } },
        { model_name: 'thinker', litellm_params: { model: 'openai/up-2', ...native } },
      ],
      general_settings: settings,
    },
  });
  return {
    app,
    upstream,
    async newKey(draft = {}) {
      const made = await app.call('POST', '/key/generate', draft);
      return ((await made.json()) as { key: string }).key;
    },
    streamWith: (text) =>
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(text);
      }),
    hold() {
      type Held = Awaited<ReturnType<ReturnType<ResponseSetup['hold']>['next']>>;
      const came: Held[] = [];
      const asked: ((held: Held) => void)[] = [];
      upstream.answer((response, _socket, { body }) => {
        const held = { response, body: JSON.parse(body) as Held['body'] };
        const ask = asked.shift();
        if (ask) ask(held);
        else came.push(held);
      });
      return {
        next: () =>
          new Promise((resolve) => {
            const held = came.shift();
            if (held) resolve(held);
            else asked.push(resolve);
          }),
      };
    },
    sent: () => JSON.parse(upstream.received.at(-1)?.body ?? '') as Readonly<Record<string, unknown>>,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** Answers a call that waited. */
export function answerWith(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
}
