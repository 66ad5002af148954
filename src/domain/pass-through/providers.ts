import type { Secret } from '../secret.ts';
import type { CloudIdentity } from './forwarded.ts';

/** How a provider's key is sent. */
type KeyForm = 'bearer' | 'basic' | 'plain' | 'token' | 'key' | 'x-api-key' | 'api-key' | 'x-goog-api-key';

/** A provider whose own API is served below a prefix of the gateway. */
export interface ForwardedProvider {
  /** Its name in rows and prices. */
  readonly name: string;
  /** First segments of the paths that it serves. */
  readonly prefixes: readonly string[];
  /** Default base address; null where every account or server has its own. */
  readonly base: string | null;
  /** Environment variables with another base address, and with its key; the first that is set applies. */
  readonly baseVariables: readonly string[];
  readonly keyVariables: readonly string[];
  readonly keyForm: KeyForm;
  /** Whether it can be called without a key, such as a server of the operator. */
  readonly keyOptional?: true;
  /** Cloud whose identity signs calls that have no key; absent for a provider without one. */
  readonly cloud?: CloudIdentity['kind'];
  /** Beginnings of further request headers that it gets. */
  readonly headers?: readonly string[];
  /** The only path that it serves, and the models that it has; all when absent. */
  readonly only?: { readonly path: string; readonly models: readonly string[] };
}

const provider = (name: string, base: string | null, differing: Partial<ForwardedProvider> = {}): ForwardedProvider => {
  const variable = name.toUpperCase();
  return {
    name,
    prefixes: [name],
    base,
    baseVariables: [`${variable}_API_BASE`],
    keyVariables: [`${variable}_API_KEY`],
    keyForm: 'bearer',
    ...differing,
  };
};

/** Address of Vertex AI without a location. */
const VERTEX_BASE = 'https://aiplatform.googleapis.com';

const DECISION_PATH = 'v1/systemone';

/** Agents that work on source code, at a vendor. */
export const CODING_AGENTS: ForwardedProvider = provider('cursor', 'https://api.cursor.com', {
  prefixes: ['codeagent', 'cursor'],
  baseVariables: ['CODEAGENT_API_BASE', 'CURSOR_API_BASE'],
  keyVariables: ['CODEAGENT_API_KEY', 'CURSOR_API_KEY'],
  keyForm: 'basic',
});

/** Providers with a prefix. Variables have the names of the reference. */
export const FORWARDED_PROVIDERS: readonly ForwardedProvider[] = [
  provider('openai', 'https://api.openai.com', {
    prefixes: ['openai', 'openai_passthrough'],
    baseVariables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
    headers: ['openai-'],
  }),
  provider('anthropic', 'https://api.anthropic.com', {
    baseVariables: ['ANTHROPIC_API_BASE', 'ANTHROPIC_BASE_URL'],
    keyForm: 'x-api-key',
    headers: ['anthropic-'],
  }),
  provider('gemini', 'https://generativelanguage.googleapis.com', {
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    keyForm: 'x-goog-api-key',
    headers: ['x-goog-api-client', 'x-goog-upload-'],
  }),
  provider('cohere', 'https://api.cohere.com', { keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'] }),
  provider('mistral', 'https://api.mistral.ai'),
  provider('azure', null, {
    baseVariables: ['AZURE_API_BASE', 'AZURE_OPENAI_ENDPOINT'],
    keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
    keyForm: 'api-key',
  }),
  provider('azure_ai', null, { keyForm: 'api-key' }),
  provider('bedrock', null, {
    baseVariables: ['AWS_BEDROCK_RUNTIME_ENDPOINT'],
    keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
    cloud: 'aws',
  }),
  provider('vertex_ai', VERTEX_BASE, {
    prefixes: ['vertex_ai', 'vertex-ai'],
    baseVariables: ['VERTEXAI_API_BASE', 'VERTEX_API_BASE'],
    keyVariables: ['VERTEXAI_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS'],
    cloud: 'google',
  }),
  provider('openrouter', 'https://openrouter.ai/api/v1', {
    keyVariables: ['OPENROUTER_API_KEY', 'OR_API_KEY'],
    headers: ['http-referer', 'x-title'],
  }),
  provider('vllm', null, {
    baseVariables: ['VLLM_API_BASE', 'HOSTED_VLLM_API_BASE'],
    keyVariables: ['VLLM_API_KEY', 'HOSTED_VLLM_API_KEY'],
    keyOptional: true,
  }),
  provider('nvidia_nim', 'https://integrate.api.nvidia.com/v1'),
  provider('assemblyai', 'https://api.assemblyai.com', { keyForm: 'plain' }),
  provider('deepgram', 'https://api.deepgram.com', { keyForm: 'token' }),
  provider('fal_ai', 'https://fal.run', { keyForm: 'key' }),
  provider('typesafe', null, { headers: ['typesafe-'] }),
  provider('laya', null, {
    keyOptional: true,
    only: { path: DECISION_PATH, models: ['english', 'multilingual', 'typed-decisions'] },
  }),
  provider('bespoke', null, {
    only: { path: DECISION_PATH, models: ['nimble-latest', 'nimble', 'bespokelabs/Bespoke-Nimble-9B'] },
  }),
];

/** Base address and key of a provider. */
export interface ProviderAccount {
  readonly base: string;
  /** Null where it is called without one. */
  readonly key: Secret | null;
  /** Identity that calls are signed with; absent where there is none. */
  readonly cloud?: CloudIdentity;
}

/** Accounts of providers: of the environment, else the first stored credential of the provider. */
export interface ProviderAccounts {
  /** Whether the own APIs of providers are served. That of coding agents always is. */
  readonly served: boolean;
  /** Null when none is configured. */
  of(provider: ForwardedProvider): Promise<ProviderAccount | null>;
}

/** The header with a key. */
export function keyHeader(form: KeyForm, key: string): readonly [name: string, value: string] {
  switch (form) {
    case 'bearer':
      return ['authorization', `Bearer ${key}`];
    case 'basic':
      return ['authorization', `Basic ${btoa(`${key}:`)}`];
    case 'plain':
      return ['authorization', key];
    case 'token':
      return ['authorization', `Token ${key}`];
    case 'key':
      return ['authorization', `Key ${key}`];
    case 'x-api-key':
    case 'api-key':
    case 'x-goog-api-key':
      return [form, key];
  }
}

/** First segments of paths that name a version. */
const VERSIONED = /^(v\d|alpha|beta)/;

/** The target of a path below a base address, of which a version of its own gives way to that of the path. */
export const baseFor = (base: string, subpath: string): string =>
  VERSIONED.test(subpath) ? base.replace(/\/+$/, '').replace(/\/v\d+$/, '') : base.replace(/\/+$/, '');

/** The base address for a path: Vertex AI has one for each location, which the path names. */
export function locatedBase(base: string, subpath: string): string {
  if (base !== VERTEX_BASE) return base;
  const [, location] = /(?:^|\/)locations\/([a-z]+(?:-[a-z]+)*\d*)\//.exec(subpath) ?? [];
  return location === undefined || location === 'global' ? base : base.replace('//', `//${location}-`);
}

/** The model that a path names, as `models/gpt-4o:generate` and `deployments/gpt-4o/chat`; null when it names none. */
export function modelIn(subpath: string): string | null {
  const named = /(?:^|\/)(?:models?|deployments)\/([^/:]+)/.exec(subpath)?.[1];
  if (named === undefined) return null;
  try {
    return decodeURIComponent(named);
  } catch {
    return named;
  }
}
