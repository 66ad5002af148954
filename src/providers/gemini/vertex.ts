import type { CloudTokens } from '../../domain/chat/cloud-tokens.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { UpstreamFailed } from '../../domain/errors.ts';
import { GENERATE_CONTENT } from '../../wire/generate-content/native.ts';
import { contentRequest } from '../../wire/generate-content/request.ts';
import type { Protocol } from '../http-provider.ts';

const EVERYWHERE = 'global';

/** Gemini's models on Google Cloud (Vertex AI), by the account of a service or of the machine. */
export function vertex(tokens: CloudTokens): Protocol {
  return {
    name: 'vertex_ai',
    dialectOf: ({ dialect }) => (dialect === 'generate-content' ? GENERATE_CONTENT : null),
    async prepare(deployment, request) {
      const { token, project } = await tokenOf(deployment, tokens);
      const method = request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      return {
        url: `${addressOf(deployment, project)}:${method}`,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token.reveal()}` },
        body: contentRequest(request),
        credential: token,
      };
    },
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

function addressOf({ options, apiBase, upstreamModel, provider }: Deployment, named: string | null): string {
  const project = options['vertex_project'] ?? named;
  if (project === null) {
    const message = `litellm.BadRequestError: BadRequestError: ${provider}Exception - This deployment names no project of Google Cloud: set vertex_project.`;
    throw new UpstreamFailed(message, { provider, upstreamStatus: null });
  }
  const location = options['vertex_location'] ?? EVERYWHERE;
  const host = location === EVERYWHERE ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const base = apiBase ?? `https://${host}/v1`;
  const model = encodeURIComponent(upstreamModel);
  return `${base}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers/google/models/${model}`;
}
