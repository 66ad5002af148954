import type { Usd } from '../money.ts';
import type { Secret } from '../secret.ts';
import type { CloudIdentity } from './forwarded.ts';

/** How a provider's key is sent. */
type KeyForm =
  | 'bearer'
  | 'basic'
  | 'plain'
  | 'token'
  | 'key'
  | 'x-api-key'
  | 'api-key'
  | 'x-goog-api-key'
  | 'ocp-apim-subscription-key';

/** A provider whose own API is served below a prefix of the gateway. */
export interface ForwardedProvider {
  /** Its name in rows and prices. */
  readonly name: string;
  /** First segments of the paths that it serves. */
  readonly prefixes: readonly string[];
  /** Default base address; null where every account or server has its own. */
  readonly base: string | null;
  /** Environment variables that replace the base address; the first that is set applies. */
  readonly baseVariables: readonly string[];
  /** Environment variables with the key; the first that is set applies. */
  readonly keyVariables: readonly string[];
  readonly keyForm: KeyForm;
  /** Whether it can be called without a key, such as a server of the operator. */
  readonly keyOptional?: true;
  /** Cloud whose identity authenticates calls without a key; absent for a provider outside of a cloud. */
  readonly cloud?: CloudIdentity['kind'];
  /** Service of Amazon: the name in its host, and the prefix of `X-Amz-Target` where operations are not paths. */
  readonly aws?: { readonly host: string; readonly service: string; readonly target?: string };
  /** Issuer of access tokens for its key, in place of a header with the key; absent where the key is sent. */
  readonly tokens?: TokenIssuer;
  /** Environment variables with a token that was issued elsewhere, sent as it is. */
  readonly tokenVariables?: readonly string[];
  /** Environment variables with the region that its base address has. */
  readonly regionVariables?: readonly string[];
  /** Model in rows and prices, where a request names none. */
  readonly defaultModel?: string;
  /** Prefixes of the names of further request headers that are forwarded to it. */
  readonly headers?: readonly string[];
  /** Whether the path is the name of the model. */
  readonly pathIsModel?: true;
  /**
   * Methods and paths that keys may call, because all callers share the account; administrators may call all others.
   */
  readonly shared?: readonly (readonly [method: string, path: RegExp])[];
  /** The only path that it serves, and its only models; no restriction when absent. */
  readonly only?: { readonly path: string; readonly models: readonly string[] };
}

/** Issuer of access tokens for a key. */
interface TokenIssuer {
  /** Address that issues tokens, and environment variables that replace it. */
  readonly url: string;
  readonly urlVariables: readonly string[];
  /** How the key is sent: IBM takes it in the form body, GigaChat in a header. */
  readonly form: 'ibm' | 'gigachat';
  /** Scope of a token; null without one. */
  readonly scope: string | null;
  readonly scopeVariable: string | null;
}

const provider = (name: string, base: string | null, overrides: Partial<ForwardedProvider> = {}): ForwardedProvider => {
  const variable = name.toUpperCase();
  return {
    name,
    prefixes: [name],
    base,
    baseVariables: [`${variable}_API_BASE`],
    keyVariables: [`${variable}_API_KEY`],
    keyForm: 'bearer',
    ...overrides,
  };
};

/** Address of Vertex AI without a location. */
const VERTEX_BASE = 'https://aiplatform.googleapis.com';

const DECISION_PATH = 'v1/systemone';

/** Vendor's API of coding agents. */
export const CODING_AGENTS: ForwardedProvider = provider('cursor', 'https://api.cursor.com', {
  prefixes: ['codeagent', 'cursor'],
  baseVariables: ['CODEAGENT_API_BASE', 'CURSOR_API_BASE'],
  keyVariables: ['CODEAGENT_API_KEY', 'CURSOR_API_KEY'],
  keyForm: 'basic',
});

/** Providers with a prefix. Variables have the names of the reference service. */
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
    aws: { host: 'bedrock-runtime', service: 'bedrock' },
  }),
  provider('comprehendmedical', null, {
    baseVariables: ['AWS_COMPREHENDMEDICAL_ENDPOINT'],
    keyVariables: [],
    cloud: 'aws',
    aws: { host: 'comprehendmedical', service: 'comprehendmedical', target: 'ComprehendMedical_20181030' },
  }),
  provider('transcribe', null, {
    baseVariables: ['AWS_TRANSCRIBE_ENDPOINT'],
    keyVariables: [],
    cloud: 'aws',
    aws: { host: 'transcribe', service: 'transcribe', target: 'Transcribe' },
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
  provider('assemblyai', 'https://eu.api.assemblyai.com', {
    prefixes: ['eu.assemblyai'],
    baseVariables: ['ASSEMBLYAI_EU_API_BASE'],
    keyForm: 'plain',
  }),
  provider('azure_speech', null, {
    keyForm: 'ocp-apim-subscription-key',
    regionVariables: ['AZURE_SPEECH_REGION'],
    defaultModel: 'azure/speech/azure-stt',
    shared: [
      ['POST', /^speech\/recognition\/.+$/],
      ['POST', /^speechtotext\/transcriptions:transcribe$/],
    ],
  }),
  provider('tinyfish', 'https://agent.tinyfish.ai', {
    keyForm: 'x-api-key',
    defaultModel: 'tinyfish/automation-run',
    shared: [
      ['POST', /^v1\/automation\/run(?:-async|-sse)?$/],
      ['GET', /^v1\/runs\/[^/]+$/],
      ['POST', /^v1\/runs\/[^/]+\/cancel$/],
    ],
  }),
  provider('milvus', null, { keyOptional: true }),
  provider('gigachat', 'https://gigachat.devices.sberbank.ru/api/v1', {
    keyVariables: ['GIGACHAT_CREDENTIALS', 'GIGACHAT_API_KEY'],
    tokenVariables: ['GIGACHAT_ACCESS_TOKEN'],
    tokens: {
      url: 'https://ngw.devices.sberbank.ru:9443/api/v2/oauth',
      urlVariables: ['GIGACHAT_AUTH_URL'],
      form: 'gigachat',
      scope: 'GIGACHAT_API_PERS',
      scopeVariable: 'GIGACHAT_SCOPE',
    },
  }),
  provider('watsonx', null, {
    baseVariables: ['WATSONX_API_BASE', 'WATSONX_URL', 'WX_URL', 'WML_URL'],
    keyVariables: ['WATSONX_API_KEY', 'WATSONX_APIKEY', 'WX_API_KEY'],
    tokenVariables: ['WATSONX_TOKEN', 'WX_TOKEN'],
    tokens: {
      url: 'https://iam.cloud.ibm.com/identity/token',
      urlVariables: ['WATSONX_IAM_URL'],
      form: 'ibm',
      scope: null,
      scopeVariable: null,
    },
  }),
  provider('deepgram', 'https://api.deepgram.com', { keyForm: 'token' }),
  provider('fal_ai', 'https://fal.run', { keyForm: 'key', pathIsModel: true }),
  provider('typesafe', null, { headers: ['typesafe-'] }),
  provider('laya', null, {
    keyOptional: true,
    only: { path: DECISION_PATH, models: ['english', 'multilingual', 'typed-decisions'] },
  }),
  provider('bespoke', null, {
    only: { path: DECISION_PATH, models: ['nimble-latest', 'nimble', 'bespokelabs/Bespoke-Nimble-9B'] },
  }),
];

/** Base address and credential of a provider. */
export interface ProviderAccount {
  readonly base: string;
  /** Null where the provider is called without a key. */
  readonly key: Secret | null;
  /** Cloud identity that authenticates calls without a key; absent for none. */
  readonly cloud?: CloudIdentity;
}

/**
 * Accounts of providers: of a deployment with `use_in_pass_through`, else of the environment, else of a stored
 * credential.
 */
export interface ProviderAccounts {
  /** Whether the own APIs of providers are served. The API of coding agents always is. */
  readonly served: boolean;
  /** Cost of an answered call whose usage or price is not known; null leaves it unknown. */
  readonly costPerRequest: Usd | null;
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
    case 'ocp-apim-subscription-key':
      return [form, key];
  }
}

/** First segments of paths that name a version. */
const VERSIONED = /^(v\d|alpha|beta)/;

/** The base address for a path. A version at the end of the base is removed when the path begins with a version. */
export const targetBaseFor = (base: string, subpath: string): string =>
  VERSIONED.test(subpath) ? base.replace(/\/+$/, '').replace(/\/v\d+$/, '') : base.replace(/\/+$/, '');

const BEDROCK_BASE = /^https:\/\/bedrock-runtime(?=\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$)/;
/** Paths of Bedrock's agents and knowledge bases, and paths that call its models. All other paths manage models. */
const AGENT_PATHS = /^(?:agents|flows|knowledgebases|retrieveAndGenerate|retrieveAndGenerateStream|rerank)(?:\/|$)/;
const RUNTIME_PATHS = /^(?:model|guardrail|async-invoke)(?:\/|$)/;
const SPEECH_BASE = /^(https:\/\/[a-z0-9]+)\.api\.cognitive\.microsoft\.com$/;

/** The base address of Azure's speech services in a region. */
export const speechBase = (region: string): string => `https://${region}.api.cognitive.microsoft.com`;

/**
 * The base address for a path, where a provider's default address depends on the path. Vertex AI has an address for
 * each location, which the path names. Bedrock and Azure's speech services have one for each of their APIs.
 */
export function locatedBase(base: string, subpath: string): string {
  if (BEDROCK_BASE.test(base)) {
    if (RUNTIME_PATHS.test(subpath)) return base;
    return base.replace(BEDROCK_BASE, `https://bedrock${AGENT_PATHS.test(subpath) ? '-agent-runtime' : ''}`);
  }
  if (subpath.startsWith('speech/')) return base.replace(SPEECH_BASE, '$1.stt.speech.microsoft.com');
  if (base !== VERTEX_BASE) return base;
  const [, location] = /(?:^|\/)locations\/([a-z]+(?:-[a-z]+)*\d*)\//.exec(subpath) ?? [];
  return location === undefined || location === 'global' ? base : base.replace('//', `//${location}-`);
}

/** The model that a path names, as `models/gpt-4o:generate` and `deployments/gpt-4o/chat`; null when it names none. */
export function modelInPath(subpath: string): string | null {
  // Amazon's ids, after `model/`, contain colons. After Google's ids, a colon begins the method.
  const [, ofAmazon, other] = /(?:^|\/)(?:model\/([^/]+)|(?:models|deployments)\/([^/:]+))/.exec(subpath) ?? [];
  const named = ofAmazon ?? other;
  if (named === undefined) return null;
  try {
    return decodeURIComponent(named);
  } catch {
    return named;
  }
}
