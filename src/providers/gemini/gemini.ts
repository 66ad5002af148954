import type { Deployment } from '../../domain/chat/provider.ts';
import { COUNT_CONTENT_TOKENS, EMBEDDINGS } from '../../domain/inference/endpoint.ts';
import { openAiNative, upstreamRequest } from '../../wire/chat-completions/native.ts';
import { contentRequest, GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import type { Protocol } from '../http-provider.ts';
import type { UpstreamCall } from '../upstream-answer.ts';
import type { HttpClient } from '../../domain/http.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { errorOf } from '../../wire/generate-content/answer.ts';
import { createTokenCount, type TokenCounter } from '../counting.ts';

/** Answer format of Google's OpenAI-compatible endpoints. */
const NATIVE = openAiNative();

const GOOGLE_BASE = 'https://generativelanguage.googleapis.com/v1beta';

/** Protocol of Google's Gemini API, with an API key. Embeddings use Google's OpenAI-compatible endpoint. */
export const gemini: Protocol = {
  name: 'gemini',
  dialectOf({ dialect, path }) {
    if (path === EMBEDDINGS.path) return NATIVE;
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

/** URL and headers for a method of Google's API, such as `countTokens`. */
function geminiAddress(
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

/** Token-count call with the complete generateContent request. With contents only, Google would not count tools. */
const prepareCount: Protocol['prepare'] = (deployment, { body }) => {
  const { url, headers } = geminiAddress(deployment, 'countTokens');
  const members = Object.entries(body).filter(([member]) => !isGatewayField(member));
  const request = { ...Object.fromEntries(members), model: `models/${deployment.upstreamModel}` };
  return { url, headers, body: Buffer.from(JSON.stringify({ generateContentRequest: request })) };
};

/** Token counter of the Gemini API. */
export const geminiCount = (http: HttpClient): TokenCounter => ({
  endpoint: COUNT_CONTENT_TOKENS,
  members: ['contents', 'systemInstruction', 'tools', 'toolConfig'],
  count: createTokenCount(http, { prepare: prepareCount, errorOf, countMember: 'totalTokens' }),
});
