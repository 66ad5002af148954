/** The catalog's names of providers that have other names in spans, by the span's name in lower case. */
const CATALOG_NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai', 'text-completion-openai'],
  azure: ['azure', 'azure_text'],
  'az.ai.openai': ['azure', 'azure_text'],
  'azure.ai.openai': ['azure', 'azure_text'],
  azure_openai: ['azure', 'azure_text'],
  'azure-openai': ['azure', 'azure_text'],
  'az.ai.inference': ['azure_ai'],
  'azure.ai.inference': ['azure_ai'],
  'aws.bedrock': ['bedrock', 'bedrock_converse'],
  aws_bedrock: ['bedrock', 'bedrock_converse'],
  bedrock: ['bedrock', 'bedrock_converse'],
  'amazon-bedrock': ['bedrock', 'bedrock_converse'],
  amazon_bedrock: ['bedrock', 'bedrock_converse'],
  'gcp.vertex_ai': ['vertex_ai'],
  'google.vertex': ['vertex_ai'],
  google_vertexai: ['vertex_ai'],
  vertexai: ['vertex_ai'],
  'gcp.gemini': ['gemini'],
  'google.generative-ai': ['gemini'],
  'google-gla': ['gemini'],
  google_genai: ['gemini'],
  cohere: ['cohere', 'cohere_chat'],
  mistral_ai: ['mistral'],
  mistralai: ['mistral'],
  x_ai: ['xai'],
  'x.ai': ['xai'],
  'ibm.watsonx.ai': ['watsonx'],
  fireworks: ['fireworks_ai'],
  together: ['together_ai'],
  togetherai: ['together_ai'],
};

/**
 * The catalog's names of the provider that a span names. The part after the last dot may be the API that was called
 * (`openai.chat`); it is ignored when the whole name is unknown.
 */
export function catalogProvidersOf(reported: string): readonly string[] {
  const name = reported.trim().toLowerCase();
  const known = namesOf(name);
  if (known !== null) return known;
  const short = name.replace(/\.[^.]*$/, '');
  return namesOf(short) ?? [short];
}

const namesOf = (name: string): readonly string[] | null =>
  Object.hasOwn(CATALOG_NAMES, name) ? (CATALOG_NAMES[name] ?? null) : null;
