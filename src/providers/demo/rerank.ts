import type { Exchange, ModelRequest } from '../../domain/chat/chat.ts';
import { invalidType } from '../../domain/inference/request-validation.ts';
import { countTokens, tokensOf } from './reply.ts';
import { vectorOf } from './embeddings.ts';
import { wholeAnswer } from './answers.ts';

const NOTICE =
  'This order is from the built-in demo model of Lensgate, not a language model: it counts the words a document shares with the query.';

/** Reranks documents by the words that they share with the query. */
export async function rerank(request: ModelRequest): Promise<Exchange> {
  const { body, endpoint } = request;
  const { query, documents, top_n: limit } = body;
  if (!Array.isArray(documents)) throw invalidType('documents', 'an array', endpoint);
  const texts = documents.map(textOf);
  const queryVector = vectorOf(String(query));
  const results = texts
    .map((text, index) => ({ index, relevance_score: Math.max(0, dot(queryVector, vectorOf(text))) }))
    .toSorted((left, right) => right.relevance_score - left.relevance_score);
  const tokens = tokensOf([String(query), ...texts].map((text) => ({ text, tokens: countTokens(text) })));
  return wholeAnswer(request, {
    id: `rerank-demo-${crypto.randomUUID()}`,
    notice: NOTICE,
    results: typeof limit === 'number' ? results.slice(0, Math.max(0, limit)) : results,
    usage: { total_tokens: tokens },
  });
}

/** Text of a document: a string, the `text` of an object, else its JSON. */
function textOf(document: unknown): string {
  if (typeof document === 'string') return document;
  const { text } = Object(document) as { readonly text?: unknown };
  return typeof text === 'string' ? text : JSON.stringify(document);
}

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
