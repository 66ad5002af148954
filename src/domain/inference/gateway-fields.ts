/** Members of a request that only the gateway reads, in every dialect. They are not sent upstream. */
export const GATEWAY_FIELDS = [
  'litellm_metadata',
  'tags',
  'guardrails',
  'include_guardrail_response',
  'policies',
  'prompt_id',
  'prompt_variables',
  'prompt_version',
  'fallbacks',
  'context_window_fallback_dict',
  'disable_fallbacks',
  'num_retries',
  'timeout',
  'stream_timeout',
  'cache',
  'caching',
  'mock_response',
  'mock_testing_fallbacks',
  'mock_testing_context_fallbacks',
  'mock_testing_content_policy_fallbacks',
  'api_key',
  'api_base',
  'drop_params',
] as const;

const GATEWAY_FIELD_SET = new Set<string>(GATEWAY_FIELDS);

/** Whether only the gateway reads a member of a request. */
export const isGatewayField = (member: string): boolean => GATEWAY_FIELD_SET.has(member);
