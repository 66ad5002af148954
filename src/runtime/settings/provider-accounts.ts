import { CODING_AGENTS, FORWARDED_PROVIDERS } from '../../domain/pass-through/providers.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigFault } from './config-fault.ts';

/** What the environment says of a provider. */
export interface EnvironmentAccount {
  readonly base: string | null;
  readonly key: Secret | null;
}

/** Base addresses and keys of the providers with a prefix, by their names. */
export function readProviderAccounts(
  env: NodeJS.ProcessEnv,
  fault: (fault: ConfigFault) => void,
): ReadonlyMap<string, EnvironmentAccount> {
  const accounts = [CODING_AGENTS, ...FORWARDED_PROVIDERS].map(
    ({ name, baseVariables, keyVariables }): [string, EnvironmentAccount] => {
      const base = baseVariables.find((variable) => env[variable]);
      const key = keyVariables.map((variable) => env[variable]).find((value) => value);
      const address = base === undefined ? null : (env[base] ?? null);
      const wrong = address === null ? null : targetFault(address);
      if (wrong !== null && base !== undefined) fault({ source: 'environment', line: null, key: base, message: wrong });
      return [name, { base: address, key: key === undefined ? null : new Secret(key) }];
    },
  );
  return new Map(accounts);
}
