import type { CredentialFinder } from '../../domain/credentials/credential.ts';
import { revealedParameters } from '../../domain/deployments/parameters.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import type { ForwardedProvider, ProviderAccount, ProviderAccounts } from '../../domain/pass-through/providers.ts';
import { Secret } from '../../domain/secret.ts';
import type { EnvironmentAccount } from '../settings/provider-accounts.ts';

/**
 * Accounts of the environment, else of the first stored credential of the provider. The base address of a stored
 * credential is used with its own key only.
 */
export function createProviderAccounts(
  environment: ReadonlyMap<string, EnvironmentAccount>,
  { stored, served }: { readonly stored: Pick<CredentialFinder, 'firstOf'>; readonly served: boolean },
): ProviderAccounts {
  function ofStored(provider: ForwardedProvider, base: string | null): ProviderAccount | null {
    const credential = stored.firstOf(provider.name);
    if (credential === null) return null;
    const { api_key: key, api_base: own } = revealedParameters(credential);
    const address = typeof own === 'string' && own !== '' ? own : base;
    if (typeof key !== 'string' || key === '' || address === null || targetFault(address) !== null) return null;
    return { base: address, key: new Secret(key) };
  }

  return {
    served,
    of: (provider) => Promise.resolve(accountOf(provider)),
  };

  function accountOf(provider: ForwardedProvider): ProviderAccount | null {
    const { base: configured = null, key = null, cloud = null } = environment.get(provider.name) ?? {};
    const base = configured ?? provider.base;
    if (key !== null && base !== null) return { base, key };
    if (cloud !== null && base !== null) return { base, key: null, cloud };
    // A stored key does not sign calls.
    if (provider.cloud === 'google') return null;
    const found = ofStored(provider, base);
    if (found !== null) return found;
    return provider.keyOptional === true && base !== null ? { base, key: null } : null;
  }
}
