import type { RequestBody } from './request-validation.ts';

const FUNCTION = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };

/** Parameters of chat completions, each with a request that uses it. */
const SAMPLES: Readonly<Record<string, RequestBody>> = {
  frequency_penalty: { frequency_penalty: 0.5 },
  logit_bias: { logit_bias: { 1: 1 } },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 1 },
  max_tokens: { max_tokens: 16 },
  max_completion_tokens: { max_completion_tokens: 16 },
  modalities: { modalities: ['text', 'audio'] },
  prediction: { prediction: { type: 'content', content: 'x' } },
  n: { n: 2 },
  presence_penalty: { presence_penalty: 0.5 },
  seed: { seed: 1 },
  stop: { stop: ['x'] },
  stream: { stream: true },
  stream_options: { stream: true, stream_options: { include_usage: true } },
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.5 },
  tools: { tools: [FUNCTION] },
  tool_choice: { tools: [FUNCTION], tool_choice: 'required' },
  parallel_tool_calls: { tools: [FUNCTION], parallel_tool_calls: false },
  functions: { functions: [FUNCTION.function] },
  function_call: { functions: [FUNCTION.function], function_call: 'auto' },
  response_format: { response_format: { type: 'json_object' } },
  reasoning_effort: { reasoning_effort: 'low' },
  user: { user: 'u' },
  service_tier: { service_tier: 'auto' },
  safety_identifier: { safety_identifier: 'u' },
  prompt_cache_key: { prompt_cache_key: 'k' },
  verbosity: { verbosity: 'low' },
  web_search_options: { web_search_options: {} },
  audio: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
};

/** Names of the parameters of chat completions. */
export const CHAT_PARAMS: readonly string[] = Object.keys(SAMPLES);

/** A chat request that uses one parameter, to find out whether an upstream gets it. */
export const chatRequestWith = (model: string, param: string): RequestBody => ({
  model,
  messages: [{ role: 'user', content: 'x' }],
  ...SAMPLES[param],
  drop_params: true,
});
