import type { CloudTokens } from '../../domain/chat/cloud-tokens.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { contentRequest, GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { MESSAGES, upstreamMessages } from '../../wire/messages/native.ts';
import { withMembers } from '../../wire/json/members.ts';
import type { Protocol } from '../http-provider.ts';

const GLOBAL_LOCATION = 'global';
/** Value of the body member `anthropic_version`, which Vertex AI requires. */
const ANTHROPIC_VERSION = 'vertex-2023-10-16';

/** Whether a model is Anthropic's. Such models use the messages dialect, all others generateContent. */
export const isAnthropicModel = ({ upstreamModel }: Pick<Deployment, 'upstreamModel'>): boolean =>
  upstreamModel.startsWith('claude-');

/**
 * Protocol of Vertex AI on Google Cloud, for models of Google and Anthropic. Authenticates by an access token of a
 * service account or of the machine.
 */
export function vertex(tokens: CloudTokens): Protocol {
  return {
    name: 'vertex_ai',
    dialectOf({ dialect }, deployment) {
      if (isAnthropicModel(deployment)) return dialect === 'messages' ? MESSAGES : null;
      return dialect === 'generate-content' ? GENERATE_CONTENT : null;
    },
    async prepare(deployment, request) {
      const { token, project } = await tokenOf(deployment, tokens);
      const call = isAnthropicModel(deployment) ? anthropicCall(request) : googleCall(request);
      return {
        url: `${addressOf(deployment, project, call.publisher)}:${call.method}`,
        headers: { 'content-type': 'application/json', ...call.headers, authorization: `Bearer ${token.reveal()}` },
        body: call.body,
        credentials: { token },
      };
    },
  };
}

/** Parts of a call that depend on the publisher of the model. */
interface PublisherCall {
  readonly publisher: 'google' | 'anthropic';
  /** Method of Google's API, such as `rawPredict`. */
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

function googleCall(request: ModelRequest): PublisherCall {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { publisher: 'google', method, body: contentRequest(request) };
}

/** A call of Anthropic's API. On Google Cloud, the model is in the URL and the version in the body. */
function anthropicCall(request: ModelRequest): PublisherCall {
  const body = withMembers(upstreamMessages(request, ''), {
    model: null,
    anthropic_version: JSON.stringify(ANTHROPIC_VERSION),
  });
  const beta = request.forwarded?.['anthropic-beta'];
  return {
    publisher: 'anthropic',
    method: request.stream ? 'streamRawPredict' : 'rawPredict',
    headers: beta === undefined ? {} : { 'anthropic-beta': beta },
    body,
  };
}

/** Access token and its project. Throws UpstreamFailed without a token. The message quotes no credentials. */
async function tokenOf({ secrets, provider }: Deployment, tokens: CloudTokens): ReturnType<CloudTokens['for']> {
  try {
    return await tokens.for(secrets['vertex_credentials'] ?? null);
  } catch (cause) {
    const message = `litellm.AuthenticationError: AuthenticationError: ${provider}Exception - No access token for Google Cloud. Check vertex_credentials (when it is not set: the credentials of the machine), and that the token service can be reached.`;
    throw new UpstreamFailed(message, { provider, upstreamStatus: null }, { cause });
  }
}

function addressOf(
  { options, apiBase, upstreamModel, provider }: Deployment,
  tokenProject: string | null,
  publisher: PublisherCall['publisher'],
): string {
  const project = options['vertex_project'] ?? tokenProject;
  if (project === null) {
    const message = `litellm.BadRequestError: BadRequestError: ${provider}Exception - This deployment has no Google Cloud project: set vertex_project.`;
    throw new UpstreamFailed(message, { provider, upstreamStatus: null });
  }
  const location = options['vertex_location'] ?? GLOBAL_LOCATION;
  const host = location === GLOBAL_LOCATION ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const base = apiBase ?? `https://${host}/v1`;
  // Model versions follow an `@`, which must not be escaped.
  const model = encodeURIComponent(upstreamModel).replace('%40', '@');
  return `${base}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers/${publisher}/models/${model}`;
}
