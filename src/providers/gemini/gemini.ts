import { EMBEDDINGS } from '../../domain/inference/endpoint.ts';
import { openAiFrame } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import { GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import { contentRequest } from '../../wire/generate-content/request.ts';
import type { Protocol } from '../http-provider.ts';

/** In which Google answers clients of OpenAI. */
const FRAME = openAiFrame();

const GOOGLE_BASE = 'https://generativelanguage.googleapis.com/v1beta';

/** Google's Gemini API, by key. Vectors are asked for where Google answers as OpenAI does. */
export const gemini: Protocol = {
  name: 'gemini',
  dialectOf({ dialect, path }) {
    if (path === EMBEDDINGS.path) return FRAME;
    return dialect === 'generate-content' ? GENERATE_CONTENT : null;
  },
  prepare({ apiBase, apiKey, upstreamModel }, request) {
    const base = baseOf(apiBase);
    const key = apiKey?.reveal();
    const headers = { 'content-type': 'application/json' };
    if (request.endpoint.path === EMBEDDINGS.path) {
      return {
        url: `${base}/openai${EMBEDDINGS.path}`,
        headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
        body: upstreamRequest(request, upstreamModel),
      };
    }
    const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return {
      url: `${base}/models/${encodeURIComponent(upstreamModel)}:${method}`,
      headers: { ...headers, ...(key === undefined ? {} : { 'x-goog-api-key': key }) },
      body: contentRequest(request),
    };
  },
};

/** An address may be given with or without the version of the API. */
function baseOf(apiBase: string | null): string {
  if (apiBase === null) return GOOGLE_BASE;
  return /\/v\d+(alpha|beta)?$/.test(apiBase) ? apiBase : `${apiBase}/v1beta`;
}
