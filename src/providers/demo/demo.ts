import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { Unsupported } from '../../domain/errors.ts';
import type { NativeProvider } from '../http-provider.ts';
import { chatCompletion } from './chat-completion.ts';
import { completion } from './completion.ts';
import { embeddings } from './embeddings.ts';
import { rerank } from './rerank.ts';

/** Built-in deployment of the model `demo`. Needs no key and costs nothing. */
export const demoDeployment: Deployment = {
  id: 'demo',
  modelGroup: 'demo',
  provider: 'demo',
  upstreamModel: 'demo',
  apiBase: null,
  apiKey: null,
  timeoutSeconds: 60,
  options: {},
  secrets: {},
  dropParams: false,
  priceOverrides: { input_cost_per_token: 0, output_cost_per_token: 0 },
  baseModel: null,
};

const ANSWERS = {
  chat: chatCompletion,
  text_completion: completion,
  embeddings,
  rerank,
  moderation: unsupported,
  generate_content: unsupported,
  decide: unsupported,
} as const;

/** Provider that answers in this process, without an upstream. The same request gets the same answer text. */
export function createDemo(): NativeProvider {
  return {
    name: 'demo',
    supportsEndpoint: ({ dialect }) => dialect === null || dialect === 'chat-completions' || dialect === 'completions',
    async send(_deployment, request, signal) {
      signal.throwIfAborted();
      return await ANSWERS[request.endpoint.operation](request);
    },
  };
}

/**
 * Rejects what this provider does not answer: moderation, images and audio (`generate_content`), and decisions.
 * `withDecisions` adds decisions, which the chat decider answers.
 */
function unsupported({ endpoint }: ModelRequest): never {
  throw new Unsupported(`${endpoint.path}: The built-in demo model does not support this endpoint.`);
}
