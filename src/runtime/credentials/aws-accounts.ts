import { readFile } from 'node:fs/promises';
import type * as Library from '@aws-sdk/credential-providers';
import type { AwsAccount, AwsAccounts, AwsCredentials } from '../../domain/chat/aws-accounts.ts';
import { CloudRefused } from '../../domain/chat/cloud-tokens.ts';
import { Secret } from '../../domain/secret.ts';
import { withoutSecretTexts } from '../../domain/secret-texts.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import { processEnvironment } from '../settings/process-environment.ts';
import { createCredentialCache, type ExpiringCredential } from './expiring-credential.ts';

/** Timeout of one request for credentials, in ms. */
const ANSWER_MS = 5_000;
/** Timeout of all requests for the credentials of an account, in ms. */
const TOTAL_MS = 10_000;
/** Cache time of credentials without an expiry, in ms: other tools rewrite files with short-lived keys. */
const DEFAULT_CACHE_MS = 900_000;
/** Session name of an assumed role without a configured name. */
const SESSION_NAME = 'lensgate';

type LibraryCredentials = Awaited<ReturnType<ReturnType<typeof Library.fromEnv>>>;

/**
 * AWS credentials from configured keys, a profile, a role or a web identity token, else from AWS's standard sources.
 * AWS's library resolves them. It is loaded when the first deployment needs it.
 */
export function createAwsAccounts({
  env = processEnvironment(),
  now = Date.now,
  refused,
}: AwsAccountsOptions = {}): AwsAccounts {
  const credentials = new Map<string, () => Promise<AwsCredentials>>();

  async function fetchCredential(account: AwsAccount): Promise<ExpiringCredential<AwsCredentials>> {
    try {
      // A source that does not answer must not block calls.
      const found = await withDeadline(findCredentials(account, env), TOTAL_MS, () => {
        throw new CloudRefused(`AWS gave no credentials within ${TOTAL_MS / 1000} seconds.`);
      });
      return {
        value: {
          accessKeyId: found.accessKeyId,
          secretAccessKey: new Secret(found.secretAccessKey),
          sessionToken: found.sessionToken ? new Secret(found.sessionToken) : null,
        },
        until: found.expiration?.getTime() ?? now() + DEFAULT_CACHE_MS,
      };
    } catch (error) {
      refused?.({ profile: account.profile, role: account.role?.arn ?? null, reason: reasonIn(error, account) });
      if (error instanceof CloudRefused) throw error;
      throw new CloudRefused('AWS gave no credentials for this deployment.', { cause: error });
    }
  }

  return {
    async for(account) {
      const cacheKey = cacheKeyOf(account);
      let credential = credentials.get(cacheKey);
      if (credential === undefined) {
        credential = createCredentialCache(() => fetchCredential(account), now);
        credentials.set(cacheKey, credential);
      }
      return await credential();
    },
  };
}

/** Details of refused credentials for the log; they are not part of answers. */
interface RefusalDetails {
  readonly profile: string | null;
  readonly role: string | null;
  readonly reason: string;
}

interface AwsAccountsOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly now?: () => number;
  readonly refused?: (about: RefusalDetails) => void;
}

/** Maximum characters of a reason. A longer message may quote the refused request with its credentials. */
const REASON_CHARACTERS = 200;

function reasonIn(error: unknown, { keys, webIdentityToken }: AwsAccount): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const [line = ''] = text.split('\n', 1);
  const secrets = [keys?.secretAccessKey, keys?.sessionToken, webIdentityToken].flatMap(
    (secret) => secret?.reveal() ?? [],
  );
  return withoutSecretTexts(line, secrets).slice(0, REASON_CHARACTERS);
}

/** Equal for equal settings. */
const cacheKeyOf = ({ keys, profile, role, webIdentityToken, region, stsEndpoint }: AwsAccount): string =>
  JSON.stringify([
    keys?.accessKeyId,
    keys?.secretAccessKey.reveal(),
    keys?.sessionToken?.reveal(),
    profile,
    role,
    webIdentityToken?.reveal(),
    region,
    stsEndpoint,
  ]);

async function findCredentials(account: AwsAccount, env: NodeJS.ProcessEnv): Promise<LibraryCredentials> {
  const { role, webIdentityToken, region, stsEndpoint } = account;
  const library = await import('@aws-sdk/credential-providers');
  const clientConfig = { region, requestHandler: { connectionTimeout: ANSWER_MS, requestTimeout: ANSWER_MS } };
  const stsConfig = { ...clientConfig, ...(stsEndpoint === null ? {} : { endpoint: stsEndpoint }) };
  const own = ownCredentials(account, { library, clientConfig, env });
  if (webIdentityToken !== null) {
    if (role === null) throw new CloudRefused('aws_web_identity_token has no effect without aws_role_name.');
    return await library.fromWebToken({
      roleArn: role.arn,
      roleSessionName: role.sessionName ?? SESSION_NAME,
      webIdentityToken: await tokenIn(webIdentityToken.reveal(), env),
      clientConfig: stsConfig,
    })();
  }
  // The own credentials already have this role: to assume it again, the role would need a permission to assume itself.
  if (role === null || isOwnRole(role.arn, account, env)) return await own();
  return await library.fromTemporaryCredentials({
    masterCredentials: own,
    params: {
      RoleArn: role.arn,
      RoleSessionName: role.sessionName ?? SESSION_NAME,
      ...(role.externalId === null ? {} : { ExternalId: role.externalId }),
    },
    clientConfig: stsConfig,
  })();
}

/** Dependencies of the resolution of credentials. */
interface ResolutionDependencies {
  readonly library: typeof Library;
  readonly clientConfig: {
    readonly region: string;
    readonly requestHandler: { readonly connectionTimeout: number; readonly requestTimeout: number };
  };
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Credentials of the deployment before it assumes a role. Files are read again each time, because they may contain
 * temporary credentials.
 */
function ownCredentials(
  { keys, profile }: AwsAccount,
  { library, clientConfig, env }: ResolutionDependencies,
): () => Promise<LibraryCredentials> {
  if (keys !== null) {
    const sessionToken = keys.sessionToken?.reveal();
    return async () => ({
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey.reveal(),
      ...(sessionToken === undefined ? {} : { sessionToken }),
    });
  }
  // No fallback: the machine's identity must not be used when a profile is missing.
  if (profile !== null) return library.fromIni({ profile, clientConfig, ignoreCache: true });
  // Keys in the environment take precedence over `AWS_PROFILE`. The library's chain ignores them when it is set.
  if (env['AWS_ACCESS_KEY_ID'] && env['AWS_SECRET_ACCESS_KEY']) return library.fromEnv();
  return library.fromNodeProviderChain({ clientConfig, ignoreCache: true });
}

const isOwnRole = (arn: string, { keys, profile }: AwsAccount, env: NodeJS.ProcessEnv): boolean =>
  keys === null && profile === null && env['AWS_ROLE_ARN'] === arn && Boolean(env['AWS_WEB_IDENTITY_TOKEN_FILE']);

/** The token that `aws_web_identity_token` names. It is read each time, because tokens are replaced within the hour. */
async function tokenIn(setting: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [, kind = '', rest = ''] = /^oidc\/(file|env_path|env)\/(.+)$/.exec(setting) ?? [];
  if (kind === '' && setting.startsWith('oidc/'))
    throw new CloudRefused('aws_web_identity_token takes oidc/file/…, oidc/env/…, oidc/env_path/…, a path or a token.');
  const isVariable = kind === 'env' || kind === 'env_path';
  const value = kind === 'file' ? rest : setting;
  const pathOrToken = isVariable ? env[rest] : value;
  if (!pathOrToken) throw new CloudRefused('The variable that aws_web_identity_token names is not set.');
  const isPath = kind === 'file' || kind === 'env_path' || (kind === '' && pathOrToken.startsWith('/'));
  return (isPath ? await readFile(pathOrToken, 'utf8') : pathOrToken).trim();
}
