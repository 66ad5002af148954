import { converseEvent, eventMessage } from './event-message.ts';

/** Content of an upstream's answer: text or a tool call. */
export type ContentKind = 'words' | 'call';

/** Wire format of one upstream: whole and streamed answers, and failures. */
export interface UpstreamWire {
  readonly provider: string;
  /** Media type of streamed answers. */
  readonly streams: string;
  whole(kind: ContentKind): object;
  /** The three pieces of the stream. The first starts the answer, the last ends it. */
  pieces(kind: ContentKind): readonly Buffer[];
  /** Body of an error with status 429 and the message `slow down`. */
  readonly refusal: object;
  /** Last chunk of a failed stream, with the message `slow down`. */
  readonly failure: Buffer;
}

/** Content of all answers. */
export const ANSWER_CONTENT = {
  words: 'Grüß 😀 Gott',
  tool: 'get_weather',
  arguments: '{"city":"Oslo"}',
  input: 11,
  output: 7,
} as const;

/** Text of the first and of the second piece of a stream. */
const HALVES = [ANSWER_CONTENT.words.slice(0, 5), ANSWER_CONTENT.words.slice(5)] as const;
const CITY = { city: 'Oslo' };
const data = (value: object | string): Buffer =>
  Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
const named = (type: string, members: object): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
const isText = (kind: ContentKind): boolean => kind === 'words';

const chatUsage = {
  prompt_tokens: ANSWER_CONTENT.input,
  completion_tokens: ANSWER_CONTENT.output,
  total_tokens: ANSWER_CONTENT.input + ANSWER_CONTENT.output,
};
const chatCall = {
  id: 'call_1',
  type: 'function',
  function: { name: ANSWER_CONTENT.tool, arguments: ANSWER_CONTENT.arguments },
};
const chunk = (delta: object, finish_reason: string | null = null): Buffer =>
  data({ id: 'c', object: 'chat.completion.chunk', model: 'up-1', choices: [{ index: 0, delta, finish_reason }] });

const chatCompletions = (provider: string): UpstreamWire => ({
  provider,
  streams: 'text/event-stream',
  whole: (kind) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'up-1',
    choices: [
      isText(kind)
        ? { index: 0, message: { role: 'assistant', content: ANSWER_CONTENT.words }, finish_reason: 'stop' }
        : {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [chatCall] },
            finish_reason: 'tool_calls',
          },
    ],
    usage: chatUsage,
  }),
  pieces: (kind) => [
    chunk({ role: 'assistant', content: isText(kind) ? HALVES[0] : '' }),
    chunk(isText(kind) ? { content: HALVES[1] } : { tool_calls: [{ index: 0, ...chatCall }] }),
    Buffer.concat([
      chunk({}, isText(kind) ? 'stop' : 'tool_calls'),
      data({ id: 'c', model: 'up-1', choices: [], usage: chatUsage }),
      data('[DONE]'),
    ]),
  ],
  refusal: { error: { message: 'slow down', type: 'rate_limit', code: '429' } },
  failure: data({ error: { message: 'slow down', type: 'rate_limit', code: '429' } }),
});

const geminiParts = (kind: ContentKind): object =>
  isText(kind)
    ? { text: ANSWER_CONTENT.words }
    : { functionCall: { id: 'call_1', name: ANSWER_CONTENT.tool, args: CITY } };
const geminiUsage = { promptTokenCount: ANSWER_CONTENT.input, candidatesTokenCount: ANSWER_CONTENT.output };
const candidate = (parts: readonly object[], members: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...members }],
  modelVersion: 'up-1',
});

const gemini: UpstreamWire = {
  provider: 'gemini',
  streams: 'text/event-stream',
  whole: (kind) => ({ ...candidate([geminiParts(kind)], { finishReason: 'STOP' }), usageMetadata: geminiUsage }),
  pieces: (kind) => [
    data(candidate(isText(kind) ? [{ text: HALVES[0] }] : [])),
    data(candidate([isText(kind) ? { text: HALVES[1] } : geminiParts(kind)])),
    data({ ...candidate([], { finishReason: 'STOP' }), usageMetadata: geminiUsage }),
  ],
  refusal: { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
  failure: data({ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }),
};

const block = (kind: ContentKind): object =>
  isText(kind)
    ? { type: 'text', text: ANSWER_CONTENT.words }
    : { type: 'tool_use', id: 'call_1', name: ANSWER_CONTENT.tool, input: CITY };
const anthropicFailure = { error: { type: 'rate_limit_error', message: 'slow down' } };
const blockDelta = (delta: object): Buffer => named('content_block_delta', { index: 0, delta });

const anthropic: UpstreamWire = {
  provider: 'anthropic',
  streams: 'text/event-stream',
  whole: (kind) => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'up-1',
    content: [block(kind)],
    stop_reason: isText(kind) ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: ANSWER_CONTENT.input, output_tokens: ANSWER_CONTENT.output },
  }),
  pieces: (kind) => [
    Buffer.concat([
      named('message_start', {
        message: {
          id: 'msg',
          type: 'message',
          role: 'assistant',
          model: 'up-1',
          content: [],
          usage: { input_tokens: ANSWER_CONTENT.input, output_tokens: 1 },
        },
      }),
      named('content_block_start', {
        index: 0,
        content_block: isText(kind)
          ? { type: 'text', text: '' }
          : { type: 'tool_use', id: 'call_1', name: ANSWER_CONTENT.tool, input: {} },
      }),
      ...(isText(kind) ? [blockDelta({ type: 'text_delta', text: HALVES[0] })] : []),
    ]),
    blockDelta(
      isText(kind)
        ? { type: 'text_delta', text: HALVES[1] }
        : { type: 'input_json_delta', partial_json: ANSWER_CONTENT.arguments },
    ),
    Buffer.concat([
      named('content_block_stop', { index: 0 }),
      named('message_delta', {
        delta: { stop_reason: isText(kind) ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: ANSWER_CONTENT.output },
      }),
      named('message_stop', {}),
    ]),
  ],
  refusal: { type: 'error', ...anthropicFailure },
  failure: named('error', anthropicFailure),
};

const toolUse = { toolUseId: 'call_1', name: ANSWER_CONTENT.tool };
const converseUsage = {
  inputTokens: ANSWER_CONTENT.input,
  outputTokens: ANSWER_CONTENT.output,
  totalTokens: ANSWER_CONTENT.input + ANSWER_CONTENT.output,
};
const stopReason = (kind: ContentKind): string => (isText(kind) ? 'end_turn' : 'tool_use');
const converseDelta = (delta: object): Buffer => converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta });

const bedrock: UpstreamWire = {
  provider: 'bedrock',
  streams: 'application/vnd.amazon.eventstream',
  whole: (kind) => ({
    output: {
      message: {
        role: 'assistant',
        content: [isText(kind) ? { text: ANSWER_CONTENT.words } : { toolUse: { ...toolUse, input: CITY } }],
      },
    },
    stopReason: stopReason(kind),
    usage: converseUsage,
  }),
  pieces: (kind) => [
    Buffer.concat([
      converseEvent('messageStart', { role: 'assistant' }),
      isText(kind)
        ? converseDelta({ text: HALVES[0] })
        : converseEvent('contentBlockStart', { contentBlockIndex: 0, start: { toolUse } }),
    ]),
    converseDelta(isText(kind) ? { text: HALVES[1] } : { toolUse: { input: ANSWER_CONTENT.arguments } }),
    Buffer.concat([
      converseEvent('contentBlockStop', { contentBlockIndex: 0 }),
      converseEvent('messageStop', { stopReason: stopReason(kind) }),
      converseEvent('metadata', { usage: converseUsage }),
    ]),
  ],
  refusal: { message: 'slow down' },
  failure: eventMessage(
    { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    '{"message":"slow down"}',
  ),
};

const cohereEnd = (kind: ContentKind): object => ({
  finish_reason: isText(kind) ? 'COMPLETE' : 'TOOL_CALL',
  usage: { billed_units: { input_tokens: ANSWER_CONTENT.input, output_tokens: ANSWER_CONTENT.output } },
});
const cohereWords = (text: string): Buffer =>
  named('content-delta', { index: 0, delta: { message: { content: { text } } } });

const cohere: UpstreamWire = {
  provider: 'cohere_chat',
  streams: 'text/event-stream',
  whole: (kind) => ({
    id: 'c',
    message: isText(kind)
      ? { role: 'assistant', content: [{ type: 'text', text: ANSWER_CONTENT.words }] }
      : { role: 'assistant', tool_calls: [chatCall] },
    ...cohereEnd(kind),
  }),
  pieces: (kind) => [
    Buffer.concat([
      named('message-start', { id: 'c', delta: { message: { role: 'assistant' } } }),
      ...(isText(kind) ? [cohereWords(HALVES[0])] : []),
    ]),
    isText(kind)
      ? cohereWords(HALVES[1])
      : named('tool-call-start', { index: 0, delta: { message: { tool_calls: chatCall } } }),
    named('message-end', { id: 'c', delta: cohereEnd(kind) }),
  ],
  refusal: { message: 'slow down' },
  failure: named('message-end', { delta: { finish_reason: 'ERROR', error: 'slow down' } }),
};

const ollamaMessage = (message: object, members: object = { done: false }): object => ({
  model: 'up-1',
  message: { role: 'assistant', content: '', ...message },
  ...members,
});
const ollamaCall = { tool_calls: [{ id: 'call_1', function: { name: ANSWER_CONTENT.tool, arguments: CITY } }] };
const ollamaEnd = {
  done: true,
  done_reason: 'stop',
  prompt_eval_count: ANSWER_CONTENT.input,
  eval_count: ANSWER_CONTENT.output,
};

const ollama: UpstreamWire = {
  provider: 'ollama_chat',
  streams: 'application/x-ndjson',
  whole: (kind) => ollamaMessage(isText(kind) ? { content: ANSWER_CONTENT.words } : ollamaCall, ollamaEnd),
  pieces: (kind) => [
    line(ollamaMessage({ content: isText(kind) ? HALVES[0] : '' })),
    line(ollamaMessage(isText(kind) ? { content: HALVES[1] } : ollamaCall)),
    line(ollamaMessage({}, ollamaEnd)),
  ],
  refusal: { error: 'slow down' },
  failure: line({ error: 'slow down' }),
};

/**
 * One wire format for each upstream dialect except completions and responses. Chat completions have one for each kind
 * of provider.
 */
export const UPSTREAM_WIRES: readonly UpstreamWire[] = [
  chatCompletions('openai'),
  chatCompletions('custom_openai'),
  chatCompletions('mistral'),
  chatCompletions('azure'),
  gemini,
  anthropic,
  bedrock,
  cohere,
  ollama,
];
