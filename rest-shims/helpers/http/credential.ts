import type { IncomingHttpHeaders } from 'node:http';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { sessionKey } from './session-cookie.ts';

/** Header names that may carry a key beside `Authorization`, in order of precedence. */
const KEY_HEADERS = [
  'x-gateway-api-key',
  'x-litellm-api-key',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
] as const;

/** Schemes before a key. `Basic` is followed by the key itself, as in the reference. */
const SCHEME = /^(bearer|basic)\s+/i;

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The key in a header of the gateway; null when there is none. */
function headerKey(headers: IncomingHttpHeaders): string | null {
  for (const name of KEY_HEADERS) {
    const value = single(headers[name]);
    if (value !== undefined && value !== '') return value.replace(SCHEME, '').trim();
  }
  return null;
}

/**
 * The key of a request; null when it has none. A gateway header has precedence over `Authorization`, which then belongs
 * to the upstream. Without both the session of a browser counts. Throws Unauthenticated for an `Authorization` without the Bearer scheme.
 */
export function readCredential(headers: IncomingHttpHeaders): string | null {
  const key = headerKey(headers);
  if (key !== null) return key;
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') return sessionKey(headers);
  const input = authorization.replace(SCHEME, '');
  if (input.length === authorization.length) {
    throw new Unauthenticated(
      'Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.',
      'malformed',
    );
  }
  return input.trim();
}

/** The key or other credential of a request to a path that requires none, as it was sent; null when there is none. */
export function offeredCredential(headers: IncomingHttpHeaders): Secret | null {
  const key = headerKey(headers) ?? headers.authorization?.replace(SCHEME, '').trim() ?? '';
  return key === '' ? null : new Secret(key);
}

/** As `readCredential`, for routes that require a key. `inQuery` is used where no header has one. */
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

/** Headers with the given key, with or without its scheme, in place of their own keys. */
export function withKey(headers: IncomingHttpHeaders, key: string): IncomingHttpHeaders {
  const rest = Object.entries(headers).filter(([name]) => !KEY_HEADERS.some((header) => header === name));
  return { ...Object.fromEntries(rest), authorization: `Bearer ${key.replace(SCHEME, '').trim()}` };
}
