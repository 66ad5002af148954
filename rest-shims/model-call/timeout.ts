import { InvalidInput } from '../../src/domain/errors.ts';
import { mistyped, type RequestBody } from '../../src/domain/inference/askable.ts';
import type { Endpoint } from '../../src/domain/inference/endpoint.ts';
import type { HttpRequest } from '../http/route.ts';

/** A day: longer than anybody waits, and as long as a timer can be set with ease. */
const MOST_SECONDS = 86_400;
const WANTED = `a number of seconds, at most ${MOST_SECONDS}`;

const isTime = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && seconds > 0 && seconds <= MOST_SECONDS;

function inHeader({ headers }: Pick<HttpRequest, 'headers'>, name: string, { path }: Endpoint): number | null {
  const said = headers[name];
  if (said === undefined || said === '') return null;
  const seconds = typeof said === 'string' ? Number(said) : Number.NaN;
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
 * How long a caller gives the upstream to begin its answer, instead of what the deployment says; a header beats the body,
 * and what is said of streams what is said of all. Throws InvalidInput.
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
