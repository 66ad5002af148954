import type { NativeDialect, OutboundDialect } from '../dialect.ts';
import { embeddingsAnswer } from '../embeddings/answer.ts';
import { count, object, parseJson } from '../json/fields.ts';
import { upstreamOnly } from '../upstream-only.ts';
import { createOllamaReader, errorOf, isAnswer } from './answer.ts';
import { writeOllama } from './write-request.ts';

/** Translates calls to Ollama's chat API, and answers from it. */
export const OLLAMA_OUT: OutboundDialect = {
  writeRequest: writeOllama,
  reader: createOllamaReader,
  stepsOf: (answer) => createOllamaReader().read(answer, null),
};

/** Reads errors and usage in answers of Ollama's chat API. Callers do not use this dialect. */
export const OLLAMA_NATIVE: NativeDialect = upstreamOnly({ outbound: OLLAMA_OUT, errorOf, isAnswer });

/** Ollama's embedding answers, converted to OpenAI's format. */
export const OLLAMA_EMBEDDINGS: NativeDialect = {
  ...OLLAMA_NATIVE,
  whole(bytes, { model, body }) {
    const value = object(parseJson(bytes));
    const error = errorOf(value);
    if (error !== null) return { error };
    const { embeddings } = value;
    if (!Array.isArray(embeddings)) return null;
    return embeddingsAnswer({ vectors: embeddings, inputTokens: count(value['prompt_eval_count']), model, body });
  },
};
