import {
  type DomainError,
  Forbidden,
  InvalidInput,
  NotFound,
  Rejected,
  UpstreamFailed,
} from '../../../src/domain/errors.ts';
import { outcomeOf } from '../../../src/domain/mcp/outcome.ts';

/** Codes of refusals, by the missing right. */
const REFUSALS: Readonly<Record<string, string>> = {
  mcp_server: 'access_denied',
  mcp_tool: 'access_denied',
  mcp_tool_server: 'tool_server_mismatch',
};

/** Code of a failure; null for one in the form of the surface. */
function codeOf(error: DomainError): string | null {
  if (error instanceof UpstreamFailed) return outcomeOf(error).status;
  if (error instanceof Rejected) return 'guardrail_violation';
  if (error instanceof NotFound && error.kind === 'mcp_server') return 'server_not_found';
  if (error instanceof Forbidden) return REFUSALS[error.right ?? ''] ?? null;
  return error instanceof InvalidInput && error.field === 'mcp_parameter' ? 'missing_parameter' : null;
}

/** Body of a failed request about tools of MCP servers; null for the form of the surface. */
export function mcpToolBody(error: DomainError): object | null {
  const code = codeOf(error);
  if (code === null) return null;
  return { detail: code === 'auth_required' ? 'Unauthorized' : { error: code, message: error.message } };
}

/** Headers of such a failure: the challenge of the server. */
export function mcpToolHeaders(error: DomainError): Readonly<Record<string, string>> {
  const challenge = error instanceof UpstreamFailed ? error.upstreamHeaders['www-authenticate'] : undefined;
  return challenge === undefined ? {} : { 'www-authenticate': challenge };
}
