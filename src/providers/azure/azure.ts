import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { type Endpoint, RESPONSES_COMPACT } from '../../domain/inference/endpoint.ts';
import { openAiFrame } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { MEDIA } from '../../wire/media/native.ts';
import { RESPONSES_FRAME } from '../../wire/responses/native.ts';
import { upstreamResponseRequest } from '../../wire/responses/request.ts';
import type { Protocol } from '../http-provider.ts';
import { mediaRequest } from '../media-request.ts';
import type { UpstreamCall } from '../upstream-answer.ts';

/** The latest version that is not a preview; streams count tokens from it on. */
const API_VERSION = '2024-10-21';
/** Versions that are words mean the interface which has no versions. */
const UNVERSIONED = new Set(['v1', 'latest', 'preview']);

const FRAME = openAiFrame();
/** Chooses a model for every call, and says which. */
const ROUTER_FRAME = openAiFrame({ keepsModel: true });
const ROUTER = /^model[-_]router(\/|$)/;

/** Models of OpenAI that Azure hosts, each in a deployment of an account. */
export const azure: Protocol = {
  name: 'azure',
  dialectOf,
  prepare(deployment, request) {
    const model = deployment.upstreamModel.replace(/^model_router\//, '');
    return {
      url: addressOf(deployment, model, request.endpoint),
      ...carried(deployment, request, model),
    };
  },
  keeps: (deployment, path) => ({ url: addressOf(deployment, null, { path }), headers: identityOf(deployment) }),
};

/** Models of other makers that Azure hosts. */
export const azureAi: Protocol = {
  name: 'azure_ai',
  dialectOf,
  prepare(deployment, request) {
    const base = deployment.apiBase ?? '';
    const path = base.endsWith('.services.ai.azure.com')
      ? `${base}/models${request.endpoint.path}`
      : `${base}${request.endpoint.path}`;
    const version = deployment.options['api_version'];
    return {
      url: version === undefined ? path : `${path}?api-version=${encodeURIComponent(version)}`,
      ...carried(deployment, request, deployment.upstreamModel.replace(/^model_router\//, '')),
    };
  },
};

/** A request in the form its endpoint has, and what lets it in. */
function carried(deployment: Deployment, request: ModelRequest, model: string): Pick<UpstreamCall, 'headers' | 'body'> {
  const media = mediaRequest(request, model);
  if (media !== null) return { headers: headersOf(deployment, media.contentType), body: media.body };
  const isResponse = isOfResponses(request.endpoint) && deployment.provider === 'azure';
  const body = isResponse ? upstreamResponseRequest(request, model) : upstreamRequest(request, model);
  return { headers: headersOf(deployment), body };
}

const isOfResponses = (endpoint: Endpoint): boolean =>
  endpoint.dialect === 'responses' || endpoint === RESPONSES_COMPACT;

function dialectOf(endpoint: Endpoint, { provider, upstreamModel, responses }: Deployment): NativeDialect | null {
  const { dialect, medium } = endpoint;
  if (medium !== undefined) return MEDIA[medium];
  // Which deployments answer there, only their owner knows.
  if (isOfResponses(endpoint))
    return provider === 'azure' && (responses === 'only' || responses === 'also') ? RESPONSES_FRAME : null;
  if (dialect !== null && responses === 'only') return null;
  if (dialect !== null && dialect !== 'chat-completions' && dialect !== 'completions') return null;
  return ROUTER.test(upstreamModel) ? ROUTER_FRAME : FRAME;
}

/**
 * The address of an endpoint. The older interface names the deployment in the path, the newer one in the body; what belongs to
 * the whole account (`model` is null) is beside its deployments.
 */
function addressOf({ apiBase, options }: Deployment, model: string | null, { path }: Pick<Endpoint, 'path'>): string {
  const isOfAccount = model === null || path.startsWith('/responses');
  const base = isOfAccount ? (apiBase ?? '').replace(/\/openai\/deployments\/.*$/, '') : (apiBase ?? '');
  const version = options['api_version'];
  const unversioned = version === undefined || version === 'v1' ? path : withVersion(path, version);
  if (base.endsWith('/openai/v1')) return `${base}${unversioned}`;
  if (version !== undefined && UNVERSIONED.has(version)) return `${base}/openai/v1${unversioned}`;
  const versioned = withVersion(path, version ?? API_VERSION);
  if (isOfAccount) return `${base}/openai${versioned}`;
  if (base.includes('/openai/deployments/')) return `${base}${versioned}`;
  return `${base}/openai/deployments/${encodeURIComponent(model)}${versioned}`;
}

/** Paths of what is kept may come with a query. */
const withVersion = (path: string, version: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version)}`;

const headersOf = (deployment: Deployment, contentType = 'application/json'): Readonly<Record<string, string>> => ({
  'content-type': contentType,
  ...identityOf(deployment),
});

/** By key, or else by a token of Microsoft's directory. */
export function identityOf({ apiKey, secrets }: Deployment): Readonly<Record<string, string>> {
  const token = secrets['azure_ad_token'];
  return {
    ...(apiKey === null ? {} : { 'api-key': apiKey.reveal() }),
    ...(apiKey === null && token ? { authorization: `Bearer ${token.reveal()}` } : {}),
  };
}
