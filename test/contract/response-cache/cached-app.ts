import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** App with a cache of answers. Its upstream answers `a1`, `a2` and so on. */
export interface CachedApp {
  readonly app: TestApp;
  readonly upstream: FaultServer;
  /** Number of requests that the upstream has received. */
  upstreamCalls(): number;
  ask(path: string, body: object, headers?: Record<string, string>): Promise<ReceivedAnswer>;
  newKey(draft?: object): Promise<{ readonly authorization: string; readonly hash: string }>;
  stop(): Promise<void>;
}

interface ReceivedAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

const eventLines = (events: readonly object[], isNamed: boolean): string =>
  events
    .map(
      (event) => (isNamed ? `event: ${(event as { type: string }).type}\n` : '') + `data: ${JSON.stringify(event)}\n\n`,
    )
    .join('');

function chatStream(text: string): string {
  const chunk = (delta: object, finish: string | null) => ({
    id: `chatcmpl-${text}`,
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const usage = { ...chunk({}, null), choices: [], usage: USAGE };
  const events = [
    chunk({ role: 'assistant', content: text }, null),
    chunk({ content: '!' }, null),
    chunk({}, 'stop'),
    usage,
  ];
  return `${eventLines(events, false)}data: [DONE]\n\n`;
}

function messageStream(text: string): string {
  const usage = { input_tokens: 9, output_tokens: 3 };
  const message = {
    id: `msg_${text}`,
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    stop_reason: null,
    usage,
  };
  return eventLines(
    [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
    true,
  );
}

function responseOf(text: string): object {
  return {
    id: `resp_${text}`,
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
}

function responseStream(text: string): string {
  const response = responseOf(text);
  return eventLines(
    [
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
      {
        type: 'response.output_text.delta',
        sequence_number: 1,
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: text,
      },
      { type: 'response.completed', sequence_number: 2, response },
    ],
    true,
  );
}

/** Body of an answer of the upstream at a path, whole or as a stream. */
function answerAt(path: string, text: string, isStream: boolean): string {
  if (path.endsWith('/embeddings'))
    return JSON.stringify({
      object: 'list',
      model: 'up',
      data: [{ object: 'embedding', index: 0, embedding: [Number(text.slice(1))] }],
      usage: USAGE,
    });
  if (path.endsWith('/messages')) {
    if (isStream) return messageStream(text);
    const usage = { input_tokens: 9, output_tokens: 3 };
    return JSON.stringify({
      id: `msg_${text}`,
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    });
  }
  if (path.endsWith('/responses')) return isStream ? responseStream(text) : JSON.stringify(responseOf(text));
  if (path.endsWith('/chat/completions')) {
    if (isStream) return chatStream(text);
    return JSON.stringify({
      id: `chatcmpl-${text}`,
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: USAGE,
    });
  }
  return JSON.stringify({
    id: `cmpl-${text}`,
    object: 'text_completion',
    created: 1,
    model: 'up',
    choices: [{ index: 0, text, finish_reason: 'stop', logprobs: null }],
    usage: USAGE,
  });
}

export async function startCached(
  options: {
    /** Members of `litellm_settings`; a cache in memory when absent. */
    readonly litellm?: object;
    readonly general?: object;
    readonly guardrails?: readonly object[];
    /** Guardrails of the model `guarded`. */
    readonly modelGuardrails?: readonly string[];
    readonly env?: Record<string, string>;
  } = {},
): Promise<CachedApp> {
  const upstream = await startFaultServer();
  upstream.answer((response, _socket, { path, body }) => {
    const isStream = body.includes('"stream":true');
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
      'x-request-id': 'up-1',
    });
    response.end(answerAt(path, `a${upstream.received.length}`, isStream));
  });
  const upstreamParams = { api_base: `${upstream.url}/v1`, api_key: 'sk-up-0123456789abcdef' };
  const price = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 };
  const app = await startApp({
    config: {
      general_settings: options.general ?? {},
      litellm_settings: options.litellm ?? { cache: true, cache_params: { type: 'local' } },
      ...(options.guardrails === undefined ? {} : { guardrails: options.guardrails }),
      model_list: [
        { model_name: 'chat', litellm_params: { model: 'openai/up', ...upstreamParams, ...price } },
        { model_name: 'other', litellm_params: { model: 'openai/up', ...upstreamParams, ...price } },
        {
          model_name: 'claude',
          litellm_params: { model: 'anthropic/up', ...upstreamParams, api_base: upstream.url, ...price },
        },
        {
          model_name: 'guarded',
          litellm_params: { model: 'openai/up', ...upstreamParams, guardrails: options.modelGuardrails ?? [] },
        },
        {
          model_name: 'down',
          litellm_params: { model: 'openai/up', ...upstreamParams, api_base: 'http://127.0.0.1:1/v1' },
        },
      ],
    },
    env: { ...options.env },
  });
  return {
    app,
    upstream,
    upstreamCalls: () => upstream.received.length,
    async ask(path, body, headers = {}) {
      const response = await app.call('POST', path, body, headers);
      return { status: response.status, text: await response.text(), headers: Object.fromEntries(response.headers) };
    },
    async newKey(draft = {}) {
      const response = await app.call('POST', '/key/generate', draft);
      const { key, token } = (await response.json()) as { key: string; token: string };
      return { authorization: `Bearer ${key}`, hash: token };
    },
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}
