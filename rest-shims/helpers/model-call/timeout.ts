import { InvalidInput } from '../../../src/domain/errors.ts';
import { mistyped, type RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import type { HttpRequest } from '../http/route.ts';

/** Longest timeout: one day. */
const MOST_SECONDS = 86_400;
const WANTED = `a number of seconds, at most ${MOST_SECONDS}`;

const isTime = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && seconds > 0 && seconds <= MOST_SECONDS;

function inHeader({ headers }: Pick<HttpRequest, 'headers'>, name: string, { path }: Endpoint): number | null {
  const input = headers[name];
  if (input === undefined || input === '') return null;
  const seconds = typeof input === 'string' ? Number(input) : Number.NaN;
  if (isTime(seconds)) return seconds;
  const message = `${path}: Invalid value for header '${name}': it must be ${WANTED}.`;
  throw new InvalidInput(message, [{ path: ['header', name], rule: 'value', message }]);
}

function inBody(body: RequestBody, member: string, endpoint: Endpoint): number | null {
  const seconds = body[member] ?? null;
  if (seconds === null || isTime(seconds)) return seconds;
  throw mistyped(member, WANTED, endpoint);
}

/**
 * Timeout of a request until the upstream's answer begins. It replaces that of the deployment. Headers precede the body, and
 * timeouts for streams precede general ones. Throws InvalidInput.
 */
export function timeoutOf(
  request: Pick<HttpRequest, 'headers'>,
  { endpoint, stream, body }: { readonly endpoint: Endpoint; readonly stream: boolean; readonly body: RequestBody },
): { readonly timeoutSeconds?: number } {
  const seconds =
    (stream ? inHeader(request, 'x-litellm-stream-timeout', endpoint) : null) ??
    inHeader(request, 'x-litellm-timeout', endpoint) ??
    (stream ? inBody(body, 'stream_timeout', endpoint) : null) ??
    inBody(body, 'timeout', endpoint);
  return seconds === null ? {} : { timeoutSeconds: seconds };
}
