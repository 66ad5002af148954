import { MESSAGES, upstreamMessages } from '../../wire/messages/native.ts';
import type { Protocol } from '../http-provider.ts';
import type { HttpClient } from '../../domain/http.ts';
import { COUNT_TOKENS } from '../../domain/inference/endpoint.ts';
import { errorOf } from '../../wire/messages/answer.ts';
import { createTokenCount, type TokenCounter } from '../counting.ts';

const ANTHROPIC_BASE = 'https://api.anthropic.com';
/** Default `anthropic-version`. A caller's own header replaces it. */
const VERSION = '2023-06-01';
/** Suffix that is removed from a configured `api_base`. Addresses in use end with different parts of the path. */
const BASE_SUFFIX = /\/v1(\/messages)?$/;

/** Protocol of Anthropic and of compatible servers (`api_base`, with or without `/v1`). */
export const anthropic: Protocol = {
  name: 'anthropic',
  dialectOf: ({ dialect }) => (dialect === 'messages' ? MESSAGES : null),
  prepare({ apiBase, apiKey, upstreamModel }, request) {
    const headers: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': VERSION };
    if (apiKey) headers['x-api-key'] = apiKey.reveal();
    return {
      url: `${(apiBase ?? ANTHROPIC_BASE).replace(BASE_SUFFIX, '')}/v1${request.endpoint.path}`,
      headers: { ...headers, ...request.forwarded },
      body: upstreamMessages(request, upstreamModel),
    };
  },
};

/** Token counter of Anthropic's messages API. */
export const anthropicCount = (http: HttpClient): TokenCounter => ({
  endpoint: COUNT_TOKENS,
  members: ['model', 'system', 'messages', 'tools', 'tool_choice'],
  count: createTokenCount(http, { prepare: anthropic.prepare, errorOf, countMember: 'input_tokens' }),
});
