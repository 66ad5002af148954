import type { JsonObject } from '../../domain/json-object.ts';
import type { AwsAccount, AwsCredentials } from '../../domain/chat/aws-accounts.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import type { CloudIdentity } from '../../domain/pass-through/forwarded.ts';
import {
  CODING_AGENTS,
  FORWARDED_PROVIDERS,
  type ForwardedProvider,
  speechBase,
} from '../../domain/pass-through/providers.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigFault } from './config-fault.ts';

/** Account of a provider in the environment. */
export interface EnvironmentAccount {
  /** Base address; null where there is none. */
  readonly base: string | null;
  readonly key: Secret | null;
  /** Identity that authenticates calls in place of a key; null where there is none. */
  readonly cloud: CloudIdentity | null;
  /** Issuer of the tokens for a stored key; null for a provider whose key is sent. */
  readonly issuer: Omit<Extract<CloudIdentity, { kind: 'issued' }>, 'key'> | null;
  /** AWS region of the environment, or the default. */
  readonly region: string;
}

const DEFAULT_REGION = 'us-west-2';
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;
const AZURE_REGION = /^[a-z0-9]{2,40}$/;

/** The first of the variables with a value. An empty variable is unset. */
const firstOf = (env: NodeJS.ProcessEnv, names: readonly string[]): string | undefined =>
  names.map((name) => env[name]).find(Boolean);

/** Region of the environment; the default for a missing or invalid one. */
function regionOf(env: NodeJS.ProcessEnv): string {
  const region = firstOf(env, ['AWS_REGION_NAME', 'AWS_REGION', 'AWS_DEFAULT_REGION']) ?? '';
  return REGION.test(region) ? region : DEFAULT_REGION;
}

/** Base address of a service of Amazon in a region. */
export const awsBase = (host: string, region: string): string =>
  `https://${host}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/**
 * AWS identity for a service, from parameters that are named as in stored credentials. Null when keys, profile and role
 * are all missing.
 */
export function awsIdentity(service: string, given: JsonObject, environmentRegion: string): CloudIdentity | null {
  const [id, secret] = [textOf(given['aws_access_key_id']), textOf(given['aws_secret_access_key'])];
  const session = textOf(given['aws_session_token']);
  const keys: AwsCredentials | null =
    id === null || secret === null
      ? null
      : {
          accessKeyId: id,
          secretAccessKey: new Secret(secret),
          sessionToken: session === null ? null : new Secret(session),
        };
  const profile = textOf(given['aws_profile_name']);
  const role = textOf(given['aws_role_name']);
  if (keys === null && profile === null && role === null) return null;
  const givenRegion = textOf(given['aws_region_name']) ?? '';
  const region = REGION.test(givenRegion) ? givenRegion : environmentRegion;
  const account: AwsAccount = {
    keys,
    profile,
    role:
      role === null
        ? null
        : {
            arn: role,
            sessionName: textOf(given['aws_session_name']),
            externalId: textOf(given['aws_external_id']),
          },
    webIdentityToken: null,
    region,
    stsEndpoint: null,
  };
  // Calls are signed with the keys only where no role is assumed with them.
  return { kind: 'aws', region, service, keys: role === null ? keys : null, account };
}

const awsParameters = (env: NodeJS.ProcessEnv): JsonObject => ({
  aws_access_key_id: env['AWS_ACCESS_KEY_ID'],
  aws_secret_access_key: env['AWS_SECRET_ACCESS_KEY'],
  aws_session_token: env['AWS_SESSION_TOKEN'],
  aws_profile_name: firstOf(env, ['AWS_PROFILE_NAME', 'AWS_PROFILE']),
  aws_role_name: env['AWS_ROLE_NAME'],
  aws_session_name: env['AWS_SESSION_NAME'],
});

function issuerOf({ tokens }: ForwardedProvider, env: NodeJS.ProcessEnv): EnvironmentAccount['issuer'] {
  if (tokens === undefined) return null;
  const { form, scope, scopeVariable, url, urlVariables } = tokens;
  return {
    kind: 'issued',
    form,
    url: firstOf(env, urlVariables) ?? url,
    scope: firstOf(env, scopeVariable === null ? [] : [scopeVariable]) ?? scope,
  };
}

/** Base addresses and keys of the providers with a prefix, by the first prefix of each. */
export function readProviderAccounts(
  env: NodeJS.ProcessEnv,
  fault: (fault: ConfigFault) => void,
): ReadonlyMap<string, EnvironmentAccount> {
  const region = regionOf(env);

  function addressOf({ baseVariables }: ForwardedProvider): string | null {
    const variable = baseVariables.find((name) => env[name]);
    const address = variable === undefined ? null : (env[variable] ?? null);
    const wrong = address === null ? null : targetFault(address);
    if (wrong !== null && variable !== undefined)
      fault({ source: 'environment', line: null, key: variable, message: wrong });
    return address;
  }

  function defaultBase({ aws, regionVariables = [] }: ForwardedProvider): string | null {
    if (aws !== undefined) return awsBase(aws.host, region);
    const azureRegion = firstOf(env, regionVariables);
    return azureRegion !== undefined && AZURE_REGION.test(azureRegion) ? speechBase(azureRegion) : null;
  }

  function identityOf(
    { aws, cloud }: ForwardedProvider,
    key: string | undefined,
    issuer: EnvironmentAccount['issuer'],
  ): CloudIdentity | null {
    // An API key of Bedrock is sent in place of a signature.
    if (aws !== undefined) return key === undefined ? awsIdentity(aws.service, awsParameters(env), region) : null;
    if (key === undefined) return null;
    if (cloud === 'google') return { kind: 'google', credentials: new Secret(key) };
    return issuer === null ? null : { ...issuer, key: new Secret(key) };
  }

  const accounts = [CODING_AGENTS, ...FORWARDED_PROVIDERS].map((provider): [string, EnvironmentAccount] => {
    const { keyVariables, prefixes, tokenVariables = [] } = provider;
    const token = firstOf(env, tokenVariables);
    const key = firstOf(env, keyVariables);
    const issuer = issuerOf(provider, env);
    const identity = identityOf(provider, key, issuer);
    // A key from which an identity is made is not sent itself.
    const sentKey = token ?? (identity === null ? key : undefined);
    return [
      prefixes[0] ?? '',
      {
        base: addressOf(provider) ?? defaultBase(provider),
        key: sentKey === undefined ? null : new Secret(sentKey),
        cloud: token === undefined ? identity : null,
        issuer,
        region,
      },
    ];
  });
  return new Map(accounts);
}
