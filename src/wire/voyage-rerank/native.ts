import type { Usage } from '../../domain/chat/chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { errorOf } from '../chat-completions/answer.ts';
import type { AnswerError, NativeDialect } from '../dialect.ts';
import { count, withoutNulls, list, object, parseJson, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** Rerank request in Voyage's format: documents are strings, and `top_n` is `top_k`. Throws InvalidInput. */
export function voyageRerankRequest(body: RequestBody, model: string): RequestBody {
  const documents = list(body['documents']).map((document, index) => {
    const documentText = text(document) ?? text(object(document)['text']);
    if (documentText === null) throw malformed(`documents[${index}]`, 'a string, or an object with a text');
    return documentText;
  });
  return withoutNulls({
    model,
    query: body['query'],
    documents,
    top_k: body['top_n'] ?? body['top_k'],
    return_documents: body['return_documents'],
    truncation: body['truncation'],
  });
}

/** Error of an answer. Voyage sends the message in `detail`. */
function voyageErrorOf(value: unknown): AnswerError | null {
  const { detail } = object(value);
  return typeof detail === 'string' ? { message: detail, type: null, param: null, code: null } : errorOf(value);
}

/** Voyage's rerank answers, converted to Cohere's format. Billed by tokens. */
export const VOYAGE_RERANK: NativeDialect = {
  errorOf: voyageErrorOf,
  whole(bytes) {
    const value = object(parseJson(bytes));
    const error = voyageErrorOf(value);
    if (error !== null) return { error };
    const { data } = value;
    if (!Array.isArray(data)) return null;
    const results = data.map((one) => {
      const { index, relevance_score: score, document } = object(one);
      const documentText = text(document);
      return { index, relevance_score: score, ...(documentText === null ? {} : { document: { text: documentText } }) };
    });
    const tokens = count(object(value['usage'])['total_tokens']);
    const usage: Usage | null =
      tokens === null
        ? null
        : { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const meta = { billed_units: { total_tokens: tokens }, tokens: { input_tokens: tokens } };
    const answer = { id: crypto.randomUUID(), results, ...(tokens === null ? {} : { meta }) };
    return {
      bytes: Buffer.from(JSON.stringify(answer)),
      outcome: {
        responseId: null,
        responseModel: text(value['model']),
        finishReason: null,
        usage,
        failure: null,
        text: null,
      },
      deltas: () => (usage === null ? [] : [{ kind: 'usage', usage }]),
    };
  },
  inspector() {
    throw new TypeError('A rerank answer cannot be a stream.');
  },
};
