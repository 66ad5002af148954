import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { countedTexts, countTokens, echoOf, tokensOf } from './reply.ts';
import { piecesOf, streamedAnswer, wholeAnswer } from './answers.ts';

/** Text completion of the demo model, with one choice for each prompt. */
export async function completion(request: ModelRequest): Promise<Exchange> {
  const prompts = countedTexts(request.body['prompt']);
  const replies = prompts.map(({ text }) => request.mockResponse ?? echoOf(text));
  const frame = {
    id: `cmpl-demo-${crypto.randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  const promptTokens = tokensOf(prompts);
  const outputTokens = replies.reduce((sum, reply) => sum + countTokens(reply), 0);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
  };
  const choice = (text: string, index: number, finishReason: string | null): object => ({
    text,
    index,
    logprobs: null,
    finish_reason: finishReason,
  });
  if (!request.stream)
    return wholeAnswer(request, { ...frame, choices: replies.map((text, at) => choice(text, at, 'stop')), usage });
  return await streamedAnswer(request, [
    ...replies.flatMap((reply, at) => [
      ...piecesOf(reply).map((piece) => ({ ...frame, choices: [choice(piece, at, null)] })),
      { ...frame, choices: [choice('', at, 'stop')] },
    ]),
    { ...frame, choices: [], usage },
  ]);
}
