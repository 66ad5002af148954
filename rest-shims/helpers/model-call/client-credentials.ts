import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { invalidType } from '../../../src/domain/inference/request-validation.ts';
import { Secret } from '../../../src/domain/secret.ts';

/** Key and base URL for the upstream, as the caller sends them (`api_key`, `api_base`). Throws InvalidInput. */
export function credentialsOf({
  endpoint,
  body,
}: Pick<ModelRequest, 'endpoint' | 'body'>): Pick<ModelRequest, 'credentials'> {
  const key = body['api_key'] ?? null;
  const base = body['api_base'] ?? null;
  if (key === null && base === null) return {};
  if (key !== null && (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)))
    throw invalidType('api_key', 'a string of printable ASCII characters without spaces', endpoint);
  if (base !== null && !isHttpAddress(base)) throw invalidType('api_base', 'an http:// or https:// address', endpoint);
  return {
    credentials: {
      apiKey: key === null ? null : new Secret(key),
      apiBase: base === null ? null : base.replace(/\/+$/, ''),
    },
  };
}

const isHttpAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
