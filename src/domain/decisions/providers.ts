/** Providers with decision models, in the order in which messages list them. */
const DECIDERS = [
  'openai',
  'openrouter',
  'azure_ai',
  'perplexity',
  'typesafe',
  'strands_decider',
  'cloudflare',
  'databricks',
  'hosted_vllm',
  'fireworks_ai',
] as const;

export type DeciderName = (typeof DECIDERS)[number];

export const DECIDER_NAMES: ReadonlySet<string> = new Set(DECIDERS);

/** Whether a model with this mode, in the configuration or the catalog, is a decision model. */
export const isDecisionMode = (mode: string | null): boolean => mode === 'evaluation' || mode === 'decisions';
