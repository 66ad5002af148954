/** Names of APIs that the AI SDK appends to the name of a provider: `openai.chat`. */
const API =
  /\.(?:chat|completions?|responses|messages|embeddings?|image|images|speech|transcription|moderation|rerank|reranking)$/;

/**
 * A provider name in one spelling: lower case, without the name of the called API. `OpenAI` and `openai.chat` are
 * `openai`.
 */
export const providerLabel = (name: string): string => name.trim().toLowerCase().replace(API, '');
