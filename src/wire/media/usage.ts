import type { JsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { count, object } from '../json/fields.ts';

/** Tokens of an image answer. Null when it reports none. Output tokens without details count as image tokens. */
export function imageUsageOf(value: unknown): Usage | null {
  const usage = object(value);
  const base = tokensOf(usage);
  if (base === null) return null;
  const input = object(usage['input_tokens_details']);
  const output = object(usage['output_tokens_details']);
  const cached = count(input['cached_tokens']) ?? 0;
  const imageInputTokens = count(input['image_tokens']) ?? 0;
  // Without details, cached tokens count as image tokens only where they exceed the text tokens.
  const minCachedImageTokens = Math.max(0, cached - (base.inputTokens - imageInputTokens));
  const image = {
    inputTokens: imageInputTokens,
    outputTokens: count(output['image_tokens']) ?? base.outputTokens,
    cacheReadTokens: count(object(input['cached_tokens_details'])['image_tokens']) ?? minCachedImageTokens,
  };
  return { ...base, cacheReadTokens: cached, image };
}

/** Tokens of a transcript. Null when it reports none. Input tokens without details count as audio tokens. */
export function transcriptUsageOf(value: unknown): Usage | null {
  const usage = object(value);
  const base = tokensOf(usage);
  if (base === null) return null;
  const input = object(usage['input_token_details'] ?? usage['input_tokens_details']);
  const audioInputTokens =
    count(input['audio_tokens']) ?? Math.max(0, base.inputTokens - (count(input['text_tokens']) ?? 0));
  return { ...base, audio: { inputTokens: audioInputTokens, outputTokens: 0, cacheReadTokens: 0 } };
}

/** Tokens of speech. Null when the answer reports none. All output tokens are audio tokens. */
export function speechUsageOf(value: unknown): Usage | null {
  const base = tokensOf(object(value));
  if (base === null) return null;
  return { ...base, audio: { inputTokens: 0, outputTokens: base.outputTokens, cacheReadTokens: 0 } };
}

function tokensOf(usage: JsonObject): Usage | null {
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

/** Sum of two usages of one image answer. Null means no usage. */
export function addUsage(left: Usage | null, right: Usage | null): Usage | null {
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
