import { callUnconfigured } from '../../../resolvers/forwarded-providers.ts';
import { UnknownModel } from '../../../src/domain/errors.ts';
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
 * the provider if its model is not configured and the gateway has a credential of the provider. Without a credential,
 * the error for an unknown model says how to configure one.
 */
export const orForwarded =
  (handle: RouteRow['handle']): RouteRow['handle'] =>
  async (request, scope) => {
    const { prefix, subpath } = pathParts(request.path);
    const provider = providerAt(prefix);
    if (provider === undefined) return handle(request, scope);
    const result = await callUnconfigured(scope, { provider, subpath, sent: sentRequest(request) });
    if (result.kind === 'forwarded') return relayedAnswer(result.call, scope);
    try {
      return await handle(request, scope);
    } catch (error) {
      if (result.reason === null || !(error instanceof UnknownModel)) throw error;
      throw new UnknownModel(error.id, `${error.message} ${result.reason}`, error.as);
    }
  };
