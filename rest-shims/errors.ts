import type { IncomingHttpHeaders } from 'node:http';
import {
  BudgetExceeded,
  type BudgetErrorKind,
  DomainError,
  type ErrorCode,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  MissingFormField,
  NotFound,
  RateLimited,
  Unauthenticated,
  Unavailable,
  UnknownModel,
  UpstreamFailed,
} from '../src/domain/errors.ts';
import { AnalysisTimeout, OwnershipLost, UnknownWorker } from '../src/domain/lens/worker.ts';
import type { McpFailureKind } from '../src/domain/mcp/mcp-request.ts';
import { outcomeOf } from '../src/domain/mcp/outcome.ts';
import { ExcludedByTags } from '../src/domain/routing/selection-errors.ts';
import { FreeTierUsedUp } from '../src/domain/free-tier/free-tier.ts';
import { anthropicError, geminiError, INTERNAL_MESSAGE, proxyError } from './helpers/http/dialect-errors.ts';
import { isOutsideRpc, JsonRpcFailure, rpcError } from './helpers/http/json-rpc-failure.ts';
import { lensDetail, traceDetail, validationDetail } from './helpers/http/error-details.ts';
import { managementTypeAndParam, plainDetail } from './helpers/http/management-errors.ts';
import { mcpErrorBody, mcpErrorHeaders } from './helpers/http/mcp-errors.ts';
import { type McpFault, McpProtocolError } from '../src/domain/mcp/protocol.ts';
import { encodeOtlpError } from '../src/wire/otlp/answer.ts';

/** A group of paths that share an error contract. */
export type Surface =
  | 'catalog'
  | 'proxy'
  | 'anthropic'
  | 'gemini'
  | 'management'
  | 'traces'
  | 'otlp'
  | 'lens'
  | 'a2a'
  | 'mcp';

/**
 * A failed model call of a lens run. Workers get the body `{"detail":{"lens_error":…}}`, except for the statuses 401,
 * 404 and 422 and for OwnershipLost.
 */
export class LensModelFailure extends DomainError {
  readonly code: ErrorCode;
  readonly failure: DomainError;
  constructor(failure: DomainError) {
    super(failure.message, { cause: failure });
    this.name = 'LensModelFailure';
    this.code = failure.code;
    this.failure = failure;
  }
}

/** A rendered failure. */
export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * Statuses of model calls. The surfaces of the dialects differ in two cases. An unknown model is 404 on the Gemini
 * surface and 400 on the others. A body that is too large is 413 on the Anthropic surface and 400 on the others.
 */
const MODEL_CALL_STATUSES: Record<ErrorCode | 'INTERNAL', number> = {
  INVALID_INPUT: 400,
  UNSUPPORTED: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 400,
  TOO_LARGE: 400,
  LIMIT_EXCEEDED: 429,
  REJECTED: 400,
  UPSTREAM_FAILED: 500,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

/**
 * Statuses by surface and error code. Except on the catalog surface, `UPSTREAM_FAILED` has the status of the
 * upstream if that status is at least 400, and 408 after a timeout. Otherwise the status in this table applies.
 */
const STATUSES: Record<Surface, Record<ErrorCode | 'INTERNAL', number>> = {
  catalog: {
    INVALID_INPUT: 422,
    UNSUPPORTED: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    TOO_LARGE: 413,
    LIMIT_EXCEEDED: 429,
    REJECTED: 400,
    UPSTREAM_FAILED: 502,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  },
  proxy: MODEL_CALL_STATUSES,
  gemini: MODEL_CALL_STATUSES,
  anthropic: { ...MODEL_CALL_STATUSES, TOO_LARGE: 413 },
  a2a: MODEL_CALL_STATUSES,
  management: {
    INVALID_INPUT: 422,
    UNSUPPORTED: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 400,
    TOO_LARGE: 400,
    LIMIT_EXCEEDED: 429,
    REJECTED: 400,
    UPSTREAM_FAILED: 500,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  },
  traces: {
    INVALID_INPUT: 422,
    UNSUPPORTED: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    TOO_LARGE: 413,
    LIMIT_EXCEEDED: 429,
    REJECTED: 400,
    UPSTREAM_FAILED: 502,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  },
  lens: {
    INVALID_INPUT: 422,
    UNSUPPORTED: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    TOO_LARGE: 413,
    LIMIT_EXCEEDED: 429,
    REJECTED: 400,
    UPSTREAM_FAILED: 502,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  },
  otlp: {
    INVALID_INPUT: 400,
    UNSUPPORTED: 400,
    UNAUTHENTICATED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    TOO_LARGE: 413,
    LIMIT_EXCEEDED: 429,
    REJECTED: 400,
    UPSTREAM_FAILED: 502,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  },
  mcp: { ...MODEL_CALL_STATUSES, CONFLICT: 409, TOO_LARGE: 413, UPSTREAM_FAILED: 502 },
};

/** Statuses of requests that break the protocol of the mcp surface. */
const MCP_FAULT_STATUSES: Record<McpFault, number> = { parse: 400, request: 400, accept: 406, media_type: 415 };

/** Surfaces on which InvalidInput is 422 if it has issues, and 400 if it has none. */
const VALIDATION_SURFACES = new Set<Surface>(['catalog', 'management', 'traces', 'lens']);

/** Statuses of the lens surface: for an exceeded budget, and for a timeout of the analysis model. */
const LENS_BUDGET_EXCEEDED = 402;
const LENS_TIMED_OUT = 504;

/** Statuses of failed model calls of a lens run whose body has no `lens_error`. */
const PLAIN_LENS_STATUSES: ReadonlySet<number> = new Set([401, 404, 422]);

/** Status of an upstream timeout. The OpenAI SDKs retry a 408. */
const UPSTREAM_TIMED_OUT = 408;

/**
 * Statuses of an exceeded budget, by kind (`budget_exceeded_status_code`). The default is 422: clients retry 429, and a
 * retry cannot succeed.
 */
const BUDGET_STATUSES: Record<BudgetErrorKind, number> = { unprocessable: 422, rate: 429, bad_request: 400 };

/** Missing rights that management routes answer with 401, as the reference does. */
const UNAUTHENTICATED_RIGHTS: ReadonlySet<string> = new Set(['proxy_admin', 'team_permission', 'team_list']);

/** Status of a failure on a surface. `error` is null for an unexpected error (500). */
export function statusOf(surface: Surface, error: DomainError | null): number {
  if (error === null) return STATUSES[surface].INTERNAL;
  if (error instanceof LensModelFailure || error instanceof JsonRpcFailure) return statusOf(surface, error.failure);
  // A failed agent is an internal error (JSON-RPC code -32603), also after a timeout.
  if (error instanceof UpstreamFailed && surface === 'a2a') return STATUSES.a2a.UPSTREAM_FAILED;
  if (error instanceof McpProtocolError) return MCP_FAULT_STATUSES[error.fault];
  if (error instanceof UpstreamFailed && surface === 'catalog') return STATUSES.catalog.UPSTREAM_FAILED;
  if (error instanceof UpstreamFailed && error.upstreamStatus !== null && error.upstreamStatus >= 400)
    return error.upstreamStatus;
  if (error instanceof UpstreamFailed && error.timedOut) return UPSTREAM_TIMED_OUT;
  // The reference answers an unknown model with 400, and clients depend on this status.
  if ((surface === 'proxy' || surface === 'anthropic') && error instanceof NotFound && error.kind === 'model')
    return MODEL_CALL_STATUSES.INVALID_INPUT;
  if (surface === 'lens' && error instanceof LimitExceeded && error.limit === 'budget') return LENS_BUDGET_EXCEEDED;
  if (surface === 'lens' && error instanceof AnalysisTimeout) return LENS_TIMED_OUT;
  if (error instanceof BudgetExceeded) return BUDGET_STATUSES[error.errorKind];
  // As in the reference: the configuration gives the tags of the call no right to the model.
  if (error instanceof ExcludedByTags) return MODEL_CALL_STATUSES.UNAUTHENTICATED;
  if (error instanceof MissingFormField) return STATUSES.management.INVALID_INPUT;
  // The reference answers 401 on routes for administrators, and for a missing upstream credential.
  if (error instanceof Forbidden && (error.right === 'admin_route' || error.right === 'upstream_credential'))
    return MODEL_CALL_STATUSES.UNAUTHENTICATED;
  if (surface === 'management' && error instanceof Forbidden && UNAUTHENTICATED_RIGHTS.has(error.right ?? ''))
    return STATUSES.management.UNAUTHENTICATED;
  if (error instanceof InvalidInput && VALIDATION_SURFACES.has(surface) && error.issues.length === 0) return 400;
  return STATUSES[surface][error.code];
}

/** Statuses of failed requests to MCP servers. */
const MCP_STATUSES: Record<McpFailureKind, number> = {
  auth_required: 401,
  forbidden: 403,
  rate_limited: 429,
  timeout: 504,
  unreachable: 502,
  upstream_error: 502,
  internal: 500,
};

/** Status of a failed request about tools of MCP servers. */
export const mcpToolStatus = (error: DomainError): number =>
  error instanceof UpstreamFailed ? MCP_STATUSES[outcomeOf(error).status] : statusOf('management', error);

/** Renders a failure in the format of its surface. */
export function renderError(
  surface: Surface,
  error: DomainError | null,
  requestHeaders: IncomingHttpHeaders,
): RenderedError {
  if (error instanceof LensModelFailure) {
    const inner = renderError(surface, error.failure, requestHeaders);
    if (error.failure instanceof OwnershipLost || PLAIN_LENS_STATUSES.has(inner.status)) return inner;
    return { ...inner, body: Buffer.from(JSON.stringify({ detail: { lens_error: error.message } })) };
  }
  const status = statusOf(surface, error);
  const headers: Record<string, string> = {};
  if ((error instanceof Unavailable || error instanceof LimitExceeded) && error.retryAfterSeconds !== null)
    headers['retry-after'] = String(error.retryAfterSeconds);
  if (error instanceof RateLimited) {
    headers['rate_limit_type'] = error.type;
    headers['reset_at'] = error.resetAt;
  }
  if (error instanceof FreeTierUsedUp) {
    headers['x-ratelimit-limit-requests'] = String(error.dailyLimit);
    headers['x-ratelimit-remaining-requests'] = '0';
    headers['x-ratelimit-reset-requests'] = `${error.retryAfterSeconds}s`;
  }
  if (surface === 'mcp') {
    const body = Buffer.from(JSON.stringify(mcpErrorBody(status, error)));
    return { status, headers: { ...headers, ...mcpErrorHeaders(error) }, contentType: 'application/json', body };
  }
  if (surface === 'otlp') {
    const { contentType, body } = encodeOtlpError(error?.message ?? INTERNAL_MESSAGE, requestHeaders['content-type']);
    return { status, headers, contentType, body };
  }
  if (surface === 'gemini') {
    const body = Buffer.from(JSON.stringify({ error: geminiError(status, error) }));
    return { status, headers, contentType: 'application/json', body };
  }
  if (surface === 'anthropic') {
    const body = Buffer.from(JSON.stringify(anthropicError(status, error, requestHeaders['x-request-id'])));
    return { status, headers, contentType: 'application/json', body };
  }
  const value = errorBody(surface, status, error);
  return { status, headers, contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

/** The JSON body of a failure: the OpenAI envelope or FastAPI's detail. */
function errorBody(surface: Surface, status: number, error: DomainError | null): object {
  const plain = surface === 'management' ? plainDetail(error) : undefined;
  if (plain !== undefined) return { detail: plain };
  // As in the reference, an unknown model of a speech request has a body of its own.
  if (error instanceof UnknownModel && error.as === 'speech') return { detail: { error: error.message } };
  // On the lens surface, only a caller without a valid key gets the OpenAI envelope; an unknown worker gets `detail`.
  const lacksValidKey = error instanceof Unauthenticated && !(error instanceof UnknownWorker);
  const agentFailure = surface === 'a2a' ? agentErrorBody(error) : undefined;
  if (agentFailure !== undefined) return agentFailure;
  if (surface === 'lens' && !lacksValidKey) return { detail: lensDetail(error) };
  if (error instanceof Forbidden && error.right === 'address') return { error: proxyError(status, error) };
  if (error instanceof Forbidden && (error.right === 'route' || error.right === 'upstream_credential'))
    return { detail: error.message };
  if (!hasEnvelope(surface, error))
    return { detail: surface === 'traces' ? traceDetail(error) : validationDetail(error, surface !== 'management') };
  const typeAndParam = surface === 'management' && error !== null ? managementTypeAndParam(error) : null;
  return { error: { ...proxyError(status, error), ...typeAndParam } };
}

/** Body of a failed call of an agent. Undefined for a failure in the OpenAI envelope. */
function agentErrorBody(error: DomainError | null): object | undefined {
  if (error instanceof JsonRpcFailure) return rpcError(error.failure, error.id);
  // Requests for cards have no JSON-RPC id.
  const isPlain = error instanceof NotFound || (error instanceof Forbidden && error.right === 'agent');
  if (isPlain) return { detail: error.message };
  return error !== null && isOutsideRpc(error) ? undefined : rpcError(error, null);
}

/** Kinds of unknown objects that the proxy surface answers with `detail`. */
const PLAIN_NOT_FOUND: ReadonlySet<string> = new Set(['listed model', 'forwarded path']);

const isAboutFallbackType = (error: DomainError | null): boolean =>
  error instanceof InvalidInput && error.field === 'fallback_type';

/** Whether a failure is rendered in the OpenAI envelope, not as `detail`. */
function hasEnvelope(surface: Surface, error: DomainError | null): boolean {
  if (error instanceof Unauthenticated) return true;
  if (error instanceof Forbidden && error.right === 'model') return true;
  if (surface === 'proxy' || surface === 'a2a') {
    const isPlain = error instanceof NotFound && PLAIN_NOT_FOUND.has(error.kind);
    const hasDetail = isPlain || error instanceof MissingFormField || isAboutFallbackType(error);
    return !hasDetail;
  }
  const hasIssues = error instanceof InvalidInput && error.issues.length > 0;
  return surface === 'management' && !hasIssues;
}

/** Statuses other than 200 of answers that are not failures. */
export const SUCCESS = { created: 201, accepted: 202, noContent: 204, seeOther: 303, notModified: 304 } as const;

/** Status of a health check of named deployments when at least one is checked and none is healthy. */
export const UNHEALTHY = 503;

/** Answers for unknown paths and methods, in the form of the reference. */
export const UNROUTED = {
  notFound: { status: 404, body: { detail: 'Not Found' } },
  methodNotAllowed: { status: 405, body: { detail: 'Method Not Allowed' } },
} as const;

/** Status of redirects: to a path without its last slash, and to configured images. */
export const REDIRECTED = { status: 307 } as const;

/** Answers to CORS preflight requests, with the texts of the reference. */
export const PREFLIGHT = {
  allowed: { status: 200, body: 'OK' },
  refused: { status: 400, body: 'Disallowed CORS origin' },
} as const;
