import { InvalidInput } from '../../../src/domain/errors.ts';
import { invalidType, type RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';
import type { HttpRequest } from '../http/route.ts';

/** Maximum timeout: one day, in seconds. */
const MAX_SECONDS = 86_400;
const EXPECTED = `a number of seconds, at most ${MAX_SECONDS}`;

const isTimeout = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS;

function secondsInHeader({ headers }: Pick<HttpRequest, 'headers'>, name: string, { path }: Endpoint): number | null {
  const input = headers[name];
  if (input === undefined || input === '') return null;
  const seconds = typeof input === 'string' ? Number(input) : Number.NaN;
  if (isTimeout(seconds)) return seconds;
  const message = `${path}: Invalid value for header '${name}': it must be ${EXPECTED}.`;
  throw new InvalidInput(message, [{ path: ['header', name], rule: 'value', message }]);
}

function secondsInBody(body: RequestBody, member: string, endpoint: Endpoint): number | null {
  const seconds = body[member] ?? null;
  if (seconds === null || isTimeout(seconds)) return seconds;
  throw invalidType(member, EXPECTED, endpoint);
}

/**
 * Timeout in seconds until the upstream's answer begins. It replaces that of the deployment. Headers have precedence
 * over the body. In each, the timeout for streams has precedence over the general one. Throws InvalidInput.
 */
export function timeoutOf(
  request: Pick<HttpRequest, 'headers'>,
  { endpoint, stream, body }: { readonly endpoint: Endpoint; readonly stream: boolean; readonly body: RequestBody },
): { readonly timeoutSeconds?: number } {
  const seconds =
    (stream ? secondsInHeader(request, 'x-litellm-stream-timeout', endpoint) : null) ??
    secondsInHeader(request, 'x-litellm-timeout', endpoint) ??
    (stream ? secondsInBody(body, 'stream_timeout', endpoint) : null) ??
    secondsInBody(body, 'timeout', endpoint);
  return seconds === null ? {} : { timeoutSeconds: seconds };
}
