/** Error codes of JSON-RPC 2.0. */
export const RPC_CODES = {
  parseError: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Any other error, such as an unknown agent or a missing right. */
  server: -32_000,
} as const;
