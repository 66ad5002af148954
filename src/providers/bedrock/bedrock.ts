import type { ByteStream } from '../../domain/bytes.ts';
import type { AwsAccount, AwsAccounts, AwsCredentials } from '../../domain/chat/aws-accounts.ts';
import { type Deployment, displayName } from '../../domain/chat/provider.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { createMessageReframer } from '../../wire/aws-event-stream/events.ts';
import { BEDROCK_EMBEDDINGS, embeddingRequest, isEmbeddingModel } from '../../wire/bedrock-embeddings/native.ts';
import { CONVERSE_NATIVE } from '../../wire/converse/native.ts';
import { reframedStream } from '../../wire/sse/reframed.ts';
import type { Protocol } from '../http-provider.ts';
import { signedHeaders } from './sign.ts';

const DEFAULT_REGION = 'us-west-2';

/**
 * Protocol of Amazon Bedrock: chats through Converse, and embeddings of Amazon and Cohere. Authenticates by API key,
 * else by a request signature with AWS credentials.
 */
export function bedrock(name: 'bedrock' | 'bedrock_converse', accounts: AwsAccounts): Protocol {
  return {
    name,
    dialectOf({ dialect, operation }, { upstreamModel }) {
      if (dialect === 'converse') return CONVERSE_NATIVE;
      return operation === 'embeddings' && isEmbeddingModel(upstreamModel) ? BEDROCK_EMBEDDINGS : null;
    },
    async prepare(deployment, request) {
      const { region, model } = regionAndModelOf(deployment);
      const { endpoint, body, stream } = request;
      const isChat = endpoint.dialect === 'converse';
      const bytes = isChat ? request.bytes : Buffer.from(JSON.stringify(embeddingRequest(model, body)));
      const chatAction = stream ? 'converse-stream' : 'converse';
      const action = isChat ? chatAction : 'invoke';
      const url = `${baseOf(deployment, region)}/model/${encodeURIComponent(model)}/${action}`;
      const headers = { 'content-type': 'application/json' };
      const { apiKey } = deployment;
      if (apiKey !== null)
        return { url, headers: { ...headers, authorization: `Bearer ${apiKey.reveal()}` }, body: bytes };
      const credentials = await credentialsOf(deployment, region, accounts);
      const signed = await signedHeaders({ url, headers, body: bytes }, credentials, { region, at: new Date() });
      return { url, headers: signed, body: bytes, credentials: secretsOf(credentials) };
    },
    toEvents: (body: ByteStream) => reframedStream(body, createMessageReframer()),
  };
}

/**
 * Form of a region in a model name or ARN. The region becomes part of the host name, and callers choose the model names
 * of a deployment with a wildcard. So a text of another form is not used as a region.
 */
const REGION = '[a-z]{2}(?:-[a-z]+)+-\\d';
const MODEL_WITH_REGION = new RegExp(`^(${REGION})/(.+)$`);
const MODEL_ARN = new RegExp(`^arn:[^:]*:bedrock:(${REGION}):`);

/**
 * Region and model. The region is the prefix of the model name, else `aws_region_name`, else the region in the ARN of
 * the model, else the default.
 */
function regionAndModelOf({ upstreamModel, options }: Deployment): {
  readonly region: string;
  readonly model: string;
} {
  const prefixed = MODEL_WITH_REGION.exec(upstreamModel);
  const model = prefixed?.[2] ?? upstreamModel;
  const region = prefixed?.[1] ?? options['aws_region_name'] ?? MODEL_ARN.exec(model)?.[1];
  return { region: region ?? DEFAULT_REGION, model };
}

function baseOf({ apiBase, options }: Deployment, region: string): string {
  const configured = options['aws_bedrock_runtime_endpoint'] ?? apiBase;
  if (configured) return configured.replace(/\/+$/, '');
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

/**
 * Credentials to sign with. The access keys of the deployment are used directly when it has no profile, role or web
 * identity. Otherwise `accounts` resolves the credentials. Throws UpstreamFailed when it finds none, and for a
 * deployment with only one of the two access keys.
 */
async function credentialsOf(deployment: Deployment, region: string, accounts: AwsAccounts): Promise<AwsCredentials> {
  const account = accountOf(deployment, region);
  const { keys, profile, role, webIdentityToken } = account;
  if (keys !== null && profile === null && role === null && webIdentityToken === null) return keys;
  // A single access key is a configuration error. Credentials from other places must not be used instead.
  if (keys === null && hasAnyAccessKey(deployment))
    throw credentialsFailure(
      deployment,
      'this deployment sets only one of aws_access_key_id and aws_secret_access_key.',
    );
  try {
    return await accounts.for(account);
  } catch (cause) {
    throw credentialsFailure(deployment, 'the credentials of this deployment are invalid or missing.', { cause });
  }
}

const hasAnyAccessKey = ({ options, secrets }: Deployment): boolean =>
  options['aws_access_key_id'] !== undefined || secrets['aws_secret_access_key'] !== undefined;

/** Error for callers. The message contains the reason, but no account or key. */
function credentialsFailure({ provider }: Deployment, why: string, options?: ErrorOptions): UpstreamFailed {
  const message = `litellm.AuthenticationError: AuthenticationError: ${displayName(provider)}Exception - No credentials for AWS: ${why}`;
  return new UpstreamFailed(message, { provider, upstreamStatus: null }, options);
}

function accountOf({ options, secrets }: Deployment, region: string): AwsAccount {
  const option = (name: string): string | null => options[name] ?? null;
  const accessKeyId = option('aws_access_key_id');
  const secretAccessKey = secrets['aws_secret_access_key'];
  const arn = option('aws_role_name');
  return {
    keys:
      accessKeyId === null || secretAccessKey === undefined
        ? null
        : { accessKeyId, secretAccessKey, sessionToken: secrets['aws_session_token'] ?? null },
    profile: option('aws_profile_name'),
    role: arn === null ? null : { arn, sessionName: option('aws_session_name'), externalId: option('aws_external_id') },
    webIdentityToken: secrets['aws_web_identity_token'] ?? null,
    region,
    stsEndpoint: option('aws_sts_endpoint'),
  };
}

/** The secret parts of credentials, by name. */
function secretsOf({ secretAccessKey, sessionToken }: AwsCredentials): Readonly<Record<string, Secret>> {
  return { secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
}
