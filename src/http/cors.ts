import type { IncomingHttpHeaders } from 'node:http';
import type { Middleware } from 'koa';
import { PREFLIGHT } from '../../rest-shims/errors.ts';

const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** How long a browser may reuse a preflight answer, in seconds; the default of the reference. */
const MAX_AGE = '600';
/**
 * Where a request has credentials, browsers read `*` as a header name. So the names that clients need are listed, too.
 */
const EXPOSED = '*, x-request-id, x-litellm-call-id, x-catalog-snapshot, retry-after, mcp-session-id, www-authenticate';
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]*$/;

/**
 * Cross-origin resource sharing (Fetch Standard, "CORS protocol") for browsers of the given origins; `*` allows every
 * origin, without credentials. Answers preflight requests of every path itself, before routing and without reading a
 * store. Requests of other origins are served without CORS headers, so that browsers hide the answer.
 */
export function cors(origins: readonly string[]): Middleware {
  const allowed = new Set(origins);
  const everyOrigin = allowed.has('*');

  function originHeaders(origin: string): Record<string, string> | null {
    if (everyOrigin) return { 'access-control-allow-origin': '*' };
    if (!allowed.has(origin)) return null;
    return { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' };
  }

  return (context, next) => {
    const { origin } = context.headers;
    const headers = origin === undefined ? null : originHeaders(origin);
    if (headers !== null) context.set(headers);
    if (origin === undefined || !isPreflight(context.method, context.headers)) {
      // A POST without an origin is answered as on the fast path. Caches do not store the answer.
      const isPlainPost = origin === undefined && context.method === 'POST';
      if (!everyOrigin && !isPlainPost) context.vary('Origin');
      if (headers !== null) context.set('access-control-expose-headers', EXPOSED);
      return next();
    }
    context.set('vary', PREFLIGHT_VARY);
    const { status, body } = headers === null ? PREFLIGHT.refused : PREFLIGHT.allowed;
    if (headers !== null) context.set(preflightHeaders(context.headers));
    context.status = status;
    context.set('content-type', 'text/plain; charset=utf-8');
    context.body = body;
    return undefined;
  };
}

const isPreflight = (method: string, headers: IncomingHttpHeaders): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** Allows every header that the browser requests: no header of this API is harmful from an allowed origin. */
function preflightHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const requested = headers['access-control-request-headers'] ?? '';
  return {
    'access-control-allow-methods': METHODS,
    'access-control-max-age': MAX_AGE,
    ...(requested !== '' && HEADER_NAMES.test(requested) ? { 'access-control-allow-headers': requested } : {}),
  };
}
