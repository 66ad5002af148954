import { type Deployment, displayName } from '../domain/chat/provider.ts';
import { InvalidInput, UpstreamFailed } from '../domain/errors.ts';
import { AddressRefused, HttpFailure, type HttpFault } from '../domain/http.ts';
import type { AnswerError } from '../wire/dialect.ts';
import { parseJson } from '../wire/json/fields.ts';
import { withoutSecrets } from './secrets.ts';

/** The error classes clients know from the OpenAI SDK, by the status an upstream sent. */
const CLASSES: Readonly<Record<number, string>> = {
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

const classOf = (status: number | null): string => {
  if (status === null) return 'APIConnectionError';
  return CLASSES[status] ?? (status >= 500 ? 'InternalServerError' : 'APIError');
};

/** Most characters of a body that is not JSON which are shown to the caller. */
const SHOWN = 300;

/** Words a failure as clients of the reference know it: class, provider, and what the provider said. */
function failed(
  deployment: Deployment,
  about: {
    readonly status: number | null;
    readonly said: string;
    readonly kind?: string;
    readonly error?: AnswerError | null;
    readonly cause?: unknown;
    readonly timedOut?: boolean;
    readonly retryAfterSeconds?: number | null;
  },
): UpstreamFailed {
  const kind = about.kind ?? classOf(about.status);
  // Some upstreams quote the credential they refuse; it is ours, not the caller's.
  const said = withoutSecrets(deployment, about.said);
  return new UpstreamFailed(
    `litellm.${kind}: ${kind}: ${displayName(deployment.provider)}Exception - ${said}`,
    {
      provider: deployment.provider,
      upstreamStatus: about.status,
      upstreamType: about.error?.type ?? null,
      upstreamCode: about.error?.code ?? null,
      upstreamParam: about.error?.param ?? null,
      timedOut: about.timedOut ?? false,
      retryAfterSeconds: about.retryAfterSeconds ?? null,
    },
    about.cause === undefined ? {} : { cause: about.cause },
  );
}

/** An answer with a status that says no. `body` is null when it was too large to read. */
export function refusal(
  deployment: Deployment,
  { status, body, headers = {} }: Refused,
  errorOf: (value: unknown) => AnswerError | null,
): UpstreamFailed {
  const value = body === null ? undefined : parseJson(body);
  const error = errorOf(value);
  const said = error?.message ?? otherMessage(value) ?? plainText(body);
  return failed(deployment, { status, said, error, retryAfterSeconds: secondsOf(headers['retry-after']) });
}

interface Refused {
  readonly status: number;
  readonly body: Uint8Array | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a header says in seconds; one that names a date is as good as none. */
const secondsOf = (said: string | undefined): number | null =>
  said !== undefined && /^\d{1,6}(\.\d+)?$/.test(said) ? Number(said) : null;

/** An error inside an answer or stream whose status said yes. Its code is its status where it is one. */
export function errorInside(deployment: Deployment, error: AnswerError): UpstreamFailed {
  const code = Number(error.code);
  const status = Number.isInteger(code) && code >= 400 && code <= 599 ? code : 500;
  return failed(deployment, { status, said: error.message, error });
}

/** An answer that breaks the rules of its format. */
export function garbled(deployment: Deployment, fault: string): UpstreamFailed {
  return failed(deployment, {
    status: null,
    kind: 'APIError',
    said: `The upstream's answer cannot be used: ${fault}.`,
  });
}

/** A session that ended before its caller wanted it to, or never began. */
export function brokeOff(deployment: Deployment, said: string): UpstreamFailed {
  return failed(deployment, { status: null, said });
}

const KINDS: Readonly<Record<HttpFault, string>> = {
  unreachable: 'APIConnectionError',
  timeout: 'Timeout',
  cut: 'APIConnectionError',
  garbled: 'APIError',
  misused: 'APIConnectionError',
};

/** One text for every refusal of an address: it must not say what is at the address, or that a name is known here. */
function addressRefused(): InvalidInput {
  const message = "The parameter 'api_base' cannot be honoured: the gateway does not call this address.";
  return new InvalidInput(message, [{ path: ['body', 'api_base'], rule: 'unsupported', message }]);
}

/** No answer, or one that broke off. Anything but a transport failure comes back as it is. */
export function transportFailure(deployment: Deployment, error: unknown): unknown {
  if (!(error instanceof HttpFailure)) return error;
  if (error instanceof AddressRefused) return addressRefused();
  return failed(deployment, {
    status: null,
    kind: KINDS[error.fault],
    said: error.message,
    cause: error,
    timedOut: error.fault === 'timeout',
  });
}

/** Forms of refusal outside the OpenAI envelope: `{message}`, `{detail}`. */
function otherMessage(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const said = fields['message'] ?? fields['detail'];
  if (said === undefined || said === null) return null;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

function plainText(body: Uint8Array | null): string {
  const text = body === null ? '' : new TextDecoder().decode(body.subarray(0, SHOWN * 4)).trim();
  return text === '' ? 'The upstream gave no reason.' : text.slice(0, SHOWN);
}
