import type { Usage } from '../../domain/chat/chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import type { WholeAnswer } from '../dialect.ts';
import { list } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** Vectors of another vendor as an OpenAI list of embeddings. */
export function embeddingsAnswer(params: {
  readonly vectors: readonly unknown[];
  /** Input tokens. Null when the vendor does not report them. */
  readonly inputTokens: number | null;
  /** Model name as the caller sent it. */
  readonly model: string;
  readonly body: RequestBody;
}): WholeAnswer {
  const { vectors, inputTokens, model, body } = params;
  const inBase64 = body['encoding_format'] === 'base64';
  const tokens = inputTokens ?? 0;
  const usage: Usage | null =
    inputTokens === null
      ? null
      : { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  const answer = {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: inBase64 ? base64Of(list(vector)) : vector,
    })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
  return {
    bytes: Buffer.from(JSON.stringify(answer)),
    outcome: { responseId: null, responseModel: null, finishReason: null, usage, failure: null, text: null },
    deltas: () => (usage === null ? [] : [{ kind: 'usage', usage }]),
  };
}

/** Base64 of 32-bit little-endian floats. */
function base64Of(vector: readonly unknown[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(Number(value), index * 4));
  return bytes.toString('base64');
}

/** The texts of `input`. Throws InvalidInput for token arrays: token ids differ between vendors. */
export function textsToEmbed(body: RequestBody): readonly string[] {
  const { input } = body;
  const texts = Array.isArray(input) ? input : [input];
  if (!texts.every((one) => typeof one === 'string'))
    throw malformed('input', 'a string or an array of strings for this model');
  return texts;
}
