import type { Usage } from '../../domain/chat/chat.ts';
import { count, object } from '../json/fields.ts';

/** The tokens a picture took; null where they are not counted. What is not told apart of the output is the picture. */
export function imageUsageOf(value: unknown): Usage | null {
  const usage = object(value);
  const base = tokensOf(usage);
  if (base === null) return null;
  const input = object(usage['input_tokens_details']);
  const output = object(usage['output_tokens_details']);
  const cached = count(input['cached_tokens']) ?? 0;
  const inputTokens = count(input['image_tokens']) ?? 0;
  // Where it is not told which were cached: those that cannot have been text.
  const surelyImage = Math.max(0, cached - (base.inputTokens - inputTokens));
  const image = {
    inputTokens,
    outputTokens: count(output['image_tokens']) ?? base.outputTokens,
    cacheReadTokens: count(object(input['cached_tokens_details'])['image_tokens']) ?? surelyImage,
  };
  return { ...base, cacheReadTokens: cached, image };
}

/** The tokens a recording took; null where they are not counted. What is not told apart of the input is sound. */
export function transcriptUsageOf(value: unknown): Usage | null {
  const usage = object(value);
  const base = tokensOf(usage);
  if (base === null) return null;
  const input = object(usage['input_token_details'] ?? usage['input_tokens_details']);
  const inputTokens =
    count(input['audio_tokens']) ?? Math.max(0, base.inputTokens - (count(input['text_tokens']) ?? 0));
  return { ...base, audio: { inputTokens, outputTokens: 0, cacheReadTokens: 0 } };
}

function tokensOf(usage: Readonly<Record<string, unknown>>): Usage | null {
  const inputTokens = count(usage['input_tokens']);
  const outputTokens = count(usage['output_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
}

/** Two usages of one answer as one. */
export function added(left: Usage | null, right: Usage | null): Usage | null {
  if (left === null || right === null) return left ?? right;
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    image: {
      inputTokens: (left.image?.inputTokens ?? 0) + (right.image?.inputTokens ?? 0),
      outputTokens: (left.image?.outputTokens ?? 0) + (right.image?.outputTokens ?? 0),
      cacheReadTokens: (left.image?.cacheReadTokens ?? 0) + (right.image?.cacheReadTokens ?? 0),
    },
  };
}
