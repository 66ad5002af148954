import { MESSAGES } from '../../wire/messages/native.ts';
import { upstreamMessages } from '../../wire/messages/request.ts';
import type { Protocol } from '../http-provider.ts';

const ANTHROPIC_BASE = 'https://api.anthropic.com';
/** The version of the API whose words these are; a caller may name another. */
const VERSION = '2023-06-01';
/** What an address may name beyond the host: clients of this API differ in it. */
const TAIL = /\/v1(\/messages)?$/;

/** Anthropic, and everything that speaks as it does (`api_base`, with or without `/v1`). */
export const anthropic: Protocol = {
  name: 'anthropic',
  dialectOf: ({ dialect }) => (dialect === 'messages' ? MESSAGES : null),
  prepare({ apiBase, apiKey, upstreamModel }, request) {
    const headers: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': VERSION };
    if (apiKey) headers['x-api-key'] = apiKey.reveal();
    return {
      url: `${(apiBase ?? ANTHROPIC_BASE).replace(TAIL, '')}/v1${request.endpoint.path}`,
      headers: { ...headers, ...request.forwarded },
      body: upstreamMessages(request, upstreamModel),
    };
  },
};
