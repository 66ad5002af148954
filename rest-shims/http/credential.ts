import type { IncomingHttpHeaders } from 'node:http';
import { Unauthenticated } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';

/** Header names that may carry a key beside `Authorization`, in order of precedence. */
const KEY_HEADERS = ['x-gateway-api-key', 'x-litellm-api-key', 'api-key', 'x-api-key', 'x-goog-api-key'] as const;

const BEARER = /^bearer\s+/i;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The key a request carries under a name that only we read. */
function headerKey(headers: IncomingHttpHeaders): string | null {
  for (const name of KEY_HEADERS) {
    const value = single(headers[name]);
    if (value !== undefined && value !== '') return value.replace(BEARER, '').trim();
  }
  return null;
}

/**
 * The key a request carries, or null when it carries none. A gateway header wins over `Authorization`,
 * which then belongs to the upstream. Throws Unauthenticated for a credential in a form we do not take.
 */
export function readCredential(headers: IncomingHttpHeaders): string | null {
  const key = headerKey(headers);
  if (key !== null) return key;
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') return null;
  if (!BEARER.test(authorization)) {
    throw new Unauthenticated(
      'Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.',
      'malformed',
    );
  }
  return authorization.replace(BEARER, '').trim();
}

/** As `readCredential`, for paths that demand no key: what has no form of a key is given as it came. */
export function offeredCredential(headers: IncomingHttpHeaders): Secret | null {
  const key = headerKey(headers) ?? headers.authorization?.replace(BEARER, '').trim() ?? '';
  return key === '' ? null : new Secret(key);
}

/** As `readCredential`, for routes that demand one. `inQuery` is what the query offers where no header does. */
export function requireCredential(headers: IncomingHttpHeaders, inQuery: string | null = null): string {
  const key = readCredential(headers) ?? inQuery;
  if (key === null || key === '') {
    throw new Unauthenticated(
      'No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
      'missing',
    );
  }
  return key;
}
