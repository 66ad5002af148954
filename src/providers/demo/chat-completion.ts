import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { piecesOf, streamedAnswer, wholeAnswer } from './answers.ts';
import { composeReply, countTokens, type DemoReply } from './reply.ts';

/** Chat completion of the demo model. */
export async function chatCompletion(request: ModelRequest): Promise<Exchange> {
  const { mockResponse: text } = request;
  const reply: DemoReply = text === undefined ? composeReply(request.body) : { kind: 'text', text };
  const envelope = {
    id: `chatcmpl-demo-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  return request.stream
    ? await streamedAnswer(request, chunksOf(request, reply, envelope))
    : wholeAnswer(request, wholeOf(request, reply, envelope));
}

function wholeOf(request: ModelRequest, reply: DemoReply, envelope: object): object {
  const message =
    reply.kind === 'text'
      ? { role: 'assistant', content: reply.text }
      : { role: 'assistant', content: null, tool_calls: [toolCallOf(reply)] };
  return {
    ...envelope,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finishReasonOf(reply, request) }],
    usage: usageOf(request, reply),
  };
}

function chunksOf(request: ModelRequest, reply: DemoReply, envelope: object): readonly object[] {
  const frame = { ...envelope, object: 'chat.completion.chunk' };
  const chunk = (delta: object, finishReason: string | null = null): object => ({
    ...frame,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const deltas =
    reply.kind === 'text'
      ? piecesOf(reply.text).map((content) => ({ content }))
      : toolCallDeltas(reply).map((call) => ({ tool_calls: [call] }));
  return [
    chunk({ role: 'assistant', content: reply.kind === 'text' ? '' : null }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, finishReasonOf(reply, request)),
    { ...frame, choices: [], usage: usageOf(request, reply) },
  ];
}

const finishReasonOf = (reply: DemoReply, { mockFinish }: ModelRequest): string =>
  reply.kind === 'text' ? (mockFinish ?? 'stop') : 'tool_calls';

const toolCallOf = (reply: Extract<DemoReply, { kind: 'toolCall' }>): object => ({
  id: `call_demo_${reply.name}`,
  type: 'function',
  function: { name: reply.name, arguments: reply.arguments },
});

function toolCallDeltas(reply: Extract<DemoReply, { kind: 'toolCall' }>): readonly object[] {
  return [
    {
      index: 0,
      id: `call_demo_${reply.name}`,
      type: 'function',
      function: { name: reply.name, arguments: '' },
    },
    ...piecesOf(reply.arguments).map((piece) => ({ index: 0, function: { arguments: piece } })),
  ];
}

function usageOf({ body }: ModelRequest, reply: DemoReply): object {
  const prompt = countTokens(JSON.stringify(body['messages'] ?? []));
  const completion = countTokens(reply.kind === 'text' ? reply.text : `${reply.name}${reply.arguments}`);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
