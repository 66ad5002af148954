import { callUnconfigured } from '../../../resolvers/forwarded-providers.ts';
import { FORWARDED_PROVIDERS, type ForwardedProvider } from '../../../src/domain/pass-through/providers.ts';
import type { RouteRow } from '../http/route.ts';
import { relayedAnswer, sentRequest } from './pass-through.ts';

/** Splits a path into its first segment and the rest, still percent-encoded. */
export function pathParts(path: string): { readonly prefix: string; readonly subpath: string } {
  const slash = path.indexOf('/', 1);
  if (slash === -1) return { prefix: path.slice(1), subpath: '' };
  return { prefix: path.slice(1, slash), subpath: path.slice(slash + 1) };
}

const PROVIDERS: ReadonlyMap<string, ForwardedProvider> = new Map(
  FORWARDED_PROVIDERS.flatMap((provider) => provider.prefixes.map((prefix) => [prefix, provider])),
);

/** The provider with a path prefix; undefined for other prefixes. */
export const providerAt = (prefix: string): ForwardedProvider | undefined => PROVIDERS.get(prefix);

/**
 * Wraps the handler of a row that also has a path below a provider's prefix. On that path, a request is forwarded to
 * the provider if its model is not configured and the gateway has a credential of the provider.
 */
export const orForwarded =
  (handle: RouteRow['handle']): RouteRow['handle'] =>
  async (request, scope) => {
    const { prefix, subpath } = pathParts(request.path);
    const provider = providerAt(prefix);
    if (provider === undefined) return handle(request, scope);
    const call = await callUnconfigured(scope, { provider, subpath, sent: sentRequest(request) });
    return call === null ? handle(request, scope) : relayedAnswer(call, scope);
  };
