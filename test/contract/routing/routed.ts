import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CHAT = '/v1/chat/completions';

/** An entry of `model_list`: model name (default `m`), upstream model, members of `litellm_params` and `model_info`. */
export interface RoutedModel {
  readonly name?: string;
  readonly up: string;
  readonly params?: object;
  readonly info?: object;
}

/** Answer with the id of its deployment. */
interface RoutedAnswer {
  readonly status: number;
  readonly deployment: string | null;
  readonly retryAfter: string | null;
  readonly body: { readonly error?: { readonly message: string; readonly type: string } };
}

/** App with one upstream. The id of a deployment is the name of its upstream model. */
export interface RoutedApp {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  ask(members?: object, headers?: Record<string, string>): Promise<RoutedAnswer>;
  /** Sends a number of calls one after another. Returns the different ids of their deployments, sorted. */
  deploymentsOf(calls: number, members?: object, headers?: Record<string, string>): Promise<readonly string[]>;
  /** Upstream models of all received requests, in the order of arrival. */
  requestedModels(): readonly string[];
  /** Creates a key. Returns the header that authenticates it. */
  keyWith(body: object): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/** Answers of an upstream model: status, delay in ms, and total tokens. */
export interface Behavior {
  readonly status?: number;
  readonly delayMs?: number;
  readonly tokens?: number;
}

/** Starts the app with models at one upstream. `behaviors` has the answers by upstream model. */
export async function startRouted(
  models: readonly RoutedModel[],
  config: object = {},
  behaviors: Readonly<Record<string, Behavior>> = {},
): Promise<RoutedApp> {
  const upstream = await startFaultServer();
  upstream.answer((response, _socket, { body }) => {
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    const { status = 200, delayMs = 0, tokens = 3 } = behaviors[model] ?? {};
    setTimeout(() => {
      if (stream === true && status === 200) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify(chunkOf(model))}\n\ndata: [DONE]\n\n`);
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(status === 200 ? completionOf(model, tokens) : { error: { message: `${model} fails` } }),
      );
    }, delayMs);
  });
  const app = await startApp({
    config: { model_list: models.map((model) => entryOf(model, upstream.url)), ...config },
  });
  const ask: RoutedApp['ask'] = async (members = {}, headers = {}) => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...members };
    const response = await app.call('POST', CHAT, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      deployment: response.headers.get('x-litellm-model-id'),
      retryAfter: response.headers.get('retry-after'),
      body: text.startsWith('{') ? (JSON.parse(text) as RoutedAnswer['body']) : {},
    };
  };
  return {
    app,
    upstream,
    ask,
    async deploymentsOf(calls, members, headers) {
      const ids = new Set<string>();
      for (let call = 0; call < calls; call += 1) ids.add((await ask(members, headers)).deployment ?? 'none');
      return [...ids].toSorted();
    },
    requestedModels: () => upstream.received.map(({ body }) => (JSON.parse(body) as { model: string }).model),
    async keyWith(body) {
      const response = await app.call('POST', '/key/generate', body);
      const { key } = (await response.json()) as { key: string };
      return { authorization: `Bearer ${key}` };
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

const entryOf = ({ name = 'm', up, params = {}, info = {} }: RoutedModel, url: string): object => ({
  model_name: name,
  litellm_params: { model: `openai/chat_completions/${up}`, api_base: `${url}/v1`, api_key: 'sk-up', ...params },
  model_info: { id: up, ...info },
});

const completionOf = (model: string, tokens: number): object => ({
  id: `chatcmpl-${model}`,
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: `I am ${model}` }, finish_reason: 'stop' }],
  usage: { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens },
});

const chunkOf = (model: string): object => ({
  id: `chatcmpl-${model}`,
  object: 'chat.completion.chunk',
  created: 1,
  model,
  choices: [{ index: 0, delta: { role: 'assistant', content: `I am ${model}` }, finish_reason: 'stop' }],
});
