import type { IncomingHttpHeaders } from 'node:http';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import { frozenMemo } from '../../../src/domain/frozen-memo.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { sessionKey } from './session-cookie.ts';

/** Gateway headers: those that may contain a key, in order of precedence. All have precedence over `Authorization`. */
const KEY_HEADERS = [
  'x-gateway-api-key',
  'x-litellm-api-key',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
] as const;

/** Authorization schemes. After `Basic` comes the key itself, not base64, as in the reference. */
const SCHEME = /^(bearer|basic)\s+/i;

const firstValue = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** The key in a gateway header; null when there is none. */
function headerKey(headers: IncomingHttpHeaders): string | null {
  for (const name of KEY_HEADERS) {
    const value = firstValue(headers[name]);
    if (value !== undefined && value !== '') return value.replace(SCHEME, '').trim();
  }
  return null;
}

/**
 * The key of a request; null when it has none. A gateway header has precedence over `Authorization`, which then belongs
 * to the upstream. Without both, the session cookie of a browser is used. Throws Unauthenticated for an `Authorization`
 * with a scheme other than Bearer or Basic.
 */
export const readCredential: (headers: IncomingHttpHeaders) => string | null = frozenMemo((headers) => {
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
});

/** The credential of a request, unchecked, for the free tier; null when there is none. Ignores the session cookie. */
export function offeredCredential(headers: IncomingHttpHeaders): Secret | null {
  const key = headerKey(headers) ?? headers.authorization?.replace(SCHEME, '').trim() ?? '';
  return key === '' ? null : new Secret(key);
}

/**
 * As `readCredential`, but throws Unauthenticated without a key. `inQuery` is the key of the query, used when no header
 * has one.
 */
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

/** Copies headers with `key` as the Bearer token, and without the other key headers. `key` may have a scheme. */
export function withKey(headers: IncomingHttpHeaders, key: string): IncomingHttpHeaders {
  const rest = Object.entries(headers).filter(([name]) => !KEY_HEADERS.some((header) => header === name));
  return { ...Object.fromEntries(rest), authorization: `Bearer ${key.replace(SCHEME, '').trim()}` };
}
