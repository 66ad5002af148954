/** Defaults of a provider: its address, and the environment variables of its settings. */
export interface Vendor {
  /** Default base address, without a trailing slash; null where every account or server has its own. */
  readonly base: string | null;
  /** Environment variables that replace the base address; the first that is set applies. */
  readonly baseVariables: readonly string[];
  /** Environment variables with its key. */
  readonly keyVariables: readonly string[];
  /** Whether it can be called without a credential, such as a local server. */
  readonly keyOptional: boolean;
  /** Ignored prefixes of model names. In the reference service they select one of the vendor's APIs. */
  readonly modelPrefixes: readonly string[];
  /** Further settings of a deployment, each with its environment variables. */
  readonly settings: Settings;
  /**
   * Credentials other than a key, each with its environment variables. All come from one source, the file or the
   * environment.
   */
  readonly credentials: Settings;
}

type Settings = Readonly<Record<string, readonly string[]>>;

const vendor = (base: string | null, keyVariable: string, differing: Partial<Vendor> = {}): Vendor => ({
  base,
  baseVariables: [keyVariable.replace(/_KEY$/, '_BASE')],
  keyVariables: [keyVariable],
  keyOptional: false,
  modelPrefixes: [],
  settings: {},
  credentials: {},
  ...differing,
});

/** A local server, whose key is optional. */
const local = (base: string | null, keyVariable: string): Vendor => vendor(base, keyVariable, { keyOptional: true });

const OPENAI = vendor('https://api.openai.com/v1', 'OPENAI_API_KEY', {
  baseVariables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  settings: { organization: ['OPENAI_ORGANIZATION'] },
});

/**
 * Vendors with an OpenAI-compatible API, by their names in a configuration. Variables have the names of the reference
 * service.
 */
export const COMPATIBLE_VENDORS = {
  openai: OPENAI,
  'text-completion-openai': OPENAI,
  custom_openai: local(null, 'CUSTOM_OPENAI_API_KEY'),
  openai_like: local(null, 'OPENAI_LIKE_API_KEY'),
  litellm_proxy: vendor(null, 'LITELLM_PROXY_API_KEY'),
  mistral: vendor('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  codestral: vendor('https://codestral.mistral.ai/v1', 'CODESTRAL_API_KEY'),
  groq: vendor('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  deepseek: vendor('https://api.deepseek.com/beta', 'DEEPSEEK_API_KEY'),
  xai: vendor('https://api.x.ai/v1', 'XAI_API_KEY'),
  openrouter: vendor('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', {
    keyVariables: ['OPENROUTER_API_KEY', 'OR_API_KEY'],
    settings: { site_url: ['OR_SITE_URL'], app_name: ['OR_APP_NAME'] },
  }),
  together_ai: vendor('https://api.together.xyz/v1', 'TOGETHER_AI_API_KEY', {
    keyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY', 'TOGETHERAI_API_KEY', 'TOGETHER_AI_TOKEN'],
  }),
  fireworks_ai: vendor('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY', {
    keyVariables: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY', 'FIREWORKSAI_API_KEY', 'FIREWORKS_AI_TOKEN'],
  }),
  perplexity: vendor('https://api.perplexity.ai', 'PERPLEXITY_API_KEY', {
    keyVariables: ['PERPLEXITYAI_API_KEY', 'PERPLEXITY_API_KEY'],
  }),
  cerebras: vendor('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  nvidia_nim: vendor('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  sambanova: vendor('https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'),
  deepinfra: vendor('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  moonshot: vendor('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  zai: vendor('https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'),
  minimax: vendor('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  dashscope: vendor('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  volcengine: vendor('https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'),
  nebius: vendor('https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'),
  novita: vendor('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  hyperbolic: vendor('https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'),
  lambda_ai: vendor('https://api.lambda.ai/v1', 'LAMBDA_API_KEY'),
  nscale: vendor('https://inference.api.nscale.com/v1', 'NSCALE_API_KEY'),
  featherless_ai: vendor('https://api.featherless.ai/v1', 'FEATHERLESS_AI_API_KEY', {
    keyVariables: ['FEATHERLESS_AI_API_KEY', 'FEATHERLESS_API_KEY'],
  }),
  baseten: vendor('https://inference.baseten.co/v1', 'BASETEN_API_KEY'),
  wandb: vendor('https://api.inference.wandb.ai/v1', 'WANDB_API_KEY'),
  meta_llama: vendor('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  friendliai: vendor('https://api.friendli.ai/serverless/v1', 'FRIENDLIAI_API_KEY', {
    baseVariables: ['FRIENDLI_API_BASE'],
    keyVariables: ['FRIENDLIAI_API_KEY', 'FRIENDLI_TOKEN'],
  }),
  vercel_ai_gateway: vendor('https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY'),
  v0: vendor('https://api.v0.dev/v1', 'V0_API_KEY'),
  morph: vendor('https://api.morphllm.com/v1', 'MORPH_API_KEY'),
  ai21: vendor('https://api.ai21.com/studio/v1', 'AI21_API_KEY'),
  github: vendor('https://models.inference.ai.azure.com', 'GITHUB_API_KEY'),
  huggingface: vendor('https://router.huggingface.co/v1', 'HUGGINGFACE_API_KEY', {
    baseVariables: ['HF_API_BASE', 'HUGGINGFACE_API_BASE'],
    keyVariables: ['HF_TOKEN', 'HUGGINGFACE_API_KEY'],
  }),
  voyage: vendor('https://api.voyageai.com/v1', 'VOYAGE_API_KEY'),
  jina_ai: vendor('https://api.jina.ai/v1', 'JINA_AI_API_KEY'),
  databricks: vendor(null, 'DATABRICKS_API_KEY', { keyVariables: ['DATABRICKS_API_KEY', 'DATABRICKS_TOKEN'] }),
  cloudflare: vendor(null, 'CLOUDFLARE_API_KEY', { settings: { account_id: ['CLOUDFLARE_ACCOUNT_ID'] } }),
  hosted_vllm: local(null, 'HOSTED_VLLM_API_KEY'),
  vllm: local(null, 'VLLM_API_KEY'),
  lm_studio: local('http://localhost:1234/v1', 'LM_STUDIO_API_KEY'),
  llamafile: local('http://127.0.0.1:8080/v1', 'LLAMAFILE_API_KEY'),
  xinference: local('http://127.0.0.1:9997/v1', 'XINFERENCE_API_KEY'),
} as const satisfies Readonly<Record<string, Vendor>>;

export type CompatibleVendor = keyof typeof COMPATIBLE_VENDORS;

export const COMPATIBLE_NAMES = Object.keys(COMPATIBLE_VENDORS) as readonly CompatibleVendor[];

/** Address in the default region; a deployment's own region replaces it. */
const BEDROCK_BASE = 'https://bedrock-runtime.us-west-2.amazonaws.com';

const BEDROCK = vendor(BEDROCK_BASE, 'AWS_BEARER_TOKEN_BEDROCK', {
  baseVariables: ['AWS_BEDROCK_RUNTIME_ENDPOINT'],
  // The machine's own identity may be enough.
  keyOptional: true,
  modelPrefixes: ['converse/'],
  settings: {
    aws_region_name: ['AWS_REGION_NAME', 'AWS_REGION', 'AWS_DEFAULT_REGION'],
    aws_session_name: [],
    aws_external_id: [],
    aws_sts_endpoint: [],
  },
  credentials: {
    aws_access_key_id: ['AWS_ACCESS_KEY_ID'],
    aws_secret_access_key: ['AWS_SECRET_ACCESS_KEY'],
    aws_session_token: ['AWS_SESSION_TOKEN'],
    aws_profile_name: [],
    aws_role_name: [],
    aws_web_identity_token: [],
  },
});

const COHERE = vendor('https://api.cohere.com', 'COHERE_API_KEY', { keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'] });
const OLLAMA = local('http://localhost:11434', 'OLLAMA_API_KEY');

/** All providers that are called over a network. */
export const VENDORS = {
  ...COMPATIBLE_VENDORS,
  anthropic: vendor('https://api.anthropic.com', 'ANTHROPIC_API_KEY', {
    baseVariables: ['ANTHROPIC_API_BASE', 'ANTHROPIC_BASE_URL'],
  }),
  gemini: vendor('https://generativelanguage.googleapis.com', 'GEMINI_API_KEY', {
    keyVariables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
  }),
  vertex_ai: {
    base: 'https://aiplatform.googleapis.com/v1',
    baseVariables: ['VERTEXAI_API_BASE', 'VERTEX_API_BASE'],
    keyVariables: [],
    // The machine's own service account may be enough.
    keyOptional: true,
    modelPrefixes: [],
    settings: {
      vertex_project: ['VERTEXAI_PROJECT', 'GOOGLE_CLOUD_PROJECT'],
      vertex_location: ['VERTEXAI_LOCATION', 'VERTEX_LOCATION'],
    },
    credentials: { vertex_credentials: ['VERTEXAI_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS'] },
  },
  azure: vendor(null, 'AZURE_API_KEY', {
    baseVariables: ['AZURE_API_BASE', 'AZURE_OPENAI_ENDPOINT'],
    keyVariables: ['AZURE_API_KEY', 'AZURE_OPENAI_API_KEY'],
    modelPrefixes: ['o_series/', 'gpt5_series/'],
    settings: { api_version: ['AZURE_API_VERSION'] },
    credentials: { azure_ad_token: ['AZURE_AD_TOKEN'] },
  }),
  azure_ai: vendor(null, 'AZURE_AI_API_KEY', { settings: { api_version: ['AZURE_AI_API_VERSION'] } }),
  bedrock: BEDROCK,
  bedrock_converse: BEDROCK,
  cohere: COHERE,
  cohere_chat: COHERE,
  ollama: OLLAMA,
  ollama_chat: OLLAMA,
  typesafe: vendor('https://api.typesafe.ai', 'TYPESAFE_API_KEY'),
  strands_decider: local(null, 'STRANDS_DECIDER_API_KEY'),
} as const satisfies Readonly<Record<string, Vendor>>;

const BY_NAME: ReadonlyMap<string, Vendor> = new Map(Object.entries<Vendor>(VENDORS));

/** Defaults of a provider; null for an unknown one. */
export function vendorOf(provider: string): Vendor | null {
  return BY_NAME.get(provider) ?? null;
}
