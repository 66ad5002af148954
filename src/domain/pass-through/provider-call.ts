import { InvalidInput } from '../errors.ts';
import { Secret } from '../secret.ts';
import { addressBelow, forwardedQueryOf } from './address.ts';
import { requestHeaders } from './headers.ts';
import { type ForwardedProvider, keyHeader, locatedBase, type ProviderAccount, targetBaseFor } from './providers.ts';
import type { SentRequest } from './sent-request.ts';

/** A request for a provider's own API. */
export interface ProviderCall {
  readonly provider: ForwardedProvider;
  /** The path below the provider's prefix, as it was sent. */
  readonly subpath: string;
  readonly sent: SentRequest;
}

type Headers = ReturnType<typeof requestHeaders>;

/** Query parameter in which a client may send its gateway key. It is not forwarded. */
const KEY_PARAMETER = 'key';

/** Format of the name of an operation, for a service of Amazon that has no path per operation. */
const OPERATION = /^[A-Za-z][A-Za-z0-9]{0,63}$/;
const AMZ_JSON = 'application/x-amz-json-1.1';

/**
 * The operation of an Amazon service that a call names, in its path or in `X-Amz-Target`. Null for providers that are
 * called by path. Throws InvalidInput for a call that names no operation.
 */
export function amazonOperation({ provider, subpath, sent }: ProviderCall): string | null {
  const prefix = provider.aws?.target;
  if (prefix === undefined) return null;
  const header = [sent.headers['x-amz-target']].flat()[0] ?? '';
  const name = subpath === '' && header.startsWith(`${prefix}.`) ? header.slice(prefix.length + 1) : subpath;
  if (sent.method === 'POST' && OPERATION.test(name)) return name;
  const message = `${provider.name} takes POST requests for an operation: in the path, as /${provider.name}/<Operation>, or in the header X-Amz-Target.`;
  throw new InvalidInput(message, [{ path: ['path'], rule: 'operation', message }]);
}

/**
 * The address, headers and credential of a call. Throws InvalidInput for a path outside of the base address, and what
 * `amazonOperation` throws.
 */
export function targetOf(call: ProviderCall, { base, key, cloud }: ProviderAccount) {
  const { provider, sent } = call;
  const operation = amazonOperation(call);
  const subpath = operation === null ? call.subpath : '';
  const address = targetBaseFor(locatedBase(base, subpath), subpath);
  const url = addressBelow(address, subpath);
  url.search = forwardedQueryOf(sent.search, { target: url.search, defaults: {}, without: [KEY_PARAMETER] });
  const common = requestHeaders(sent.headers, false);
  const header = key === null ? null : keyHeader(provider.keyForm, key.reveal());
  return {
    url: url.href,
    headers:
      operation === null
        ? withProviderHeaders(provider, sent, common)
        : { ...common, ...amazonHeaders(provider, operation) },
    credentials: header === null ? {} : { [header[0]]: new Secret(header[1]) },
    ...(cloud === undefined ? {} : { cloud }),
  };
}

const amazonHeaders = ({ aws }: ForwardedProvider, operation: string) => ({
  'content-type': AMZ_JSON,
  'x-amz-target': `${aws?.target ?? ''}.${operation}`,
});

/** Adds the sent headers whose names start with a prefix of the provider. Common headers take precedence. */
function withProviderHeaders({ headers: prefixes }: ForwardedProvider, sent: SentRequest, common: Headers): Headers {
  if (prefixes === undefined) return common;
  const wanted = Object.entries(sent.headers).filter(([name]) => prefixes.some((prefix) => name.startsWith(prefix)));
  return wanted.length === 0 ? common : { ...requestHeaders(Object.fromEntries(wanted), true), ...common };
}
