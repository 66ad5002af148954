import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import { OCR } from '../../domain/inference/document-endpoint.ts';
import { type Endpoint, RERANK, RESPONSES, RESPONSES_COMPACT } from '../../domain/inference/endpoint.ts';
import { openAiNative, upstreamRequest } from '../../wire/chat-completions/native.ts';
import type { Secret } from '../../domain/secret.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { OCR_NATIVE } from '../../wire/ocr/native.ts';
import { MEDIA, mediaRequest } from '../../wire/media/native.ts';
import { RESPONSES_NATIVE, upstreamResponseRequest } from '../../wire/responses/native.ts';
import type { Protocol } from '../http-provider.ts';
import { refuseWithoutBase } from '../failures.ts';
import type { CallTarget } from '../pass-through.ts';
import { type Differences, differencesOf } from './vendors.ts';
import { type RealtimeVendor, sessionQuery } from '../realtime.ts';

/** Protocol of a vendor with an OpenAI-compatible API. `api_base` of the deployment replaces the vendor's address. */
export function compatibleProtocol(name: CompatibleVendor): Protocol {
  const differences = differencesOf(name);
  const native = openAiNative(differences);
  const { base } = COMPATIBLE_VENDORS[name];
  const { completions = true, chats = true, modelName = (model: string) => model } = differences;
  const targetOf = (deployment: Deployment, path: string, contentType?: string): CallTarget => ({
    url: `${deployment.apiBase ?? base ?? refuseWithoutBase(deployment)}${path}`,
    headers: headersOf(deployment, differences, contentType),
  });
  /** The most recent target of each credential. Most calls of a deployment use the same endpoint. */
  const lastTargets = new WeakMap<Secret, JsonTarget>();
  function jsonTargetOf(deployment: Deployment, path: string): CallTarget {
    const { apiKey, apiBase, options } = deployment;
    const last = apiKey === null ? undefined : lastTargets.get(apiKey);
    if (last !== undefined && last.path === path && last.apiBase === apiBase && last.options === options)
      return last.target;
    const { url, headers } = targetOf(deployment, path, 'application/json');
    const target = { url, headers: Object.freeze(headers) };
    if (apiKey !== null) lastTargets.set(apiKey, { path, apiBase, options, target });
    return target;
  }
  function dialectOf(endpoint: Endpoint, deployment: Deployment): NativeDialect | null {
    const { dialect, medium } = endpoint;
    if (medium !== undefined) return MEDIA[medium];
    if (dialect === 'responses' || endpoint === RESPONSES_COMPACT)
      return supportsResponses(deployment, differences) ? RESPONSES_NATIVE : null;
    if (endpoint === RERANK && differences.rerank !== undefined) return differences.rerank.dialect;
    if (endpoint === OCR) return OCR_NATIVE;
    if (dialect === null) return native;
    if (deployment.responses === 'only') return null;
    const isSupported = (dialect === 'chat-completions' && chats) || (dialect === 'completions' && completions);
    return isSupported ? native : null;
  }
  function bodyOf(deployment: Deployment, request: ModelRequest, model: string): Uint8Array {
    const { endpoint, body } = request;
    if (endpoint === RERANK && differences.rerank !== undefined)
      return Buffer.from(JSON.stringify(differences.rerank.request(body, model)));
    return dialectOf(endpoint, deployment) === RESPONSES_NATIVE
      ? upstreamResponseRequest(request, model)
      : upstreamRequest(request, model, differences);
  }
  return {
    name,
    dialectOf,
    mayLackEndpoint({ path }, { apiBase, responses }) {
      const isOtherAddress = apiBase !== null && apiBase !== base;
      return isOtherAddress && responses === undefined && path.startsWith(RESPONSES.path);
    },
    ...(differences.hasFiles === true ? { storageTarget: (deployment, path) => targetOf(deployment, path) } : {}),
    prepare(deployment, request) {
      const { endpoint } = request;
      const model = modelName(deployment.upstreamModel);
      if (endpoint.medium !== undefined) {
        const { contentType, body } = mediaRequest(request, model);
        return { ...targetOf(deployment, endpoint.path, contentType), body };
      }
      const { url, headers } = jsonTargetOf(deployment, endpoint.path);
      return { url, headers, body: bodyOf(deployment, request, model) };
    },
  };
}

/** A cached target of JSON requests, with the values that it depends on. */
interface JsonTarget extends Pick<Deployment, 'apiBase' | 'options'> {
  readonly path: string;
  readonly target: CallTarget;
}

/** Whether calls go to `/responses` of the upstream. The deployment's own setting decides, if it has one. */
const supportsResponses = ({ responses }: Deployment, { hasResponses }: Differences): boolean =>
  responses === undefined ? hasResponses === true : responses !== 'never';

/** Credential headers, headers from options, and the content type if it is given. */
function headersOf(
  { apiKey, options }: Deployment,
  { headers = {} }: Differences,
  contentType: string | undefined,
): Readonly<Record<string, string>> {
  const result: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  if (apiKey) result['authorization'] = `Bearer ${apiKey.reveal()}`;
  for (const [header, option] of Object.entries(headers)) {
    const value = options[option];
    if (value !== undefined) result[header] = value;
  }
  return result;
}

/** Protocol of OpenAI, and of compatible servers without a vendor name (`api_base`). */
export const openAiCompatible: Protocol = compatibleProtocol('openai');

/** Vendors with the realtime API. Servers without a vendor name are assumed to have it. */
const REALTIME_VENDORS: ReadonlySet<CompatibleVendor> = new Set<CompatibleVendor>([
  'openai',
  'custom_openai',
  'openai_like',
  'litellm_proxy',
  'xai',
]);

/** Realtime API of an OpenAI-compatible vendor. Null when it has none. */
export function compatibleRealtime(name: CompatibleVendor): RealtimeVendor | null {
  if (!REALTIME_VENDORS.has(name)) return null;
  const { base } = COMPATIBLE_VENDORS[name];
  const differences = differencesOf(name);
  return {
    addressOf: ({ apiBase, upstreamModel }, request) =>
      `${apiBase ?? base ?? ''}/realtime?${sessionQuery('model', upstreamModel, request)}`,
    authHeadersOf: (deployment) => headersOf(deployment, differences, undefined),
  };
}
