import { LimitExceeded, UpstreamFailed } from '../errors.ts';
import type { McpFailureKind, McpOutcome } from './mcp-request.ts';

/** Outcomes of refusals with an HTTP status. Other statuses are `upstream_error`. */
const STATUS_OUTCOMES: Readonly<Record<number, McpFailureKind>> = {
  401: 'auth_required',
  403: 'forbidden',
  429: 'rate_limited',
  504: 'timeout',
};

/** Outcome of a server whose tools could not be listed. */
export function outcomeOf(failure: unknown): Extract<McpOutcome, { readonly httpStatus: unknown }> {
  if (failure instanceof LimitExceeded) return { status: 'rate_limited', httpStatus: null };
  if (!(failure instanceof UpstreamFailed)) return { status: 'internal', httpStatus: null };
  const { upstreamStatus: httpStatus, upstreamCode, timedOut } = failure;
  if (timedOut) return { status: 'timeout', httpStatus };
  if (httpStatus !== null) return { status: STATUS_OUTCOMES[httpStatus] ?? 'upstream_error', httpStatus };
  return { status: upstreamCode === null ? 'unreachable' : 'upstream_error', httpStatus };
}
