import { isJsonObject } from '../../domain/json-object.ts';
import type { NativeDialect, OutboundDialect } from '../dialect.ts';
import { embeddingsAnswer } from '../embeddings/answer.ts';
import { count, list, object, parseJson } from '../json/fields.ts';
import { upstreamOnly } from '../upstream-only.ts';
import { createCohereReader, errorOf, isAnswer, stepsOf } from './answer.ts';
import { writeCohere } from './write-request.ts';

/** Translates calls to Cohere's chat API, and answers from it. */
export const COHERE_OUT: OutboundDialect = { writeRequest: writeCohere, reader: createCohereReader, stepsOf };

/** Reads errors and usage in answers of Cohere's chat API. Callers do not use this dialect. */
export const COHERE_NATIVE: NativeDialect = upstreamOnly({ outbound: COHERE_OUT, errorOf, isAnswer });

/** Cohere's embedding answers, converted to OpenAI's format. */
export const COHERE_EMBEDDINGS: NativeDialect = {
  ...COHERE_NATIVE,
  whole(bytes, { model, body }) {
    const value = object(parseJson(bytes));
    const error = errorOf(value);
    if (error !== null) return { error };
    const vectors = object(value['embeddings'])['float'];
    if (!isJsonObject(value) || !Array.isArray(vectors)) return null;
    const billed = object(object(value['meta'])['billed_units']);
    return embeddingsAnswer({ vectors: list(vectors), inputTokens: count(billed['input_tokens']), model, body });
  },
};
