import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export const CREDENTIAL = 'sk-ant-upstream-credential-0123456789';
export const PATHS = ['/v1/messages', '/anthropic/v1/messages'] as const;

export const REQUEST = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
export const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-up-1',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 2, cache_creation_input_tokens: 1, cache_read_input_tokens: 4, output_tokens: 1 },
};
/** Cost of the answer in USD: input 2 * 0.5, cache write 1 * 1, cache read 4 * 0.0625, output 1 * 0.25. */
export const COST = '2.5';

/** App with one scripted upstream, which serves messages (`claude`) and chat completions (`other`). */
export interface MessagesServer {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  stop(): Promise<void>;
  answerWith(status: number, body: unknown, headers?: Record<string, string>): void;
  streamWith(...events: readonly string[]): void;
  ask(body: unknown, headers?: Record<string, string>, path?: string): Promise<ReceivedAnswer>;
  /** Last request that the upstream received. */
  lastUpstreamRequest(): { readonly path: string; readonly headers: Record<string, unknown>; readonly body: unknown };
}

interface ReceivedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

export async function startMessagesServer(): Promise<MessagesServer> {
  const upstream = await startFaultServer();
  const prices = {
    input_cost_per_token: 0.5,
    output_cost_per_token: 0.25,
    cache_read_input_token_cost: 0.0625,
    cache_creation_input_token_cost: 1,
  };
  const params = { api_base: upstream.url, api_key: CREDENTIAL, ...prices };
  const app = await startApp({
    config: {
      general_settings: { max_request_size_mb: 1 },
      model_list: [
        { model_name: 'claude', litellm_params: { model: 'anthropic/claude-up-1', max_tokens: 99, ...params } },
        { model_name: 'other', litellm_params: { model: 'openai/up-1', ...params, api_base: `${upstream.url}/v1` } },
      ],
    },
  });
  return {
    app,
    upstream,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
    answerWith(status, body, headers = {}) {
      upstream.answer((response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof body === 'string' ? body : JSON.stringify(body));
      });
    },
    streamWith(...events) {
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(events.join(''));
      });
    },
    async ask(body, headers = {}, path = PATHS[0]) {
      const response = await app.call('POST', path, body, headers);
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text), headers: Object.fromEntries(response.headers) };
    },
    lastUpstreamRequest() {
      const last = upstream.received.at(-1);
      return { path: last?.path ?? '', headers: last?.headers ?? {}, body: JSON.parse(last?.body ?? 'null') };
    },
  };
}

/** Event of a streamed message. */
export const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

/** Status and body of an error in Anthropic's envelope. */
export const refusal = (status: number, type: string, message: unknown) => ({
  status,
  body: { type: 'error', error: { type, message } },
});
