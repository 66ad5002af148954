import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

export const CHAT = '/v1/chat/completions';
export const MESSAGES = [{ role: 'user', content: 'x' }];

/** Response with its headers about retries, fallbacks, the model group and the deployment. */
export interface Answer {
  readonly status: number;
  readonly retryHeaders: Record<string, string>;
  readonly body: unknown;
}

/** App with one upstream that serves scripted models. */
export interface ScriptedApp {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  /**
   * Sets the answers of upstream models, in order. A number is a status, an object is an error with status 400. The
   * last answer of a model repeats. A model without answers in the script answers 200.
   */
  plan(script: Record<string, readonly (number | object)[]>): void;
  /** Replaces the script by a handler until the next `plan`. */
  answerWith(answer: Parameters<FaultServer['answer']>[0]): void;
  ask(body: object, headers?: Record<string, string>, path?: string): Promise<Answer>;
  /** Upstream models of the requests in the order of arrival. Skips the first `firstIndex` requests. */
  requestedModels(firstIndex?: number): string[];
  /** Resolves at the next error answer of a model. */
  nextError(model: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the app and its upstream. `config` is configuration besides the list of models. */
export async function startScripted(config: object = {}): Promise<ScriptedApp> {
  const upstream = await startFaultServer();
  const app = await startApp({ config: { model_list: modelsAt(upstream.url), ...config } });
  let script: Record<string, readonly (number | object)[]> = {};
  const errorListeners = new Map<string, () => void>();
  const answerByScript: Parameters<FaultServer['answer']>[0] = (response, _socket, { path, body }) => {
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    const [current = 200, ...later] = script[model] ?? [];
    if (later.length > 0) script[model] = later;
    const status = typeof current === 'number' ? current : 400;
    if (status !== 200) {
      // Seconds before a retry. A test can cancel a call to `slow-up` before its retry.
      const wait = model === 'slow-up' ? '30' : '0.01';
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': wait });
      const error = typeof current === 'number' ? { message: `${model} says ${status}`, type: 'its_type' } : current;
      response.end(JSON.stringify({ error }), () => errorListeners.get(model)?.());
      return;
    }
    if (stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunkOf(model))}\n\ndata: [DONE]\n\n`);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(path.endsWith('/messages') ? messageOf(model) : completionOf(model)));
  };
  return {
    app,
    upstream,
    plan(next) {
      script = next;
      upstream.answer(answerByScript);
    },
    answerWith: (answer) => upstream.answer(answer),
    async ask(body, headers = {}, path = CHAT) {
      const response = await app.call('POST', path, { messages: MESSAGES, ...body }, headers);
      const retryHeaders = [...response.headers].flatMap(([name, value]): [string, string][] =>
        /^x-litellm-(attempted|max|model-group|model-id)|^retry-after/.test(name)
          ? [[name.replace('x-litellm-', ''), value]]
          : [],
      );
      const text = await response.text();
      return {
        status: response.status,
        retryHeaders: Object.fromEntries(retryHeaders),
        body: text.startsWith('{') ? JSON.parse(text) : text,
      };
    },
    requestedModels: (firstIndex = 0) =>
      upstream.received.slice(firstIndex).map(({ body }) => (JSON.parse(body) as { model: string }).model),
    nextError: (model) => new Promise((resolve) => void errorListeners.set(model, resolve)),
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

function modelsAt(url: string): readonly object[] {
  const priced = { api_key: 'sk-up', timeout: 20, input_cost_per_token: 0.25, output_cost_per_token: 0.5 };
  const openai = (model_name: string, model: string, overrides: object = {}) => ({
    model_name,
    litellm_params: { ...priced, model: `openai/chat_completions/${model}`, api_base: `${url}/v1`, ...overrides },
  });
  return [
    openai('one', 'one-up'),
    openai('pair', 'pair-a'),
    { ...openai('pair', 'pair-b'), model_info: { id: 'pair-b-id' } },
    openai('spare', 'spare-up'),
    openai('slow', 'slow-up'),
    openai('free', 'free-up', { input_cost_per_token: 0, output_cost_per_token: 0 }),
    { model_name: 'claude', litellm_params: { ...priced, model: 'anthropic/claude-up', api_base: url } },
  ];
}

/** Chat completion of an upstream model. It costs 1 with the prices of every model except `free`. */
export const completionOf = (model: string) => ({
  id: `chatcmpl-${model}`,
  object: 'chat.completion',
  created: 1,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: `I am ${model}` }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
});

const chunkOf = (model: string) => ({
  id: `chatcmpl-${model}`,
  object: 'chat.completion.chunk',
  created: 1,
  model,
  choices: [{ index: 0, delta: { role: 'assistant', content: `I am ${model}` }, finish_reason: 'stop' }],
});

const messageOf = (model: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: `I am ${model}` }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 2, output_tokens: 1 },
});

/** Error in the format of OpenAI, without headers about retries. */
export const refused = (status: number, error: object): Answer => ({
  status,
  retryHeaders: {},
  body: { error: { param: null, code: String(status), ...error } },
});

/** Error about a failure of the upstream, with its `retry-after` time. */
export const upstreamFailure = (status: number, error: object): Answer => ({
  ...refused(status, error),
  retryHeaders: { 'retry-after': '0.01' },
});

/** Text of a chat completion. */
export const contentOf = (answer: Answer): unknown =>
  (answer.body as ReturnType<typeof completionOf>).choices[0]?.message.content;
