import type { Deployment } from '../../domain/chat/provider.ts';
import type { CredentialFinder } from '../../domain/credentials/credential.ts';
import { revealedParameters } from '../../domain/deployments/parameters.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import {
  CODING_AGENTS,
  type ForwardedProvider,
  type ProviderAccount,
  type ProviderAccounts,
} from '../../domain/pass-through/providers.ts';
import { Secret } from '../../domain/secret.ts';
import { awsBase, awsIdentity, type EnvironmentAccount } from '../settings/provider-accounts.ts';

interface AccountOptions extends Pick<ProviderAccounts, 'served' | 'costPerRequest'> {
  readonly stored: Pick<CredentialFinder, 'firstOf'>;
  /** Deployments in force. After a change of the deployments, another array is returned. */
  readonly deployments: () => readonly Deployment[];
}

/**
 * Finds the first deployment of a provider with `use_in_pass_through` and without a team. The result is cached until
 * the deployments change.
 */
function firstForwarding(deployments: () => readonly Deployment[]): (provider: string) => Deployment | null {
  let searched: readonly Deployment[] | null = null;
  let found = new Map<string, Deployment>();
  return (provider) => {
    const current = deployments();
    if (current !== searched) {
      searched = current;
      found = new Map(
        current
          .filter(({ forwards, teamId }) => forwards === true && teamId === undefined)
          // A map keeps the last entry of equal keys, which after the reversal is the first deployment of a provider.
          .toReversed()
          .map((one) => [one.provider, one]),
      );
    }
    return found.get(provider) ?? null;
  };
}

/**
 * Accounts from the first of these sources that has one: a deployment with `use_in_pass_through`, the environment, the
 * first stored credential of the provider. Without any, a provider that needs no key has an account without a key. The
 * base address of a stored credential is used with its own key or identity only.
 */
export function createProviderAccounts(
  environment: ReadonlyMap<string, EnvironmentAccount>,
  { stored, served, costPerRequest, deployments }: AccountOptions,
): ProviderAccounts {
  const forwarding = firstForwarding(deployments);

  function storedAccount(
    { aws, cloud, name }: ForwardedProvider,
    base: string | null,
    environmentAccount: EnvironmentAccount | undefined,
  ): ProviderAccount | null {
    const credential = stored.firstOf(name);
    if (credential === null) return null;
    const values = revealedParameters(credential);
    const { api_key: key, api_base: ownBase, vertex_credentials: google } = values;
    const identity = aws === undefined ? null : awsIdentity(aws.service, values, environmentAccount?.region ?? '');
    const regionBase = identity?.kind === 'aws' ? awsBase(aws?.host ?? '', identity.region) : null;
    const address = typeof ownBase === 'string' && ownBase !== '' ? ownBase : (regionBase ?? base);
    if (address === null || targetFault(address) !== null) return null;
    if (cloud === 'google') {
      if (google === undefined || google === '') return null;
      const text = typeof google === 'string' ? google : JSON.stringify(google);
      return { base: address, key: null, cloud: { kind: 'google', credentials: new Secret(text) } };
    }
    if (typeof key === 'string' && key !== '') {
      const issuer = environmentAccount?.issuer ?? null;
      const secret = new Secret(key);
      return issuer === null
        ? { base: address, key: secret }
        : { base: address, key: null, cloud: { ...issuer, key: secret } };
    }
    return identity === null ? null : { base: address, key: null, cloud: identity };
  }

  return {
    served,
    costPerRequest,
    of: (provider) => Promise.resolve(accountOf(provider)),
  };

  function accountOf(provider: ForwardedProvider): ProviderAccount | null {
    const environmentAccount = environment.get(provider.prefixes[0] ?? '');
    const { base: configured = null, key = null, cloud = null } = environmentAccount ?? {};
    const base = configured ?? provider.base;
    const deployment = forwarding(provider.name);
    // The address of coding agents comes from the environment, not from a deployment, as in the reference.
    const deploymentBase = (provider === CODING_AGENTS ? null : deployment?.apiBase) ?? base;
    if (deployment?.apiKey && deploymentBase !== null) return { base: deploymentBase, key: deployment.apiKey };
    if (key !== null && base !== null) return { base, key };
    if (cloud !== null && base !== null) return { base, key: null, cloud };
    const found = storedAccount(provider, base, environmentAccount);
    if (found !== null) return found;
    return provider.keyOptional === true && base !== null ? { base, key: null } : null;
  }
}
