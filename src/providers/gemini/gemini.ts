import { GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import { contentRequest } from '../../wire/generate-content/request.ts';
import type { Protocol } from '../http-provider.ts';

const GOOGLE_BASE = 'https://generativelanguage.googleapis.com/v1beta';

/** Google's Gemini API, by key. */
export const gemini: Protocol = {
  name: 'gemini',
  dialectOf: ({ dialect }) => (dialect === 'generate-content' ? GENERATE_CONTENT : null),
  prepare({ apiBase, apiKey, upstreamModel }, request) {
    const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    return {
      url: `${baseOf(apiBase)}/models/${encodeURIComponent(upstreamModel)}:${method}`,
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { 'x-goog-api-key': apiKey.reveal() }),
      },
      body: contentRequest(request),
    };
  },
};

/** An address may be given with or without the version of the API. */
function baseOf(apiBase: string | null): string {
  if (apiBase === null) return GOOGLE_BASE;
  return /\/v\d+(alpha|beta)?$/.test(apiBase) ? apiBase : `${apiBase}/v1beta`;
}
