import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Parts of a response that tests compare. */
interface ReceivedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** App with guardrails and an upstream that records its requests. */
export interface GuardedApp {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  ask(path: string, body: object, headers?: Record<string, string>): Promise<ReceivedAnswer>;
  /** Sets the texts of the next answers. */
  setAnswer(...texts: readonly string[]): void;
  /** Requests that the upstream received since the start of the last `ask`. */
  upstreamRequests(): readonly { readonly path: string; readonly body: string }[];
  newKey(draft?: object): Promise<{ readonly authorization: string }>;
  stop(): Promise<void>;
}

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

/** Default text of answers. */
const DEFAULT_TEXT = 'hello there';

/**
 * Upstream answer with these texts, in the format of a path. The answer to a decision is a choice whose value is the
 * text, or a predicate if the text is the default text.
 */
function answerAt(path: string, texts: readonly string[]): unknown {
  const text = texts.join('');
  if (path.endsWith('/messages'))
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 3 },
    };
  if (path.endsWith('/responses'))
    return {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'up',
      output: [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
    };
  if (path.endsWith('/embeddings'))
    return { object: 'list', model: 'up', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage };
  if (path.includes(':generateContent'))
    return {
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
      modelVersion: 'up',
    };
  if (path.endsWith('/decisions'))
    return {
      model: 'up',
      answers: [
        text === DEFAULT_TEXT
          ? { type: 'predicate', name: 'ok', probability: 0.9 }
          : {
              type: 'choice',
              name: 'ok',
              choice: text,
              confidence: 1,
              probabilities: [{ value: text, probability: 1 }],
            },
      ],
      usage: {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
    };
  if (path.endsWith('/systemone'))
    return { model: 'up', answers: { ok: { type: 'noul', noul: 0.9 } }, usage: { input_tokens: 9, output_tokens: 3 } };
  if (path.endsWith('/chat/completions'))
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage,
    };
  if (path.endsWith('/completions'))
    return {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'up',
      choices: [{ index: 0, text, finish_reason: 'stop', logprobs: null }],
      usage,
    };
  return { echo: true, text };
}

/** Server-sent events of a streamed chat. */
function chatEvents(texts: readonly string[]): string {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'up',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  return [...texts.map((content) => chunk({ content }, null)), chunk({}, 'stop'), 'data: [DONE]\n\n'].join('');
}

export async function startGuarded(
  guardrails: readonly object[],
  options: {
    /** Further models by name, with the names of their guardrails. */
    readonly models?: Readonly<Record<string, readonly string[]>>;
    /** Members of `general_settings`. */
    readonly general?: object;
    /** Entry of `pass_through_endpoints`. The app then also has the path `/free`, without guardrails. */
    readonly passThrough?: object;
    /** Further sections of the configuration file. */
    readonly sections?: object;
  } = {},
): Promise<GuardedApp> {
  const upstream = await startFaultServer();
  let texts: readonly string[] = [DEFAULT_TEXT];
  /** Index of the first upstream request of the last `ask`. */
  let firstRequest = 0;
  upstream.answer((response, _socket, { path, body }) => {
    const isStream = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? chatEvents(texts) : JSON.stringify(answerAt(path, texts)));
  });
  const upstreamParams = { api_base: `${upstream.url}/v1`, api_key: 'sk-up-0123456789abcdef' };
  const priced = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 };
  const app = await startApp({
    config: {
      ...options.sections,
      general_settings: {
        ...options.general,
        ...(options.passThrough === undefined
          ? {}
          : {
              pass_through_endpoints: [
                { target: `${upstream.url}/echo`, ...options.passThrough },
                { target: `${upstream.url}/echo`, path: '/free' },
              ],
            }),
      },
      guardrails,
      model_list: [
        { model_name: 'chat', litellm_params: { model: 'openai/up', ...upstreamParams, ...priced } },
        { model_name: 'claude', litellm_params: { model: 'anthropic/up', ...upstreamParams, api_base: upstream.url } },
        { model_name: 'gemini-up', litellm_params: { model: 'gemini/up', ...upstreamParams, api_base: upstream.url } },
        { model_name: 'decider', litellm_params: { model: 'openai/up', ...upstreamParams } },
        // Decisions of this model use the named-map format.
        { model_name: 'named', litellm_params: { model: 'hosted_vllm/up', ...upstreamParams } },
        {
          model_name: 'down',
          litellm_params: { model: 'openai/up', ...upstreamParams, api_base: 'http://127.0.0.1:1/v1' },
        },
        ...Object.entries(options.models ?? {}).map(([name, guardrailNames]) => ({
          model_name: name,
          litellm_params: { model: 'openai/up', ...upstreamParams, guardrails: guardrailNames },
        })),
      ],
    },
    env: {
      OPENAI_API_KEY: 'sk-up-0123456789abcdef',
      OPENAI_API_BASE: `${upstream.url}/v1`,
      CODEAGENT_API_KEY: 'agents-up-0123456789abcdef',
      CODEAGENT_API_BASE: upstream.url,
    },
  });
  return {
    app,
    upstream,
    async ask(path, body, headers = {}) {
      firstRequest = upstream.received.length;
      const response = await app.call('POST', path, body, headers);
      const text = await response.text();
      let value: unknown = text;
      try {
        value = JSON.parse(text);
      } catch {
        // The body of a stream stays text.
      }
      return { status: response.status, body: value, headers: Object.fromEntries(response.headers) };
    },
    setAnswer(...next) {
      texts = next;
    },
    upstreamRequests: () => upstream.received.slice(firstRequest).map(({ path, body }) => ({ path, body })),
    async newKey(draft = {}) {
      const response = await app.call('POST', '/key/generate', draft);
      const { key } = (await response.json()) as { key: string };
      return { authorization: `Bearer ${key}` };
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

/** Configuration of a content filter. */
export const contentFilter = (name: string, params: object): object => ({
  guardrail_name: name,
  litellm_params: { guardrail: 'litellm_content_filter', mode: 'pre_call', ...params },
});
