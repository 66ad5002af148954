import {
  type DomainError,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  NotFound,
  TooLarge,
  Unauthenticated,
} from '../../../src/domain/errors.ts';
import { RPC_CODES } from '../../../src/domain/json-rpc-codes.ts';
import { McpChallenge } from '../../../src/domain/mcp/admission.ts';
import { type McpFault, McpProtocolError } from '../../../src/domain/mcp/protocol.ts';
import { errorMessage } from '../../../src/wire/mcp/messages.ts';
import { INTERNAL_MESSAGE, proxyError } from './dialect-errors.ts';

/** Error codes of requests that break the protocol. */
const CODES: Record<McpFault, number> = {
  parse: RPC_CODES.parseError,
  request: RPC_CODES.invalidRequest,
  accept: RPC_CODES.invalidRequest,
  media_type: RPC_CODES.invalidRequest,
};

/** Path of the documents about protected resources (RFC 9728). */
export const RESOURCE_DOCUMENT = '/.well-known/oauth-protected-resource';
const AUTHORIZATION_DOCUMENT = '/.well-known/oauth-authorization-server';

/** Body of a failure on the mcp surface. */
export function mcpErrorBody(status: number, error: DomainError | null): object {
  if (error === null) return { detail: INTERNAL_MESSAGE };
  const { message } = error;
  if (error instanceof McpProtocolError) return errorMessage(null, { code: CODES[error.fault], message });
  if (error instanceof TooLarge) return errorMessage(null, { code: RPC_CODES.invalidRequest, message });
  if (error instanceof McpChallenge)
    return { detail: error.isForGateway ? { error: 'authentication_required', message } : message };
  // The prefix of the message is that of the proxy surface.
  if (error instanceof Unauthenticated) return { detail: proxyError(status, error).message };
  return sessionError(error) ?? { detail: hasErrorMember(error) ? { error: message } : message };
}

/** Body of a refused session, and of a limit; null for other failures. */
function sessionError(error: DomainError): object | null {
  const { message: details } = error;
  if (error instanceof LimitExceeded) return { error: 'Too Many Requests', details };
  if (error instanceof Forbidden && error.right === 'mcp_session') return { error: 'Forbidden', details };
  return error instanceof NotFound && error.kind === 'mcp_session' ? { error: 'Not Found', details } : null;
}

/** Whether the detail of a failure is an object with the member `error`. */
const hasErrorMember = (error: DomainError): boolean =>
  error instanceof InvalidInput || (error instanceof Forbidden && error.right === 'mcp_server');

/** Headers of a failure on the mcp surface. */
export function mcpErrorHeaders(error: DomainError | null): Readonly<Record<string, string>> {
  return error instanceof McpChallenge ? { 'www-authenticate': challengeText(error) } : {};
}

/** Value of `WWW-Authenticate` (RFC 9110, RFC 9728). */
function challengeText({ base, target }: McpChallenge): string {
  if (target.kind === 'authorization_server')
    return `Bearer authorization_uri="${base}${AUTHORIZATION_DOCUMENT}/${encodeURIComponent(target.server)}"`;
  const fault = target.hasInvalidToken ? 'error="invalid_token", ' : '';
  return `Bearer ${fault}resource_metadata="${base}${RESOURCE_DOCUMENT}${target.path}"`;
}
