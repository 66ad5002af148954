import {
  COHERE_CHAT,
  COMPLETIONS,
  CHAT_COMPLETIONS,
  CONVERSE,
  DECISIONS,
  EMBEDDINGS,
  type Endpoint,
  GENERATE_CONTENT,
  IMAGE_EDITS,
  IMAGE_GENERATIONS,
  IMAGE_VARIATIONS,
  MESSAGES,
  MODERATIONS,
  RERANK,
  RESPONSES,
  SPEECH,
  SYSTEM_ONE,
  TRANSCRIPTIONS,
  TRANSLATIONS,
} from '../inference/endpoint.ts';

/** How an answered call of a provider's own API is priced. */
type ForwardedPricing =
  /** It costs nothing: a read, a deletion, a count of tokens, an upload, a cancellation. */
  | { readonly kind: 'free' }
  /** By the usage in the answer, in the format of the endpoint. */
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint }
  /** By the usage in the answer, of which only members common to all vendors are read. */
  | { readonly kind: 'unknown' };

export const FREE: ForwardedPricing = { kind: 'free' };
const UNKNOWN: ForwardedPricing = { kind: 'unknown' };

/** Paths of model endpoints by their ends, with the methods of Google and Amazon. The first that matches applies. */
const ENDPOINTS: readonly (readonly [end: RegExp, endpoint: Endpoint])[] = [
  [/\/v2\/chat$/, COHERE_CHAT],
  [/\/chat\/completions$/, CHAT_COMPLETIONS],
  [/\/v1\/chat$/, CHAT_COMPLETIONS],
  [/\/(?:fim|agents)\/completions$/, CHAT_COMPLETIONS],
  [/\/text\/chat(?:_stream)?$/, CHAT_COMPLETIONS],
  [/\/text\/generation(?:_stream)?$/, COMPLETIONS],
  [/\/(?:completions|generate)$/, COMPLETIONS],
  [/\/(?:embeddings|embed)$/, EMBEDDINGS],
  [/:(?:embedContent|batchEmbedContents|embedText)$/, EMBEDDINGS],
  [/\/messages$/, MESSAGES],
  [/:(?:rawPredict|streamRawPredict)$/, MESSAGES],
  [/\/responses$/, RESPONSES],
  [/:(?:generateContent|streamGenerateContent)$/, GENERATE_CONTENT],
  [/\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$/, CONVERSE],
  [/\/rerank$/, RERANK],
  [/\/moderations$/, MODERATIONS],
  [/\/decisions$/, DECISIONS],
  [/\/systemone$/, SYSTEM_ONE],
  [/\/images\/generations$/, IMAGE_GENERATIONS],
  [/\/images\/edits$/, IMAGE_EDITS],
  [/\/images\/variations$/, IMAGE_VARIATIONS],
  [/\/audio\/speech$/, SPEECH],
  [/\/audio\/transcriptions$/, TRANSCRIPTIONS],
  [/\/audio\/translations$/, TRANSLATIONS],
  [/\/v1\/listen$/, TRANSCRIPTIONS],
  [/\/speech\/recognition\/.+$/, TRANSCRIPTIONS],
  [/\/speechtotext\/transcriptions:transcribe$/, TRANSCRIPTIONS],
];

/** Ends of paths whose POST costs nothing: counts of tokens, uploads and cancellations. */
const FREE_POSTS: readonly RegExp[] = [
  /\/count_tokens$/,
  /\/responses\/input_tokens$/,
  /:countTokens$/,
  /:computeTokens$/,
  /\/count-tokens$/,
  /\/(?:tokenize|detokenize)$/,
  /\/text\/tokenization$/,
  /\/tokens\/count$/,
  /\/files$/,
  /\/uploads(?:\/[^/]+\/(?:parts|complete|cancel))?$/,
  /\/v2\/upload$/,
  /\/(?:batches|responses|jobs|runs)\/[^/]+\/cancel$/,
];

/** How a call is priced, by its method and the path below the prefix. */
export function forwardedPricingOf(method: string, subpath: string): ForwardedPricing {
  if (method !== 'POST') return method === 'GET' || method === 'DELETE' ? FREE : UNKNOWN;
  const path = `/${subpath}`;
  const endpoint = ENDPOINTS.find(([end]) => end.test(path))?.[1];
  if (endpoint !== undefined) return { kind: 'endpoint', endpoint };
  return FREE_POSTS.some((end) => end.test(path)) ? FREE : UNKNOWN;
}
