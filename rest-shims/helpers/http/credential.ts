import type { IncomingHttpHeaders } from 'node:http';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import { frozenMemo } from '../../../src/domain/frozen-memo.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { sessionKey } from './session-cookie.ts';

/** Gateway headers: headers that may contain a key, in order of precedence. `Authorization` comes after all of them. */
const KEY_HEADERS = [
  'x-gateway-api-key',
  'x-litellm-api-key',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
] as const;

/** Authorization schemes. As in the reference, the key after `Basic` is not in base64. */
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

/** Whether a gateway header has a key. */
export const hasGatewayHeader = (headers: IncomingHttpHeaders): boolean => headerKey(headers) !== null;

/**
 * The key of a request; null when it has none. If a gateway header has the key, `Authorization` is for the upstream.
 * Without either, the session cookie of a browser is used. Throws Unauthenticated for an `Authorization` that does not
 * begin with the scheme Bearer or Basic.
 */
export const readCredential: (headers: IncomingHttpHeaders) => string | null = frozenMemo((headers) => {
  const key = headerKey(headers);
  if (key !== null) return key;
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') return sessionKey(headers);
  const input = authorization.replace(SCHEME, '');
  const hasKnownScheme = input.length < authorization.length;
  if (!hasKnownScheme) {
    throw new Unauthenticated(
      'Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.',
      'malformed',
    );
  }
  return input.trim();
});

/**
 * The key of a request, for the free tier; null when there is none. Neither the scheme nor the key is checked. Ignores
 * the session cookie.
 */
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

/**
 * Headers for an upstream: without the headers that may have a key of the gateway, cookies, and other headers with the
 * value of the key. `Authorization` is not among them.
 */
export function withoutKeys(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const key = headerKey(headers) ?? headers.authorization?.replace(SCHEME, '').trim() ?? null;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : value;
    if (text === undefined || OWN_HEADERS.has(name)) continue;
    if (key !== null && text.replace(SCHEME, '').trim() === key) continue;
    kept[name] = text;
  }
  return kept;
}

/** Headers that are never meant for an upstream. */
const OWN_HEADERS: ReadonlySet<string> = new Set([...KEY_HEADERS, 'authorization', 'cookie']);

/**
 * Value of `Authorization` that is meant for an upstream: a gateway header has the key, and another one. Null when
 * `Authorization` has the key, or is absent.
 */
export function upstreamAuthorization(headers: IncomingHttpHeaders): string | null {
  const key = headerKey(headers);
  const { authorization } = headers;
  if (key === null || authorization === undefined || authorization === '') return null;
  return authorization.replace(SCHEME, '').trim() === key ? null : authorization;
}

/** Copies headers with `key` as the Bearer token, and without the other key headers. `key` may have a scheme. */
export function withKey(headers: IncomingHttpHeaders, key: string): IncomingHttpHeaders {
  const rest = Object.entries(headers).filter(([name]) => !KEY_HEADERS.some((header) => header === name));
  return { ...Object.fromEntries(rest), authorization: `Bearer ${key.replace(SCHEME, '').trim()}` };
}
