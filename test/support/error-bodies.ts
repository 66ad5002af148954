/** Error fields of a request with a missing or invalid model name. The body contains the message twice. */
export const modelNameError = (message: string, param: string | null = null) => ({
  message,
  type: 'invalid_request_error',
  param,
  provider_specific_fields: { error: message },
});

/** `error.type` of an upstream failure with this HTTP status. */
export function upstreamErrorType(status: number): string {
  if (status === 429) return 'throttling_error';
  if (status === 403) return 'permission_error';
  return status >= 500 ? 'internal_server_error' : 'invalid_request_error';
}
