import type { RequestBody } from '../../domain/inference/request-validation.ts';
import type { NativeDialect } from '../dialect.ts';
import { embeddingsAnswer, textsToEmbed } from '../embeddings/answer.ts';
import { count, list, object, parseJson, withoutNulls } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { CONVERSE_NATIVE } from '../converse/native.ts';

const TITAN = /(^|[./])amazon\.titan-embed-text/;
const COHERE = /(^|[./])cohere\.embed/;

/** Whether a Bedrock model is an embedding model with a known format. */
export const isEmbeddingModel = (model: string): boolean => TITAN.test(model) || COHERE.test(model);

/** Embedding request in the format of the model's maker. Throws InvalidInput for an `input` that is not supported. */
export function embeddingRequest(model: string, body: RequestBody): RequestBody {
  const texts = textsToEmbed(body);
  if (COHERE.test(model))
    return withoutNulls({
      texts,
      input_type: body['input_type'] ?? 'search_document',
      output_dimension: body['dimensions'],
    });
  const [onlyText] = texts;
  if (texts.length !== 1) throw malformed('input', 'one string: this model embeds one text per request');
  return withoutNulls({ inputText: onlyText, dimensions: body['dimensions'] });
}

/** Embedding answers of Bedrock models, converted to OpenAI's format. Only Amazon's models report input tokens. */
export const BEDROCK_EMBEDDINGS: NativeDialect = {
  ...CONVERSE_NATIVE,
  whole(bytes, { model, body }) {
    const value = object(parseJson(bytes));
    const error = CONVERSE_NATIVE.errorOf(value);
    if (error !== null) return { error };
    const { embedding, embeddings } = value;
    // Cohere's `embeddings` are a list, or an object with a list by type.
    const cohereVectors = Array.isArray(embeddings) ? embeddings : object(embeddings)['float'];
    if (!Array.isArray(embedding) && !Array.isArray(cohereVectors)) return null;
    const vectors = Array.isArray(embedding) ? [embedding] : list(cohereVectors);
    return embeddingsAnswer({ vectors, inputTokens: count(value['inputTextTokenCount']), model, body });
  },
};
