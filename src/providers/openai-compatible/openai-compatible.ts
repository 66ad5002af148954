import type { Protocol } from '../http-provider.ts';
import { OPENAI_FRAME } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';

const OPENAI_BASE = 'https://api.openai.com/v1';

/** OpenAI and everything that speaks as it does (`api_base`). */
export const openAiCompatible: Protocol = {
  name: 'openai',
  dialectOf: ({ dialect }) =>
    dialect === null || dialect === 'chat-completions' || dialect === 'completions' ? OPENAI_FRAME : null,
  prepare(deployment, request) {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (deployment.apiKey) headers['authorization'] = `Bearer ${deployment.apiKey.reveal()}`;
    return {
      url: `${deployment.apiBase ?? OPENAI_BASE}${request.endpoint.path}`,
      headers,
      body: upstreamRequest(request, deployment.upstreamModel),
    };
  },
};
