import type { CatalogEntry } from '../catalog/catalog.ts';
import type { Deployment } from '../chat/provider.ts';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  EMBEDDINGS,
  type Endpoint,
  IMAGE_GENERATIONS,
  MODERATIONS,
  RERANK,
  RESPONSES,
  SPEECH,
} from '../inference/endpoint.ts';
import { UNTOLD } from './probe-settings.ts';

/** How a deployment answered when it was asked for nothing else. */
export interface Probe {
  readonly at: Date;
  readonly latencyMs: number;
  /** Null where it answered. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** A question that costs next to nothing, in the form of an endpoint. */
export interface Question {
  readonly endpoint: Endpoint;
  /** Without the model. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly upstreamModel: string;
  readonly timeoutSeconds: number;
}

/** Tokens of an answer that nobody reads. */
const FEW_TOKENS = 5;
/** The least that OpenAI's Responses API takes. */
const FEWEST_OF_A_RESPONSE = 16;
/** Those whose newer models refuse `max_tokens`, and whose older ones know its new name. */
const RENAMED_LIMIT = new Set(['openai', 'azure']);
const SAID = 'Are you there? Answer with one word.';

/** What to ask a deployment; a text says why there is nothing to ask. */
export function questionFor(deployment: Deployment, entry: CatalogEntry | null): Question | string {
  const { provider, probe = UNTOLD, responses } = deployment;
  const named = probe.model?.startsWith(`${provider}/`) ? probe.model.slice(provider.length + 1) : probe.model;
  const upstreamModel = named ?? deployment.upstreamModel;
  if (upstreamModel.includes('*'))
    return 'It stands for many models: model_info.health_check_model names the one to ask for.';
  const mode = responses === 'only' ? 'responses' : (probe.mode ?? entry?.mode ?? 'chat');
  // A model that thinks first fails where it has no room to.
  const limit = probe.maxTokens ?? (entry?.row['supports_reasoning'] === true ? null : FEW_TOKENS);
  const bounded = (member: string, least = 1): object => (limit === null ? {} : { [member]: Math.max(limit, least) });
  const asked = (endpoint: Endpoint, body: object): Question => ({
    endpoint,
    body: { ...body },
    upstreamModel,
    timeoutSeconds: probe.timeoutSeconds,
  });
  switch (mode) {
    case 'chat': {
      const most = bounded(RENAMED_LIMIT.has(provider) ? 'max_completion_tokens' : 'max_tokens');
      return asked(CHAT_COMPLETIONS, { messages: [{ role: 'user', content: SAID }], ...most });
    }
    case 'responses':
      return asked(RESPONSES, { input: SAID, store: false, ...bounded('max_output_tokens', FEWEST_OF_A_RESPONSE) });
    case 'completion':
      return asked(COMPLETIONS, { prompt: SAID, ...bounded('max_tokens') });
    case 'embedding':
      return asked(EMBEDDINGS, { input: [SAID] });
    case 'moderation':
      return asked(MODERATIONS, { input: SAID });
    case 'rerank':
      return asked(RERANK, { query: SAID, documents: ['Yes.', 'No.'] });
    case 'audio_speech':
      return asked(SPEECH, { input: 'Yes.', voice: 'alloy' });
    case 'image_generation':
      return asked(IMAGE_GENERATIONS, { prompt: 'A dot.' });
    default:
      return `Models of the mode "${mode}" are not asked.`;
  }
}
