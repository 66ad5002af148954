/** Fields of a request that speak to the gateway; no upstream is sent them, whatever the dialect. */
export const GATEWAY_FIELDS = [
  'litellm_metadata',
  'tags',
  'guardrails',
  'include_guardrail_response',
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

const SPEAKS_TO_US = new Set<string>(GATEWAY_FIELDS);

/** Whether a member of a request is meant for the gateway alone. */
export const isGatewayField = (member: string): boolean => SPEAKS_TO_US.has(member);
