import type { ServerResponse } from 'node:http';
import { type FaultServer, startFaultServer } from './fault-server.ts';
import { openRealtime, type RealtimeClient } from './realtime-client.ts';
import { startApp, type TestApp } from './start-app.ts';

/** Received event, parsed. */
export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** Types of the events that end a response. */
const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** Open WebSocket for responses. */
export interface ResponseSocket extends RealtimeClient {
  frame(): Promise<Frame>;
  /** Received events up to the end of a response. */
  answer(): Promise<readonly Frame[]>;
  /** Requests a response. Returns its events. */
  ask(body: object): Promise<readonly Frame[]>;
}

export async function openResponses(
  app: TestApp,
  options: { readonly path?: string; readonly headers?: Record<string, string> } = {},
): Promise<ResponseSocket> {
  const client = await openRealtime(app, { path: '/v1/responses', ...options });
  const frame = async (): Promise<Frame> => JSON.parse(await client.nextMessage()) as Frame;
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
      client.sendEvent({ type: 'response.create', ...body });
      return answer();
    },
  };
}

/** Id of the response in the last event. */
export const idOf = (frames: readonly Frame[]): string =>
  String((frames.at(-1) as { response?: Frame })?.response?.['id']);

/** Server-sent event of a response stream. */
export const eventText = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Response of an upstream with the Responses API. */
export const aResponse = (overrides: object = {}): object => ({
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
  ...overrides,
});

/** Complete stream of a response. */
export const streamOf = (response = aResponse()): string =>
  eventText({ type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } }) +
  eventText({ type: 'response.completed', sequence_number: 1, response });

/** Stream of a chat completion with this content. */
export const chatStream = (content: string): string =>
  [
    { id: 'chat', choices: [{ index: 0, delta: { role: 'assistant', content } }] },
    { id: 'chat', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'chat', choices: [], usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');

/** App with one upstream and two models: `chats` uses chat completions, `thinker` the Responses API. */
export interface ResponseSetup {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  newKey(draft?: object): Promise<string>;
  /** Sets the stream that answers the next calls. */
  streamWith(text: string): void;
  /** Holds the next calls to the upstream without an answer. `next` resolves to the next held call. */
  hold(): { next(): Promise<{ readonly response: ServerResponse; readonly body: Readonly<Record<string, unknown>> }> };
  /** Body of the last request to the upstream. */
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
      const response = await app.call('POST', '/key/generate', draft);
      return ((await response.json()) as { key: string }).key;
    },
    streamWith: (text) =>
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(text);
      }),
    hold() {
      type HeldRequest = Awaited<ReturnType<ReturnType<ResponseSetup['hold']>['next']>>;
      const held: HeldRequest[] = [];
      const waiting: ((received: HeldRequest) => void)[] = [];
      upstream.answer((response, _socket, { body }) => {
        const received = { response, body: JSON.parse(body) as HeldRequest['body'] };
        const resolve = waiting.shift();
        if (resolve) resolve(received);
        else held.push(received);
      });
      return {
        next: () =>
          new Promise((resolve) => {
            const received = held.shift();
            if (received) resolve(received);
            else waiting.push(resolve);
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

/** Answers a held call with this stream. */
export function answerWith(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
}
