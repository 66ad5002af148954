import type { JsonObject } from '../../../src/domain/json-object.ts';
import { callerId } from '../../../src/domain/calls/caller-id.ts';
import {
  AllCoolingDown,
  Conflict,
  type DomainError,
  Forbidden,
  InvalidInput,
  type Issue,
  LimitExceeded,
  NotFound,
  Rejected,
  TooLarge,
  Unauthenticated,
  Unavailable,
  UnknownModel,
  UpstreamFailed,
} from '../../../src/domain/errors.ts';
import { DeploymentLimitReached } from '../../../src/domain/routing/selection-errors.ts';
import { type PipelineContext, PipelineRejected } from '../../../src/domain/policies/pipeline-rejection.ts';

/** Message for an unexpected error. The log has the details, by request id. */
export const INTERNAL_MESSAGE = 'Internal server error';
const INTERNAL_TYPE = 'internal_server_error';
const INVALID_REQUEST_TYPE = 'invalid_request_error';
const THROTTLING_TYPE = 'throttling_error';

/** Fields of the OpenAI envelope. `code` is always text. */
export interface ProxyError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string;
  /** A copy of the message, as in the reference, or the details of a guardrail. */
  readonly provider_specific_fields?: JsonObject;
  /** Steps of the pipeline that refused the call. */
  readonly pipeline_context?: PipelineContext;
}

const CREDENTIAL_FAULTS: Record<Unauthenticated['fault'], { type: string; param: string }> = {
  missing: { type: 'auth_error', param: 'None' },
  malformed: { type: 'auth_error', param: 'None' },
  unknown: { type: 'token_not_found_in_db', param: 'key' },
  expired: { type: 'expired_key', param: 'key' },
  blocked: { type: 'auth_error', param: 'None' },
};

/** A failure in the OpenAI envelope of the proxy surface. Also the last event of a failed stream. */
export function proxyError(status: number, error: DomainError | null): ProxyError {
  const code = String(status);
  if (error === null) return { message: INTERNAL_MESSAGE, type: INTERNAL_TYPE, param: null, code };
  if (error instanceof Unauthenticated) {
    const isExpired = error.fault === 'expired';
    // The prefixes are those of the reference.
    const message = `${isExpired ? 'Authentication Error -' : 'Authentication Error,'} ${error.message}`;
    const { type, param } = CREDENTIAL_FAULTS[error.fault];
    return { message, type, param: isExpired ? (error.keyName ?? param) : param, code };
  }
  if (error instanceof UpstreamFailed) {
    return {
      message: error.message,
      type: upstreamErrorType(status),
      param: error.upstreamParam,
      code: error.upstreamCode ?? code,
    };
  }
  const plain = { message: error.message, ...typeAndParam(error), code: ownCodeOf(error) ?? code };
  if (error instanceof Rejected) {
    const rejected = error.detail === null ? plain : { ...plain, provider_specific_fields: error.detail };
    return error instanceof PipelineRejected ? { ...rejected, pipeline_context: error.context } : rejected;
  }
  return repeatsMessage(error) ? { ...plain, provider_specific_fields: { error: error.message } } : plain;
}

/** As `proxyError`, but with type `authentication_error` when the upstream of a decision refuses the credential. */
export const decisionError = (status: number, error: DomainError): ProxyError => ({
  ...proxyError(status, error),
  ...(error instanceof UpstreamFailed && status === 401 ? { type: 'authentication_error' } : {}),
});

/** `error.type` of an upstream failure, by HTTP status: vendors use different types for the same failure. */
const UPSTREAM_TYPES: Readonly<Record<number, string>> = { 403: 'permission_error', 429: THROTTLING_TYPE };

const upstreamErrorType = (status: number): string =>
  UPSTREAM_TYPES[status] ?? (status >= 500 ? INTERNAL_TYPE : INVALID_REQUEST_TYPE);

/** Codes of OpenAI that its clients read, by the rule of the first fault. */
const OWN_CODES: ReadonlySet<string> = new Set(['previous_response_not_found']);

function ownCodeOf(error: DomainError): string | null {
  const rule = error instanceof InvalidInput ? error.issues[0]?.rule : undefined;
  return rule !== undefined && OWN_CODES.has(rule) ? rule : null;
}

/**
 * Whether the reference repeats the message in `provider_specific_fields`. It does for a missing model and for switches
 * that simulate failures. For an unknown model it does where `UnknownModel.as` is `model`.
 */
function repeatsMessage(error: DomainError): boolean {
  if (error instanceof NotFound && error.kind === 'model') return sourceOf(error) === 'model';
  if (!(error instanceof InvalidInput)) return false;
  const [issue] = error.issues;
  if (issue === undefined) return false;
  return (isModelIssue(issue) && issue.rule === 'missing') || issue.rule === 'test_switch';
}

const isModelIssue = ({ path }: Issue): boolean => path.join('.') === 'body.model';

/** Type and parameter by missing right. Rights that are not listed have those of a malformed credential. */
const FORBIDDEN_FIELDS: Readonly<Record<string, { readonly type: string; readonly param: string | null }>> = {
  model: { type: 'key_model_access_denied', param: 'model' },
  team_model: { type: 'team_model_access_denied', param: 'model' },
  user_model: { type: 'user_model_access_denied', param: 'model' },
  key_vector_store: { type: 'key_vector_store_access_denied', param: null },
  owner_vector_store: { type: 'owner_vector_store_access_denied', param: null },
  team_vector_store: { type: 'team_vector_store_access_denied', param: null },
  key_search_tool: { type: 'key_search_tool_access_denied', param: null },
  response_id: { type: 'permission_error', param: null },
  model_blocked: { type: 'permission_error', param: null },
  end_user_blocked: { type: 'permission_error', param: null },
};

/** Where the request names the unknown model. */
const sourceOf = (error: NotFound): UnknownModel['as'] => (error instanceof UnknownModel ? error.as : 'model');

/** Type and parameter for an unknown model, by `UnknownModel.as`. The endpoints of the reference differ. */
const UNKNOWN_MODEL_FIELDS: Readonly<Record<UnknownModel['as'], { type: string; param: string | null }>> = {
  model: { type: INVALID_REQUEST_TYPE, param: null },
  image: { type: INVALID_REQUEST_TYPE, param: null },
  transcript: { type: 'None', param: 'None' },
  speech: { type: INVALID_REQUEST_TYPE, param: null },
  rerank: { type: INVALID_REQUEST_TYPE, param: null },
  fallback: { type: 'auth_error', param: 'None' },
};

function typeAndParam(error: DomainError): { type: string | null; param: string | null } {
  if ((error instanceof InvalidInput || error instanceof Conflict) && error.field !== null)
    return { type: 'bad_request_error', param: error.field };
  if (error instanceof InvalidInput) {
    const [issue] = error.issues;
    if (issue !== undefined && isModelIssue(issue)) {
      if (issue.rule === 'type') return { type: 'bad_request_error', param: 'model' };
      // A missing model is an unknown one for the reference.
      if (issue.rule === 'missing') return UNKNOWN_MODEL_FIELDS.model;
    }
    const place = issue?.path.at(-1);
    return { type: INVALID_REQUEST_TYPE, param: place === undefined ? null : String(place) };
  }
  if (error instanceof NotFound && error.kind === 'model') return UNKNOWN_MODEL_FIELDS[sourceOf(error)];
  if (error instanceof NotFound) return { type: 'not_found_error', param: error.kind === 'key' ? 'key' : null };
  if (error instanceof Forbidden) return FORBIDDEN_FIELDS[error.right ?? ''] ?? { type: 'auth_error', param: 'None' };
  if (error instanceof TooLarge) return { type: 'bad_request_error', param: 'content-length' };
  if (error instanceof DeploymentLimitReached) return { type: 'rate_limit_error', param: null };
  if (error instanceof AllCoolingDown) return { type: 'all_deployments_in_cooldown', param: null };
  if (error instanceof LimitExceeded)
    return error.limit === 'budget' ? { type: 'budget_exceeded', param: null } : { type: THROTTLING_TYPE, param: null };
  if (error instanceof Unavailable) return { type: 'service_unavailable', param: null };
  return { type: INVALID_REQUEST_TYPE, param: null };
}

/** Google's status names, by HTTP status. */
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

/** A failure in Google's format. Also the last event of a failed stream. */
export function geminiError(
  code: number,
  error: DomainError | null,
): { readonly code: number; readonly message: string; readonly status: string } {
  const { message } = proxyError(code, error);
  return { code, message, status: GOOGLE_STATUSES[code] ?? (code >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION') };
}

/** Anthropic's error types, by HTTP status. */
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

/**
 * A failure in Anthropic's format. Also the last event of a failed stream. `requestId` comes from the caller; an
 * invalid one is left out.
 */
export function anthropicError(status: number, error: DomainError | null, requestId?: string | string[]): object {
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  const { message } = proxyError(status, error);
  const repeatedMessage =
    error !== null && repeatsMessage(error) ? { provider_specific_fields: { error: message } } : {};
  const validId = callerId(requestId);
  return {
    type: 'error',
    error: { type, message, ...repeatedMessage },
    ...(validId === null ? {} : { request_id: validId }),
  };
}
