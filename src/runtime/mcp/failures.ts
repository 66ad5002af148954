import { DomainError, UpstreamFailed } from '../../domain/errors.ts';
import { HttpFailure } from '../../domain/http.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { withoutSecretTexts } from '../../domain/secret-texts.ts';

const PROVIDER = 'mcp';
/** Maximum characters of a server's own message in an error. */
const MESSAGE_CHARACTERS = 2_000;
/** Headers of a refusal that callers receive. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set(['www-authenticate', 'retry-after']);

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null when it is too large. */
  readonly body: Uint8Array | null;
  /** Texts of the credentials of the request, which some servers repeat. None when absent. */
  readonly secrets?: readonly string[];
}

/** Error for a message that a server refused with an HTTP status. */
export function statusFailure(server: string, { status, headers, body, secrets = [] }: Refusal): UpstreamFailed {
  const shown = Object.entries(headers).filter(([name]) => SHOWN_HEADERS.has(name));
  const retryAfter = Number(headers['retry-after']);
  const message = statusMessage(server, status, body === null ? null : messageIn(body, secrets));
  return new UpstreamFailed(message, {
    provider: PROVIDER,
    upstreamStatus: status,
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
    upstreamHeaders: Object.fromEntries(shown.map(([name, value]) => [name, withoutSecretTexts(value, secrets)])),
  });
}

function statusMessage(server: string, status: number, reason: string | null): string {
  if (status === 401) return 'upstream authentication required (HTTP 401)';
  return `The MCP server ${server} refused the request (HTTP ${status})${reason === null ? '' : `: ${reason}`}`;
}

/** The message of a JSON-RPC error, without secrets; null for any other text. */
function messageIn(body: Uint8Array, secrets: readonly string[]): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const error = isJsonObject(value) ? value['error'] : null;
    const message = isJsonObject(error) ? error['message'] : null;
    return typeof message === 'string'
      ? withoutSecretTexts(message.slice(0, 2 * MESSAGE_CHARACTERS), secrets).slice(0, MESSAGE_CHARACTERS)
      : null;
  } catch {
    return null;
  }
}

const unreachable = (server: string, cause: unknown): UpstreamFailed =>
  new UpstreamFailed(
    `The MCP server ${server} cannot be reached.`,
    { provider: PROVIDER, upstreamStatus: null },
    { cause },
  );

const unusable = (server: string, code: string, cause: unknown): UpstreamFailed =>
  new UpstreamFailed(
    `The MCP server ${server} gave an unusable answer.`,
    { provider: PROVIDER, upstreamStatus: null, upstreamCode: code },
    { cause },
  );

/** Code of the error that the gateway puts at the end of a stream without a response. Servers may use it, too. */
export const CUT_STREAM = -32_099;

/** Error codes of Node for a program that cannot be started. */
const START_FAILURES: ReadonlySet<unknown> = new Set(['ENOENT', 'EACCES', 'ENOTDIR', 'E2BIG', 'EAGAIN']);
/** Error codes of the protocol library for a connection that has ended. */
const CONNECTION_ENDS: ReadonlySet<unknown> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED']);

/**
 * An error of a request to a server as a DomainError. An error without `upstreamStatus` and `upstreamCode` means that
 * the server did not answer. `secrets` are texts of credentials, which are replaced in the server's own message.
 */
export function upstreamFailure(server: string, error: unknown, secrets: readonly string[] = []): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof HttpFailure) {
    if (error.fault === 'timeout') return timeoutFailure(server, error);
    return error.fault === 'garbled' ? unusable(server, 'garbled', error) : unreachable(server, error);
  }
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
  if (START_FAILURES.has(code) || CONNECTION_ENDS.has(code)) return unreachable(server, error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof HttpFailure || cause instanceof DomainError) return upstreamFailure(server, cause, secrets);
  // The transport for HTTP with SSE reports the HTTP status as the code.
  if (typeof code === 'number' && code >= 400 && code <= 599)
    return statusFailure(server, { status: code, headers: {}, body: null });
  // The same transport without an answer: its error has the event of the stream.
  if (error instanceof Error && code === undefined && 'event' in error) return unreachable(server, error);
  if (code === CUT_STREAM && error instanceof Error)
    return new UpstreamFailed(error.message, { provider: PROVIDER, upstreamStatus: null }, { cause: error });
  // An error in the format of JSON-RPC, with the server's own message.
  if (typeof code === 'number' && error instanceof Error)
    return new UpstreamFailed(
      withoutSecretTexts(error.message.slice(0, 2 * MESSAGE_CHARACTERS), secrets).slice(0, MESSAGE_CHARACTERS),
      { provider: PROVIDER, upstreamStatus: null, upstreamCode: String(code) },
      { cause: error },
    );
  return unusable(server, typeof code === 'string' ? code : 'invalid', error);
}

/** Error for a server that did not answer within a deadline. */
export const timeoutFailure = (server: string, cause: unknown): UpstreamFailed =>
  new UpstreamFailed(
    `The MCP server ${server} did not answer in time.`,
    { provider: PROVIDER, upstreamStatus: null, timedOut: true },
    { cause },
  );
