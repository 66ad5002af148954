import type { IncomingHttpHeaders } from 'node:http';
import {
  BudgetExceeded,
  type BudgetToldAs,
  Conflict,
  type DomainError,
  type ErrorCode,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  NotFound,
  TooLarge,
  Unauthenticated,
  Unavailable,
  UpstreamFailed,
} from '../src/domain/errors.ts';
import { FreeTierUsedUp } from '../src/domain/free-tier/free-tier.ts';
import { encodeOtlpError } from '../src/wire/otlp/answer.ts';

/** A group of paths that share an error contract. */
export type Surface = 'catalog' | 'proxy' | 'anthropic' | 'gemini' | 'management' | 'traces' | 'otlp';

/** What a door says about a failure. */
export interface RenderedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Calls of models answer alike in every dialect; Google's clients alone know an unknown model by 404. */
const MODEL_CALLS: Record<ErrorCode | 'INTERNAL', number> = {
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
 * The only table of statuses. `UPSTREAM_FAILED` answers with the upstream's own class where it sent one, except on the
 * catalog's surface: there nobody's request was forwarded, and the fault is not the caller's.
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
  proxy: MODEL_CALLS,
  gemini: MODEL_CALLS,
  anthropic: { ...MODEL_CALLS, TOO_LARGE: 413 },
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
};

/** Where broken parameters are a status of their own. */
const VALIDATES = new Set<Surface>(['catalog', 'management', 'traces']);

/** An upstream that did not answer in time; the OpenAI SDKs retry on it. */
const UPSTREAM_TIMED_OUT = 408;

/** An exhausted allowance is not a rate: told as one, every client retries a call that cannot succeed. */
const BUDGET_STATUSES: Record<BudgetToldAs, number> = { unprocessable: 422, rate: 429, bad_request: 400 };

/** What a caller learns of a bug: nothing. The log has the rest, under the request id. */
const INTERNAL_MESSAGE = 'Internal server error';
const INTERNAL_TYPE = 'internal_server_error';

/** The status of a failure on a surface; `null` stands for a bug. */
export function statusOf(surface: Surface, error: DomainError | null): number {
  if (error === null) return STATUSES[surface].INTERNAL;
  if (error instanceof UpstreamFailed && surface === 'catalog') return STATUSES.catalog.UPSTREAM_FAILED;
  if (error instanceof UpstreamFailed && error.upstreamStatus !== null && error.upstreamStatus >= 400)
    return error.upstreamStatus;
  if (error instanceof UpstreamFailed && error.timedOut) return UPSTREAM_TIMED_OUT;
  // The reference answers an unknown model with 400, not 404: clients match it.
  if ((surface === 'proxy' || surface === 'anthropic') && error instanceof NotFound && error.kind === 'model')
    return MODEL_CALLS.INVALID_INPUT;
  if (error instanceof BudgetExceeded) return BUDGET_STATUSES[error.toldAs];
  // Only broken parameters are a validation answer there; a rule broken otherwise is a plain bad request.
  if (error instanceof InvalidInput && VALIDATES.has(surface) && error.issues.length === 0) return 400;
  return STATUSES[surface][error.code];
}

/** A failure as the wire of its surface shows it. */
export function renderError(
  surface: Surface,
  error: DomainError | null,
  requestHeaders: IncomingHttpHeaders,
): RenderedError {
  const status = statusOf(surface, error);
  const headers: Record<string, string> = {};
  if ((error instanceof Unavailable || error instanceof LimitExceeded) && error.retryAfterSeconds !== null)
    headers['retry-after'] = String(error.retryAfterSeconds);
  if (error instanceof FreeTierUsedUp) {
    headers['x-ratelimit-limit-requests'] = String(error.dailyLimit);
    headers['x-ratelimit-remaining-requests'] = '0';
    headers['x-ratelimit-reset-requests'] = `${error.retryAfterSeconds}s`;
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
    const body = Buffer.from(JSON.stringify(anthropicError(error, requestHeaders['x-request-id'])));
    return { status, headers, contentType: 'application/json', body };
  }
  const brokenParameters = error instanceof InvalidInput && error.issues.length > 0;
  const envelope =
    surface === 'proxy' || error instanceof Unauthenticated || (surface === 'management' && !brokenParameters);
  const detail = surface === 'traces' ? readFailureOf(error) : detailOf(error);
  const value = envelope ? { error: proxyError(status, error) } : { detail };
  return { status, headers, contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

/** What later generations of the trace wire name by a code; what the documented one has keeps its plain text. */
const READ_FAILURES: Partial<Record<ErrorCode, string>> = {
  CONFLICT: 'trace_changed',
  TOO_LARGE: 'too_large',
  UNAVAILABLE: 'unavailable',
};

function readFailureOf(error: DomainError | null): unknown {
  const code = error === null ? undefined : READ_FAILURES[error.code];
  return code === undefined ? detailOf(error) : { code, message: error?.message };
}

/** The FastAPI form: a text, or the list of broken parameters. */
function detailOf(error: DomainError | null): unknown {
  if (error === null) return INTERNAL_MESSAGE;
  if (!(error instanceof InvalidInput) || error.issues.length === 0) return error.message;
  return error.issues.map(({ rule, path, message, input, context }) => ({
    type: rule,
    loc: path,
    msg: message,
    ...(input === undefined ? {} : { input }),
    ...(context === undefined ? {} : { ctx: context }),
  }));
}

/** The fields of the OpenAI envelope; `code` is always text. */
export interface ProxyError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string;
}

const CREDENTIAL_FAULTS: Record<Unauthenticated['fault'], { type: string; param: string }> = {
  missing: { type: 'auth_error', param: 'None' },
  malformed: { type: 'auth_error', param: 'None' },
  unknown: { type: 'token_not_found_in_db', param: 'key' },
  expired: { type: 'expired_key', param: 'key' },
  blocked: { type: 'auth_error', param: 'None' },
};

/** A failure in the OpenAI envelope of the proxy's surface; also the last event of a broken stream. */
export function proxyError(status: number, error: DomainError | null): ProxyError {
  const code = String(status);
  if (error === null) return { message: INTERNAL_MESSAGE, type: INTERNAL_TYPE, param: null, code };
  if (error instanceof Unauthenticated) {
    // The reference's own two wordings.
    const message = `Authentication Error${error.fault === 'expired' ? ' -' : ','} ${error.message}`;
    return { message, ...CREDENTIAL_FAULTS[error.fault], code };
  }
  if (error instanceof UpstreamFailed) {
    return {
      message: error.message,
      // An upstream that said nothing has no words of its own for it.
      type: error.upstreamType ?? (status === STATUSES.proxy.INTERNAL ? INTERNAL_TYPE : null),
      param: error.upstreamParam,
      code: error.upstreamCode ?? code,
    };
  }
  return { message: error.message, ...typeAndParam(error), code };
}

function typeAndParam(error: DomainError): { type: string | null; param: string | null } {
  if ((error instanceof InvalidInput || error instanceof Conflict) && error.field !== null)
    return { type: 'bad_request_error', param: error.field };
  if (error instanceof InvalidInput) {
    const place = error.issues[0]?.path.at(-1);
    return { type: 'invalid_request_error', param: place === undefined ? null : String(place) };
  }
  // The reference renders an absent Python value as this text, and clients have come to see it.
  if (error instanceof NotFound && error.kind === 'model') return { type: 'None', param: 'None' };
  if (error instanceof NotFound) return { type: 'not_found_error', param: error.kind === 'key' ? 'key' : null };
  if (error instanceof Forbidden)
    return error.right === 'model'
      ? { type: 'key_model_access_denied', param: 'model' }
      : { type: 'auth_error', param: 'None' };
  if (error instanceof TooLarge) return { type: 'bad_request_error', param: 'content-length' };
  if (error instanceof LimitExceeded)
    return error.limit === 'budget'
      ? { type: 'budget_exceeded', param: null }
      : { type: 'throttling_error', param: null };
  if (error instanceof Unavailable) return { type: 'service_unavailable', param: null };
  return { type: 'invalid_request_error', param: null };
}

/** The words of Google's own statuses, by the HTTP status they travel under. */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** A failure as Google's clients know it; also the last event of a broken stream. */
export function geminiError(
  code: number,
  error: DomainError | null,
): { readonly code: number; readonly message: string; readonly status: string } {
  const { message } = proxyError(code, error);
  return { code, message, status: GOOGLE_STATUSES[code] ?? (code >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION') };
}

/** Anthropic's words for what went wrong, by the status it travels under. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** A caller's name for its request, as far as it can be one. */
const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** A failure as Anthropic's clients know it; also the last event of a broken stream. `requestId` is what the caller sent. */
export function anthropicError(error: DomainError | null, requestId?: string | string[]): object {
  const status = statusOf('anthropic', error);
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const { message } = proxyError(status, error);
  const echoed = typeof requestId === 'string' && REQUEST_ID.test(requestId) ? { request_id: requestId } : {};
  return { type: 'error', error: { type, message }, ...echoed };
}

/** What the edge answers where no row matches: the reference's own short bodies. */
export const UNROUTED = {
  notFound: { status: 404, body: { detail: 'Not Found' } },
  methodNotAllowed: { status: 405, body: { detail: 'Method Not Allowed' } },
} as const;
