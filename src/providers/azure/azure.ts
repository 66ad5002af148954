import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { OCR } from '../../domain/inference/document-endpoint.ts';
import { type Endpoint, RESPONSES_COMPACT } from '../../domain/inference/endpoint.ts';
import { openAiNative, upstreamRequest } from '../../wire/chat-completions/native.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { MEDIA, mediaRequest } from '../../wire/media/native.ts';
import { RESPONSES_NATIVE, upstreamResponseRequest } from '../../wire/responses/native.ts';
import { refuseWithoutBase } from '../failures.ts';
import type { Protocol } from '../http-provider.ts';
import type { UpstreamCall } from '../upstream-answer.ts';
import { type RealtimeVendor, sessionQuery } from '../realtime.ts';

/** Default API version: the latest stable one. Earlier versions report no usage in streams. */
const API_VERSION = '2024-10-21';
/** Values of `api_version` that select Azure's newer API (`/openai/v1`). Other values are dates of the older API. */
const NEWER_API_VERSIONS = new Set(['v1', 'latest', 'preview']);

const NATIVE = openAiNative();
/** Dialect of Azure's model router. Its answers keep their model name: the router selects a model for each call. */
const ROUTER_NATIVE = openAiNative({ keepsModel: true });
const ROUTER = /^model[-_]router(\/|$)/;

/** Protocol of Azure OpenAI: OpenAI models in deployments of an Azure account. */
export const azure: Protocol = {
  name: 'azure',
  dialectOf,
  prepare(deployment, request) {
    const model = withoutRouterPrefix(deployment.upstreamModel);
    return {
      url: addressOf(deployment, model, request.endpoint),
      ...contentOf(deployment, request, model),
    };
  },
  storageTarget: (deployment, path) => ({
    url: addressOf(deployment, null, { path }),
    headers: authHeadersOf(deployment),
  }),
};

/** Protocol of Azure AI: models of other vendors that Azure hosts. */
export const azureAi: Protocol = {
  name: 'azure_ai',
  dialectOf,
  prepare(deployment, request) {
    const base = deployment.apiBase ?? refuseWithoutBase(deployment);
    const path = base.endsWith('.services.ai.azure.com')
      ? `${base}/models${request.endpoint.path}`
      : `${base}${request.endpoint.path}`;
    const version = deployment.options['api_version'];
    return {
      url: version === undefined ? path : `${path}?api-version=${encodeURIComponent(version)}`,
      ...contentOf(deployment, request, withoutRouterPrefix(deployment.upstreamModel)),
    };
  },
};

const withoutRouterPrefix = (upstreamModel: string): string => upstreamModel.replace(/^model_router\//, '');

/** Headers and body of a request, in the format of its endpoint. */
function contentOf(
  deployment: Deployment,
  request: ModelRequest,
  model: string,
): Pick<UpstreamCall, 'headers' | 'body'> {
  if (request.endpoint.medium !== undefined) {
    const { contentType, body } = mediaRequest(request, model);
    return { headers: headersOf(deployment, contentType), body };
  }
  const usesResponsesApi = isResponsesEndpoint(request.endpoint) && deployment.provider === 'azure';
  const body = usesResponsesApi ? upstreamResponseRequest(request, model) : upstreamRequest(request, model);
  return { headers: headersOf(deployment), body };
}

const isResponsesEndpoint = (endpoint: Endpoint): boolean =>
  endpoint.dialect === 'responses' || endpoint === RESPONSES_COMPACT;

function dialectOf(endpoint: Endpoint, { provider, upstreamModel, responses }: Deployment): NativeDialect | null {
  const { dialect, medium } = endpoint;
  if (medium !== undefined) return MEDIA[medium];
  // Azure has documents at other addresses, and in formats of its own.
  if (endpoint === OCR) return null;
  // Not every model at Azure has the Responses API, so the setting `responses` of the deployment decides.
  if (isResponsesEndpoint(endpoint))
    return provider === 'azure' && (responses === 'only' || responses === 'also') ? RESPONSES_NATIVE : null;
  const isChatOrCompletion = dialect === 'chat-completions' || dialect === 'completions';
  if (isChatOrCompletion && responses === 'only') return null;
  // Endpoints without a dialect, such as embeddings, have OpenAI's format.
  if (dialect !== null && !isChatOrCompletion) return null;
  return ROUTER.test(upstreamModel) ? ROUTER_NATIVE : NATIVE;
}

/**
 * URL of an endpoint. The older, dated API has Azure's deployment in the path, the newer one (`/openai/v1`) in the
 * body. Objects of the account (`model` is null) and responses have paths without a deployment.
 */
function addressOf({ apiBase, options }: Deployment, model: string | null, { path }: Pick<Endpoint, 'path'>): string {
  const isAccountPath = model === null || path.startsWith('/responses');
  const base = isAccountPath ? (apiBase ?? '').replace(/\/openai\/deployments\/.*$/, '') : (apiBase ?? '');
  const version = options['api_version'];
  const newerPath = version === undefined || version === 'v1' ? path : withVersion(path, version);
  if (base.endsWith('/openai/v1')) return `${base}${newerPath}`;
  if (version !== undefined && NEWER_API_VERSIONS.has(version)) return `${base}/openai/v1${newerPath}`;
  const datedPath = withVersion(path, version ?? API_VERSION);
  if (isAccountPath) return `${base}/openai${datedPath}`;
  if (base.includes('/openai/deployments/')) return `${base}${datedPath}`;
  return `${base}/openai/deployments/${encodeURIComponent(model)}${datedPath}`;
}

/** Adds `api-version` to a path. Paths of stored objects may already have a query. */
const withVersion = (path: string, version: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version)}`;

const headersOf = (deployment: Deployment, contentType = 'application/json'): Readonly<Record<string, string>> => ({
  'content-type': contentType,
  ...authHeadersOf(deployment),
});

/** Credential headers: the API key, else a Microsoft Entra ID token. None when the deployment has neither. */
function authHeadersOf({ apiKey, secrets }: Deployment): Readonly<Record<string, string>> {
  const token = secrets['azure_ad_token'];
  return {
    ...(apiKey === null ? {} : { 'api-key': apiKey.reveal() }),
    ...(apiKey === null && token ? { authorization: `Bearer ${token.reveal()}` } : {}),
  };
}

/** Versions of the older API with realtime sessions: dated previews. */
const DATED_PREVIEW = /^\d{4}-\d{2}-\d{2}-preview$/;

/** Realtime sessions at Azure: under `/openai/v1`, or under `/openai` for a dated preview version. */
export const azureRealtime: RealtimeVendor = {
  addressOf({ apiBase, upstreamModel, options }, request) {
    const root = (apiBase ?? '').replace(/\/openai(\/v1|\/deployments\/.*)?$/, '');
    const version = options['api_version'] ?? 'v1';
    return DATED_PREVIEW.test(version)
      ? `${root}/openai/realtime?api-version=${version}&${sessionQuery('deployment', upstreamModel, request)}`
      : `${root}/openai/v1/realtime?${sessionQuery('model', upstreamModel, request)}`;
  },
  authHeadersOf,
};
