import type { JsonObject } from '../domain/json-object.ts';
import { type Deployment, displayName } from '../domain/chat/provider.ts';
import { InvalidInput, UpstreamFailed } from '../domain/errors.ts';
import { AddressRefused, HttpFailure, type HttpFault } from '../domain/http.ts';
import type { AnswerError } from '../wire/dialect.ts';
import { parseJson } from '../wire/json/fields.ts';
import { withoutSecrets } from './secrets.ts';

/** Error classes of LiteLLM, by the HTTP status of the upstream. */
const ERROR_CLASSES_OF_STATUSES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  408: 'Timeout',
  413: 'BadRequestError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  502: 'BadGatewayError',
  503: 'ServiceUnavailableError',
  504: 'Timeout',
};

const errorClassOf = (status: number | null): string => {
  if (status === null) return 'APIConnectionError';
  return ERROR_CLASSES_OF_STATUSES[status] ?? (status >= 500 ? 'InternalServerError' : 'APIError');
};

/** Maximum characters that an error message quotes from a body in which no message is found. */
const QUOTE_LIMIT = 300;
/** Maximum bytes of a body that are searched for secrets before it is quoted. */
const READ_LIMIT = 64 * 1024;

/** Maximum characters of a message that are searched for secrets. The search takes time for each character. */
const SEARCHED_CHARACTERS = 16 * 1024;
/** Maximum characters of a message that callers get: fewer than are searched, because a secret may be cut there. */
const MESSAGE_CHARACTERS = 8 * 1024;

/** A text of an upstream without the credentials of the deployment, which some upstreams quote. */
const shownText = (deployment: Deployment, text: string): string =>
  withoutSecrets(deployment, text.slice(0, SEARCHED_CHARACTERS)).slice(0, MESSAGE_CHARACTERS);

/** Upstream failure with a message in LiteLLM's form: error class, provider, message of the provider. */
function upstreamFailure(
  deployment: Deployment,
  failure: {
    readonly status: number | null;
    readonly message: string;
    readonly errorClass?: string;
    readonly error?: AnswerError | null;
    readonly cause?: unknown;
    readonly timedOut?: boolean;
    readonly retryAfterSeconds?: number | null;
    readonly headers?: Readonly<Record<string, string>>;
  },
): UpstreamFailed {
  const errorClass = failure.errorClass ?? errorClassOf(failure.status);
  const text = shownText(deployment, failure.message);
  const redacted = (value: string | null = null): string | null => value && shownText(deployment, value);
  return new UpstreamFailed(
    `litellm.${errorClass}: ${errorClass}: ${displayName(deployment.provider)}Exception - ${text}`,
    {
      provider: deployment.provider,
      upstreamStatus: failure.status,
      upstreamType: redacted(failure.error?.type),
      upstreamCode: redacted(failure.error?.code),
      upstreamParam: redacted(failure.error?.param),
      timedOut: failure.timedOut ?? false,
      retryAfterSeconds: failure.retryAfterSeconds ?? null,
      ...(failure.headers === undefined ? {} : { upstreamHeaders: failure.headers }),
    },
    failure.cause === undefined ? {} : { cause: failure.cause },
  );
}

/** Failure for an answer with an error status. */
export function errorAnswerFailure(
  deployment: Deployment,
  { status, body, headers = {} }: ErrorAnswer,
  errorOf: (value: unknown) => AnswerError | null,
): UpstreamFailed {
  const value = body === null ? undefined : parseJson(body);
  const error = errorOf(value);
  const message = error?.message ?? otherMessage(value) ?? quoteOf(deployment, body);
  return upstreamFailure(deployment, {
    status,
    message,
    error,
    headers,
    retryAfterSeconds: secondsOf(headers['retry-after']),
  });
}

interface ErrorAnswer {
  readonly status: number;
  /** Null for a body that is too large, or for an incomplete answer to a WebSocket request. */
  readonly body: Uint8Array | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Seconds of a `Retry-After` header. Null when it is missing, a date or invalid. */
const secondsOf = (header: string | undefined): number | null =>
  header !== undefined && /^\d{1,6}(\.\d+)?$/.test(header) ? Number(header) : null;

/**
 * Failure for an error inside an answer with a 2xx status. An error code from 400 to 599 is the status of the failure.
 * Without such a code, the status is 500.
 */
export function errorInAnswer(deployment: Deployment, error: AnswerError): UpstreamFailed {
  const code = Number(error.code);
  const status = Number.isInteger(code) && code >= 400 && code <= 599 ? code : 500;
  return upstreamFailure(deployment, { status, message: error.message, error });
}

/** Failure for an answer that violates its format. `fault` completes "The upstream's answer cannot be used". */
export function malformedAnswer(deployment: Deployment, fault: string): UpstreamFailed {
  return upstreamFailure(deployment, {
    status: null,
    errorClass: 'APIError',
    message: `The upstream's answer cannot be used: ${fault}.`,
  });
}

/** Failure for an unusable answer, with a given LiteLLM error class and message. */
export const unusableAnswer = (deployment: Deployment, errorClass: string, message: string): UpstreamFailed =>
  upstreamFailure(deployment, { status: null, errorClass, message });

/** Throws InvalidInput: neither the deployment nor its provider has an address. */
export function refuseWithoutBase({ modelGroup, provider }: Deployment): never {
  throw new InvalidInput(`The model "${modelGroup}" cannot be called: the provider ${provider} needs an api_base.`);
}

/** Failure for a realtime session that does not open, or that the upstream ends. */
export function sessionFailure(deployment: Deployment, message: string): UpstreamFailed {
  return upstreamFailure(deployment, { status: null, message });
}

/** Error classes of LiteLLM, by transport fault. `garbled`: an invalid answer. `misused`: the call cannot be sent. */
const ERROR_CLASSES_OF_FAULTS: Readonly<Record<HttpFault, string>> = {
  unreachable: 'APIConnectionError',
  timeout: 'Timeout',
  cut: 'APIConnectionError',
  garbled: 'APIError',
  misused: 'APIConnectionError',
};

/**
 * Error for an address that may not be called. One message for all reasons, so that it does not reveal what is at the
 * address.
 */
function addressRefused(): InvalidInput {
  const message = "The parameter 'api_base' cannot be honoured: the gateway does not call this address.";
  return new InvalidInput(message, [{ path: ['body', 'api_base'], rule: 'unsupported', message }]);
}

/**
 * Converts a transport failure to UpstreamFailed, and AddressRefused to InvalidInput. Returns errors other than
 * HttpFailure unchanged.
 */
export function transportFailure(deployment: Deployment, error: unknown): unknown {
  if (!(error instanceof HttpFailure)) return error;
  if (error instanceof AddressRefused) return addressRefused();
  return upstreamFailure(deployment, {
    status: null,
    errorClass: ERROR_CLASSES_OF_FAULTS[error.fault],
    message: error.message,
    cause: error,
    timedOut: error.fault === 'timeout',
  });
}

/** Error message in the forms `{message}` and `{detail}`. Null when there is none. */
function otherMessage(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as JsonObject;
  const found = fields['message'] ?? fields['detail'];
  if (found === undefined || found === null) return null;
  return typeof found === 'string' ? found : JSON.stringify(found);
}

/** The first characters of a body, JSON or not, without secrets. A secret is replaced before the text is cut. */
function quoteOf(deployment: Deployment, body: Uint8Array | null): string {
  const text = body === null ? '' : new TextDecoder().decode(body.subarray(0, READ_LIMIT)).trim();
  return text === '' ? 'The upstream gave no reason.' : withoutSecrets(deployment, text).slice(0, QUOTE_LIMIT);
}
