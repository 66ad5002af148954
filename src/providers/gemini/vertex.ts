import type { CloudTokens } from '../../domain/chat/cloud-tokens.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import { contentRequest } from '../../wire/generate-content/request.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { MESSAGES } from '../../wire/messages/native.ts';
import { upstreamMessages } from '../../wire/messages/request.ts';
import { withMembers } from '../../wire/json/members.ts';
import type { Protocol } from '../http-provider.ts';

const EVERYWHERE = 'global';
/** The version of Anthropic's words that Google Cloud takes; it wants it in the body. */
const ANTHROPIC_VERSION = 'vertex-2023-10-16';

/** Whose model it is: Anthropic's are asked in Anthropic's words, all others in Google's. */
export const isAnthropics = ({ upstreamModel }: Pick<Deployment, 'upstreamModel'>): boolean =>
  upstreamModel.startsWith('claude-');

/** The models of Google and of Anthropic on Google Cloud (Vertex AI), by the account of a service or of the machine. */
export function vertex(tokens: CloudTokens): Protocol {
  return {
    name: 'vertex_ai',
    dialectOf({ dialect }, deployment) {
      if (isAnthropics(deployment)) return dialect === 'messages' ? MESSAGES : null;
      return dialect === 'generate-content' ? GENERATE_CONTENT : null;
    },
    async prepare(deployment, request) {
      const { token, project } = await tokenOf(deployment, tokens);
      const asked = isAnthropics(deployment) ? askedOfAnthropic(request) : askedOfGoogle(request);
      return {
        url: `${addressOf(deployment, project, asked.publisher)}:${asked.method}`,
        headers: { 'content-type': 'application/json', ...asked.headers, authorization: `Bearer ${token.reveal()}` },
        body: asked.body,
        credentials: { token },
      };
    },
  };
}

/** What is asked of a model, by its publisher. */
interface Asked {
  readonly publisher: 'google' | 'anthropic';
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

function askedOfGoogle(request: ModelRequest): Asked {
  const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { publisher: 'google', method, body: contentRequest(request) };
}

/** As Anthropic itself is asked, but for the model, which the address names, and the version, which the body does. */
function askedOfAnthropic(request: ModelRequest): Asked {
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

/** What is thrown tells callers what is wrong here, not with what. */
async function tokenOf({ secrets, provider }: Deployment, tokens: CloudTokens): ReturnType<CloudTokens['for']> {
  try {
    return await tokens.for(secrets['vertex_credentials'] ?? null);
  } catch (cause) {
    const message = `litellm.AuthenticationError: AuthenticationError: ${provider}Exception - No access token for Google Cloud: the credentials of this deployment do not hold.`;
    throw new UpstreamFailed(message, { provider, upstreamStatus: null }, { cause });
  }
}

function addressOf(
  { options, apiBase, upstreamModel, provider }: Deployment,
  named: string | null,
  publisher: Asked['publisher'],
): string {
  const project = options['vertex_project'] ?? named;
  if (project === null) {
    const message = `litellm.BadRequestError: BadRequestError: ${provider}Exception - This deployment names no project of Google Cloud: set vertex_project.`;
    throw new UpstreamFailed(message, { provider, upstreamStatus: null });
  }
  const location = options['vertex_location'] ?? EVERYWHERE;
  const host = location === EVERYWHERE ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const base = apiBase ?? `https://${host}/v1`;
  // Versions of a model stand behind an @, which a path may hold as it is.
  const model = encodeURIComponent(upstreamModel).replace('%40', '@');
  return `${base}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers/${publisher}/models/${model}`;
}
