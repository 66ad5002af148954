import type { CloudIdentity } from '../../domain/pass-through/forwarded.ts';
import { CODING_AGENTS, FORWARDED_PROVIDERS, type ForwardedProvider } from '../../domain/pass-through/providers.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigFault } from './config-fault.ts';

/** What the environment says of a provider. */
export interface EnvironmentAccount {
  readonly base: string | null;
  readonly key: Secret | null;
  /** Identity that calls without a key are signed with; null where there is none. */
  readonly cloud: CloudIdentity | null;
}

const DEFAULT_REGION = 'us-west-2';
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;

/** Region of the environment; the default for a text that is none. */
function regionOf(env: NodeJS.ProcessEnv): string {
  const region = env['AWS_REGION_NAME'] ?? env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? '';
  return REGION.test(region) ? region : DEFAULT_REGION;
}

const bedrockBase = (region: string): string =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** Identity of the environment at the cloud of a provider. */
function cloudOf({ cloud }: ForwardedProvider, key: string | undefined, env: NodeJS.ProcessEnv): CloudIdentity | null {
  if (cloud === 'google') return key === undefined ? null : { kind: 'google', credentials: new Secret(key) };
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = env;
  if (cloud !== 'aws' || !accessKeyId || !secret) return null;
  const keys = {
    accessKeyId,
    secretAccessKey: new Secret(secret),
    sessionToken: session ? new Secret(session) : null,
  };
  return { kind: 'aws', region: regionOf(env), keys };
}

/** Base addresses and keys of the providers with a prefix, by their names. */
export function readProviderAccounts(
  env: NodeJS.ProcessEnv,
  fault: (fault: ConfigFault) => void,
): ReadonlyMap<string, EnvironmentAccount> {
  const accounts = [CODING_AGENTS, ...FORWARDED_PROVIDERS].map((provider): [string, EnvironmentAccount] => {
    const { name, baseVariables, keyVariables } = provider;
    const base = baseVariables.find((variable) => env[variable]);
    const key = keyVariables.map((variable) => env[variable]).find((value) => value);
    const address = base === undefined ? null : (env[base] ?? null);
    const wrong = address === null ? null : targetFault(address);
    if (wrong !== null && base !== undefined) fault({ source: 'environment', line: null, key: base, message: wrong });
    const own = provider.cloud === 'aws' ? (address ?? bedrockBase(regionOf(env))) : address;
    const isIdentity = key === undefined || provider.cloud === 'google';
    return [name, { base: own, key: isIdentity ? null : new Secret(key), cloud: cloudOf(provider, key, env) }];
  });
  return new Map(accounts);
}
