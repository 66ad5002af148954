import { converseEvent, eventMessage } from './event-message.ts';

/** Content of an upstream's answer: text or a tool call. */
export type Saying = 'words' | 'call';

/** Wire format of one upstream: whole and streamed answers, and failures. */
export interface UpstreamWire {
  readonly provider: string;
  /** Media type of streamed answers. */
  readonly streams: string;
  whole(saying: Saying): object;
  /** Chunks of the stream. The first starts the answer, the last ends it. */
  pieces(saying: Saying): readonly Buffer[];
  /** Body of an error with status 429 and the message `slow down`. */
  readonly refusal: object;
  /** Last chunk of a failed stream, with the message `slow down`. */
  readonly failure: Buffer;
}

/** Content of all answers. */
export const SAID = {
  words: 'Grüß 😀 Gott',
  tool: 'get_weather',
  arguments: '{"city":"Oslo"}',
  input: 11,
  output: 7,
} as const;

const HALVES = [SAID.words.slice(0, 5), SAID.words.slice(5)] as const;
const CITY = { city: 'Oslo' };
const data = (value: object | string): Buffer =>
  Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
const named = (type: string, rest: object): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
const isText = (saying: Saying): boolean => saying === 'words';

const chatUsage = { prompt_tokens: SAID.input, completion_tokens: SAID.output, total_tokens: SAID.input + SAID.output };
const chatCall = { id: 'call_1', type: 'function', function: { name: SAID.tool, arguments: SAID.arguments } };
const chunk = (delta: object, finish_reason: string | null = null): Buffer =>
  data({ id: 'c', object: 'chat.completion.chunk', model: 'up-1', choices: [{ index: 0, delta, finish_reason }] });

const chatCompletions = (provider: string): UpstreamWire => ({
  provider,
  streams: 'text/event-stream',
  whole: (saying) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'up-1',
    choices: [
      isText(saying)
        ? { index: 0, message: { role: 'assistant', content: SAID.words }, finish_reason: 'stop' }
        : {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [chatCall] },
            finish_reason: 'tool_calls',
          },
    ],
    usage: chatUsage,
  }),
  pieces: (saying) => [
    chunk({ role: 'assistant', content: isText(saying) ? HALVES[0] : '' }),
    chunk(isText(saying) ? { content: HALVES[1] } : { tool_calls: [{ index: 0, ...chatCall }] }),
    Buffer.concat([
      chunk({}, isText(saying) ? 'stop' : 'tool_calls'),
      data({ id: 'c', model: 'up-1', choices: [], usage: chatUsage }),
      data('[DONE]'),
    ]),
  ],
  refusal: { error: { message: 'slow down', type: 'rate_limit', code: '429' } },
  failure: data({ error: { message: 'slow down', type: 'rate_limit', code: '429' } }),
});

const geminiParts = (saying: Saying): object =>
  isText(saying) ? { text: SAID.words } : { functionCall: { id: 'call_1', name: SAID.tool, args: CITY } };
const geminiUsage = { promptTokenCount: SAID.input, candidatesTokenCount: SAID.output };
const candidate = (parts: readonly object[], rest: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
  modelVersion: 'up-1',
});

const gemini: UpstreamWire = {
  provider: 'gemini',
  streams: 'text/event-stream',
  whole: (saying) => ({ ...candidate([geminiParts(saying)], { finishReason: 'STOP' }), usageMetadata: geminiUsage }),
  pieces: (saying) => [
    data(candidate(isText(saying) ? [{ text: HALVES[0] }] : [])),
    data(candidate([isText(saying) ? { text: HALVES[1] } : geminiParts(saying)])),
    data({ ...candidate([], { finishReason: 'STOP' }), usageMetadata: geminiUsage }),
  ],
  refusal: { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
  failure: data({ error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }),
};

const block = (saying: Saying): object =>
  isText(saying)
    ? { type: 'text', text: SAID.words }
    : { type: 'tool_use', id: 'call_1', name: SAID.tool, input: CITY };
const anthropicFailure = { error: { type: 'rate_limit_error', message: 'slow down' } };
const blockDelta = (delta: object): Buffer => named('content_block_delta', { index: 0, delta });

const anthropic: UpstreamWire = {
  provider: 'anthropic',
  streams: 'text/event-stream',
  whole: (saying) => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'up-1',
    content: [block(saying)],
    stop_reason: isText(saying) ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: SAID.input, output_tokens: SAID.output },
  }),
  pieces: (saying) => [
    Buffer.concat([
      named('message_start', {
        message: {
          id: 'msg',
          type: 'message',
          role: 'assistant',
          model: 'up-1',
          content: [],
          usage: { input_tokens: SAID.input, output_tokens: 1 },
        },
      }),
      named('content_block_start', {
        index: 0,
        content_block: isText(saying)
          ? { type: 'text', text: '' }
          : { type: 'tool_use', id: 'call_1', name: SAID.tool, input: {} },
      }),
      ...(isText(saying) ? [blockDelta({ type: 'text_delta', text: HALVES[0] })] : []),
    ]),
    blockDelta(
      isText(saying)
        ? { type: 'text_delta', text: HALVES[1] }
        : { type: 'input_json_delta', partial_json: SAID.arguments },
    ),
    Buffer.concat([
      named('content_block_stop', { index: 0 }),
      named('message_delta', {
        delta: { stop_reason: isText(saying) ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage: { output_tokens: SAID.output },
      }),
      named('message_stop', {}),
    ]),
  ],
  refusal: { type: 'error', ...anthropicFailure },
  failure: named('error', anthropicFailure),
};

const toolUse = { toolUseId: 'call_1', name: SAID.tool };
const converseUsage = { inputTokens: SAID.input, outputTokens: SAID.output, totalTokens: SAID.input + SAID.output };
const stopReason = (saying: Saying): string => (isText(saying) ? 'end_turn' : 'tool_use');
const converseDelta = (delta: object): Buffer => converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta });

const bedrock: UpstreamWire = {
  provider: 'bedrock',
  streams: 'application/vnd.amazon.eventstream',
  whole: (saying) => ({
    output: {
      message: {
        role: 'assistant',
        content: [isText(saying) ? { text: SAID.words } : { toolUse: { ...toolUse, input: CITY } }],
      },
    },
    stopReason: stopReason(saying),
    usage: converseUsage,
  }),
  pieces: (saying) => [
    Buffer.concat([
      converseEvent('messageStart', { role: 'assistant' }),
      isText(saying)
        ? converseDelta({ text: HALVES[0] })
        : converseEvent('contentBlockStart', { contentBlockIndex: 0, start: { toolUse } }),
    ]),
    converseDelta(isText(saying) ? { text: HALVES[1] } : { toolUse: { input: SAID.arguments } }),
    Buffer.concat([
      converseEvent('contentBlockStop', { contentBlockIndex: 0 }),
      converseEvent('messageStop', { stopReason: stopReason(saying) }),
      converseEvent('metadata', { usage: converseUsage }),
    ]),
  ],
  refusal: { message: 'slow down' },
  failure: eventMessage(
    { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    '{"message":"slow down"}',
  ),
};

const cohereEnd = (saying: Saying): object => ({
  finish_reason: isText(saying) ? 'COMPLETE' : 'TOOL_CALL',
  usage: { billed_units: { input_tokens: SAID.input, output_tokens: SAID.output } },
});
const cohereWords = (text: string): Buffer =>
  named('content-delta', { index: 0, delta: { message: { content: { text } } } });

const cohere: UpstreamWire = {
  provider: 'cohere_chat',
  streams: 'text/event-stream',
  whole: (saying) => ({
    id: 'c',
    message: isText(saying)
      ? { role: 'assistant', content: [{ type: 'text', text: SAID.words }] }
      : { role: 'assistant', tool_calls: [chatCall] },
    ...cohereEnd(saying),
  }),
  pieces: (saying) => [
    Buffer.concat([
      named('message-start', { id: 'c', delta: { message: { role: 'assistant' } } }),
      ...(isText(saying) ? [cohereWords(HALVES[0])] : []),
    ]),
    isText(saying)
      ? cohereWords(HALVES[1])
      : named('tool-call-start', { index: 0, delta: { message: { tool_calls: chatCall } } }),
    named('message-end', { id: 'c', delta: cohereEnd(saying) }),
  ],
  refusal: { message: 'slow down' },
  failure: named('message-end', { delta: { finish_reason: 'ERROR', error: 'slow down' } }),
};

const ollamaMessage = (message: object, rest: object = { done: false }): object => ({
  model: 'up-1',
  message: { role: 'assistant', content: '', ...message },
  ...rest,
});
const ollamaCall = { tool_calls: [{ id: 'call_1', function: { name: SAID.tool, arguments: CITY } }] };
const ollamaEnd = { done: true, done_reason: 'stop', prompt_eval_count: SAID.input, eval_count: SAID.output };

const ollama: UpstreamWire = {
  provider: 'ollama_chat',
  streams: 'application/x-ndjson',
  whole: (saying) => ollamaMessage(isText(saying) ? { content: SAID.words } : ollamaCall, ollamaEnd),
  pieces: (saying) => [
    line(ollamaMessage({ content: isText(saying) ? HALVES[0] : '' })),
    line(ollamaMessage(isText(saying) ? { content: HALVES[1] } : ollamaCall)),
    line(ollamaMessage({}, ollamaEnd)),
  ],
  refusal: { error: 'slow down' },
  failure: line({ error: 'slow down' }),
};

/** One wire format for each upstream dialect and for each kind of OpenAI-compatible provider. */
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
