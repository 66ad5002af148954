import type { JsonObject } from '../json-object.ts';
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
  SYSTEM_ONE,
} from '../inference/endpoint.ts';
import { DEFAULT_PROBE_SETTINGS } from './probe-settings.ts';

/** Result of a health check. */
export interface Probe {
  readonly at: Date;
  readonly latencyMs: number;
  /** Null when it succeeded. */
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** A minimal request for an endpoint. */
export interface ProbeRequest {
  readonly endpoint: Endpoint;
  /** Without the model. */
  readonly body: JsonObject;
  readonly upstreamModel: string;
  readonly timeoutSeconds: number;
}

/** Output limit of a health check, in tokens. */
const PROBE_OUTPUT_TOKENS = 16;
/** Smallest output limit of OpenAI's Responses API. */
const MIN_RESPONSES_OUTPUT_TOKENS = 16;
/** Providers whose models accept `max_completion_tokens`. Their newer models refuse the older name `max_tokens`. */
const RENAMED_LIMIT = new Set(['openai', 'azure']);
const PROMPT = 'Are you there? Answer with one word.';

/** One question for a decision model. `noul` is a yes/no question. Self-hosted models may support only choices. */
const decisionProbe = (provider: string): object => ({
  state: PROMPT,
  questions: {
    reachable: {
      instructions: 'Is the service reachable?',
      ...(provider === 'hosted_vllm' ? { type: 'choice', criteria: { yes: null, no: null } } : { type: 'noul' }),
    },
  },
});

/** The health check request of a deployment; or why there is none, as text. */
export function probeRequestFor(deployment: Deployment, entry: CatalogEntry | null): ProbeRequest | string {
  if (deployment.autoRouter !== undefined) return 'A router has no upstream: its models are checked instead.';
  const { provider, probe = DEFAULT_PROBE_SETTINGS, responses } = deployment;
  const configuredModel = probe.model?.startsWith(`${provider}/`)
    ? probe.model.slice(provider.length + 1)
    : probe.model;
  const upstreamModel = configuredModel ?? deployment.upstreamModel;
  if (upstreamModel.includes('*'))
    return 'A wildcard stands for many models: set model_info.health_check_model to the model to call.';
  const mode = responses === 'only' ? 'responses' : (probe.mode ?? entry?.mode ?? 'chat');
  // A reasoning model gets no default limit: its reasoning could use up all tokens, so that the check would fail.
  const limit = probe.maxTokens ?? (entry?.row['supports_reasoning'] === true ? null : PROBE_OUTPUT_TOKENS);
  const bounded = (member: string, least = 1): object => (limit === null ? {} : { [member]: Math.max(limit, least) });
  const probeOf = (endpoint: Endpoint, body: object): ProbeRequest => ({
    endpoint,
    body: { ...body },
    upstreamModel,
    timeoutSeconds: probe.timeoutSeconds,
  });
  switch (mode) {
    case 'chat': {
      const outputLimit = bounded(RENAMED_LIMIT.has(provider) ? 'max_completion_tokens' : 'max_tokens');
      return probeOf(CHAT_COMPLETIONS, { messages: [{ role: 'user', content: PROMPT }], ...outputLimit });
    }
    case 'responses':
      return probeOf(RESPONSES, {
        input: PROMPT,
        store: false,
        ...bounded('max_output_tokens', MIN_RESPONSES_OUTPUT_TOKENS),
      });
    case 'completion':
      return probeOf(COMPLETIONS, { prompt: PROMPT, ...bounded('max_tokens') });
    case 'embedding':
      return probeOf(EMBEDDINGS, { input: [PROMPT] });
    case 'moderation':
      return probeOf(MODERATIONS, { input: PROMPT });
    case 'rerank':
      return probeOf(RERANK, { query: PROMPT, documents: ['Yes.', 'No.'] });
    case 'audio_speech':
      return probeOf(SPEECH, { input: 'Yes.', voice: 'alloy' });
    case 'evaluation':
    case 'decisions':
      return probeOf(SYSTEM_ONE, { ...decisionProbe(provider), ...probe.decision });
    case 'image_generation':
      return probeOf(IMAGE_GENERATIONS, { prompt: 'A dot.' });
    default:
      return `There is no health check for the mode "${mode}".`;
  }
}
