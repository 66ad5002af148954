import { InvalidInput, UpstreamFailed } from '../errors.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';
import type { VectorStore } from '../vector-stores/vector-store.ts';

/** A failed search or model call of a query. It has the message of the upstream, and only its statuses 400 and 404. */
export class QueryFailed extends UpstreamFailed {
  constructor(failure: UpstreamFailed) {
    const { provider, upstreamStatus } = failure;
    const isPassedOn = upstreamStatus === 400 || upstreamStatus === 404;
    super(failure.message, { provider, upstreamStatus: isPassedOn ? upstreamStatus : null }, { cause: failure });
    this.name = 'QueryFailed';
  }
}

/** The vector store of a query, and how its texts are selected. */
export interface Retrieval {
  readonly storeId: string;
  /** Provider of a store without registration. */
  readonly provider: string;
  /** Members of `retrieval_config`, as they were sent. */
  readonly config: JsonObject;
  readonly rerank: Rerank | null;
}

/** Reranking of the results of a search. */
interface Rerank {
  readonly model: string;
  readonly topN: number;
}

const DEFAULT_TOP_N = 5;
const DEFAULT_TOP_K = 10;
const EMBEDDING_MEMBERS = /embedding/i;

const required = (member: string): InvalidInput => new InvalidInput(`${member} is required`);

/** The retrieval of a query body. Throws InvalidInput. */
export function retrievalOf(body: JsonObject): Retrieval {
  if (typeof body['model'] !== 'string' || body['model'] === '') throw required('model');
  if (!Array.isArray(body['messages']) || body['messages'].length === 0) throw required('messages');
  const { retrieval_config: config, rerank } = body;
  if (!isJsonObject(config)) throw required('retrieval_config');
  const { vector_store_id: storeId, custom_llm_provider: provider = 'openai' } = config;
  if (typeof storeId !== 'string' || storeId === '') throw required('retrieval_config.vector_store_id');
  if (typeof provider !== 'string') throw new InvalidInput('retrieval_config.custom_llm_provider must be a string.');
  const embedding = Object.keys(config).find((name) => EMBEDDING_MEMBERS.test(name));
  if (embedding !== undefined)
    throw new InvalidInput(`retrieval_config.${embedding} is set with the registration of the vector store.`);
  return { storeId, provider, config, rerank: rerankOf(jsonObjectOf(rerank)) };
}

function rerankOf({ enabled, model, top_n: topN = DEFAULT_TOP_N }: JsonObject): Rerank | null {
  if (enabled !== true) return null;
  if (typeof model !== 'string' || model === '') throw required('rerank.model');
  if (!Number.isInteger(topN) || Number(topN) < 1)
    throw new InvalidInput('rerank.top_n must be a whole number above 0.');
  return { model, topN: Number(topN) };
}

/** The texts of the parts of a content, on lines of their own. */
function textOfParts(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = parts.map((part) => jsonObjectOf(part)['text']).filter((text) => typeof text === 'string');
  return texts.join('\n');
}

/** Text of the last message, which is the query. Throws InvalidInput when it has none. */
export function queryTextOf(messages: readonly unknown[]): string {
  const { content } = jsonObjectOf(messages.at(-1));
  const text = typeof content === 'string' ? content : textOfParts(content);
  if (text.trim() === '') throw new InvalidInput('The last message has no text to search for.');
  return text;
}

/** Body of the search. Parameters of a registered store take precedence over those of the caller. */
export function searchBody(query: string, config: JsonObject, store: VectorStore | null): JsonObject {
  const members = { ...config, ...store?.params };
  const count = members['top_k'] ?? members['max_num_results'] ?? DEFAULT_TOP_K;
  if (!Number.isInteger(count) || Number(count) < 1)
    throw new InvalidInput('retrieval_config.top_k must be a whole number above 0.');
  const filter = members['retrieval_filter'] ?? members['filters'] ?? null;
  return { query, max_num_results: count, ...(filter === null ? {} : { filters: filter }) };
}

/** Texts of the results of a search, in order. */
export function resultTexts(page: JsonObject): readonly string[] {
  const data: readonly unknown[] = Array.isArray(page['data']) ? page['data'] : [];
  return data.map((result) => textOfParts(jsonObjectOf(result)['content'])).filter((text) => text !== '');
}

/** The texts in the order of a rerank answer. An index without a text is left out. */
export function rerankedTexts(texts: readonly string[], answer: JsonObject): readonly string[] {
  const results: readonly unknown[] = Array.isArray(answer['results']) ? answer['results'] : [];
  return results.flatMap((result) => {
    const { index } = jsonObjectOf(result);
    const text = typeof index === 'number' ? texts[index] : undefined;
    return text === undefined ? [] : [text];
  });
}

/** Messages with the context before the last one. Without any text, they are unchanged. */
export const withContext = (messages: readonly unknown[], texts: readonly string[]): readonly unknown[] =>
  texts.length === 0
    ? messages
    : [...messages.slice(0, -1), { role: 'user', content: `Context:\n\n${texts.join('\n\n')}` }, ...messages.slice(-1)];

/** A chat completion whose messages name the results. Other answers are unchanged. */
export function withResults(
  answer: unknown,
  found: { readonly search: JsonObject; readonly reranked: JsonObject | null },
): unknown {
  if (!isJsonObject(answer) || !Array.isArray(answer['choices'])) return answer;
  const further = {
    search_results: [found.search],
    ...(found.reranked === null ? {} : { rerank_results: found.reranked }),
  };
  const choices = answer['choices'].map((choice: unknown) => {
    const { message, ...rest } = jsonObjectOf(choice);
    const before = jsonObjectOf(message);
    const fields = { ...jsonObjectOf(before['provider_specific_fields']), ...further };
    return { ...rest, message: { ...before, provider_specific_fields: fields } };
  });
  return { ...answer, choices };
}
