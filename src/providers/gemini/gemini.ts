import type { Deployment } from '../../domain/chat/provider.ts';
import { EMBEDDINGS } from '../../domain/inference/endpoint.ts';
import { openAiFrame } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import { GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import { contentRequest } from '../../wire/generate-content/request.ts';
import type { Protocol } from '../http-provider.ts';
import type { UpstreamCall } from '../upstream-answer.ts';

/** Answer format of Google's OpenAI-compatible endpoints. */
const FRAME = openAiFrame();

const GOOGLE_BASE = 'https://generativelanguage.googleapis.com/v1beta';

/** Protocol of Google's Gemini API, with an API key. Embeddings use Google's OpenAI-compatible endpoint. */
export const gemini: Protocol = {
  name: 'gemini',
  dialectOf({ dialect, path }) {
    if (path === EMBEDDINGS.path) return FRAME;
    return dialect === 'generate-content' ? GENERATE_CONTENT : null;
  },
  prepare(deployment, request) {
    const { apiBase, apiKey, upstreamModel } = deployment;
    if (request.endpoint.path === EMBEDDINGS.path) {
      const key = apiKey === null ? {} : { authorization: `Bearer ${apiKey.reveal()}` };
      return {
        url: `${baseOf(apiBase)}/openai${EMBEDDINGS.path}`,
        headers: { 'content-type': 'application/json', ...key },
        body: upstreamRequest(request, upstreamModel),
      };
    }
    const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return { ...geminiAddress(deployment, method), body: contentRequest(request) };
  },
};

/** URL and headers of a method of a model. */
export function geminiAddress(
  { apiBase, apiKey, upstreamModel }: Deployment,
  method: string,
): Pick<UpstreamCall, 'url' | 'headers'> {
  const key = apiKey === null ? {} : { 'x-goog-api-key': apiKey.reveal() };
  return {
    url: `${baseOf(apiBase)}/models/${encodeURIComponent(upstreamModel)}:${method}`,
    headers: { 'content-type': 'application/json', ...key },
  };
}

/** Base URL. `api_base` may be given with or without an API version. */
function baseOf(apiBase: string | null): string {
  if (apiBase === null) return GOOGLE_BASE;
  return /\/v\d+(alpha|beta)?$/.test(apiBase) ? apiBase : `${apiBase}/v1beta`;
}
