import { targetFault } from '../../domain/pass-through/endpoint.ts';
import type {
  CredentialSource,
  ForwardedProvider,
  ProviderAccount,
  ProviderAccounts,
} from '../../domain/pass-through/providers.ts';
import type { EnvironmentAccount } from '../settings/provider-accounts.ts';

/** No credential is stored. */
export const NO_CREDENTIALS: CredentialSource = { firstOf: async () => null };

/**
 * Accounts of the environment, else of the first stored credential of the provider. The base address of a stored
 * credential is used with its own key only.
 */
export function createProviderAccounts(
  environment: ReadonlyMap<string, EnvironmentAccount>,
  stored: CredentialSource,
): ProviderAccounts {
  async function ofStored(provider: ForwardedProvider, base: string | null): Promise<ProviderAccount | null> {
    const { api_key: key, api_base: own } = (await stored.firstOf(provider.name))?.values ?? {};
    const address = own?.reveal() ?? base;
    if (key === undefined || address === null || targetFault(address) !== null) return null;
    return { base: address, key };
  }

  return {
    async of(provider) {
      const { base: configured = null, key = null } = environment.get(provider.name) ?? {};
      const base = configured ?? provider.base;
      if (key !== null && base !== null) return { base, key };
      const found = await ofStored(provider, base);
      if (found !== null) return found;
      return provider.keyOptional === true && base !== null ? { base, key: null } : null;
    },
  };
}
