import { MESSAGES, upstreamMessages } from '../../wire/messages/native.ts';
import type { Protocol } from '../http-provider.ts';
import type { HttpClient } from '../../domain/http.ts';
import { COUNT_TOKENS } from '../../domain/inference/endpoint.ts';
import { errorOf } from '../../wire/messages/answer.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { createTokenCount, type TokenCounter } from '../counting.ts';

const ANTHROPIC_BASE = 'https://api.anthropic.com';
/** Default `anthropic-version`. A caller's own header replaces it. */
const VERSION = '2023-06-01';
/** Suffix that is removed from a configured `api_base`. Addresses in use end with different parts of the path. */
const BASE_SUFFIX = /\/v1(\/messages)?$/;

/** Beta feature that the API of skills needs. */
const SKILLS_BETA = 'skills-2025-10-02';

const baseOf = ({ apiBase }: Deployment): string => (apiBase ?? ANTHROPIC_BASE).replace(BASE_SUFFIX, '');

function headersOf({ apiKey }: Deployment): Record<string, string> {
  const headers: Record<string, string> = { 'anthropic-version': VERSION };
  if (apiKey) headers['x-api-key'] = apiKey.reveal();
  return headers;
}

/** The beta features that a caller names, and that of skills unless the caller names a version of it. */
function skillBetas(sent: string | undefined): string {
  const named = (sent ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
  return (named.some((one) => one.startsWith('skills-')) ? named : [...named, SKILLS_BETA]).join(',');
}

/** Protocol of Anthropic and of compatible servers (`api_base`, with or without `/v1`). */
export const anthropic: Protocol = {
  name: 'anthropic',
  dialectOf: ({ dialect }) => (dialect === 'messages' ? MESSAGES : null),
  prepare: (deployment, request) => ({
    url: `${baseOf(deployment)}/v1${request.endpoint.path}`,
    headers: { 'content-type': 'application/json', ...headersOf(deployment), ...request.forwarded },
    body: upstreamMessages(request, deployment.upstreamModel),
  }),
  storageTarget: (deployment, path, sent) => ({
    url: `${baseOf(deployment)}/v1${path}`,
    headers: { ...headersOf(deployment), ...sent, 'anthropic-beta': skillBetas(sent['anthropic-beta']) },
  }),
};

/** Token counter of Anthropic's messages API. */
export const anthropicCount = (http: HttpClient): TokenCounter => ({
  endpoint: COUNT_TOKENS,
  members: ['model', 'system', 'messages', 'tools', 'tool_choice'],
  count: createTokenCount(http, { prepare: anthropic.prepare, errorOf, countMember: 'input_tokens' }),
});
