import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import { type Endpoint, RERANK, RESPONSES_COMPACT } from '../../domain/inference/endpoint.ts';
import { openAiFrame } from '../../wire/chat-completions/native.ts';
import { upstreamRequest } from '../../wire/chat-completions/request.ts';
import type { NativeDialect } from '../../wire/dialect.ts';
import { MEDIA } from '../../wire/media/native.ts';
import { RESPONSES_FRAME } from '../../wire/responses/native.ts';
import { upstreamResponseRequest } from '../../wire/responses/request.ts';
import type { Protocol } from '../http-provider.ts';
import { mediaRequest } from '../media-request.ts';
import type { Address } from '../passing.ts';
import { type Differences, differencesOf } from './vendors.ts';

/** A vendor who speaks as OpenAI does. A deployment that names an address is called there (`api_base`). */
export function compatibleProtocol(name: CompatibleVendor): Protocol {
  const differences = differencesOf(name);
  const frame = openAiFrame(differences);
  const { base } = COMPATIBLE_VENDORS[name];
  const { completions = true, chats = true, modelName = (model: string) => model } = differences;
  const addressOf = (deployment: Deployment, path: string, contentType?: string): Address => ({
    url: `${deployment.apiBase ?? base ?? ''}${path}`,
    headers: headersOf(deployment, differences, contentType),
  });
  function dialectOf(endpoint: Endpoint, deployment: Deployment): NativeDialect | null {
    const { dialect, medium } = endpoint;
    if (medium !== undefined) return MEDIA[medium];
    if (dialect === 'responses' || endpoint === RESPONSES_COMPACT)
      return answersResponses(deployment, base, differences) ? RESPONSES_FRAME : null;
    if (endpoint === RERANK && differences.reranks !== undefined) return differences.reranks.dialect;
    if (dialect === null) return frame;
    if (deployment.responses === 'only') return null;
    const has = (dialect === 'chat-completions' && chats) || (dialect === 'completions' && completions);
    return has ? frame : null;
  }
  function bodyOf(deployment: Deployment, request: ModelRequest, model: string): Uint8Array {
    const { endpoint, body } = request;
    if (endpoint === RERANK && differences.reranks !== undefined)
      return Buffer.from(JSON.stringify(differences.reranks.request(body, model)));
    return dialectOf(endpoint, deployment) === RESPONSES_FRAME
      ? upstreamResponseRequest(request, model)
      : upstreamRequest(request, model, differences);
  }
  return {
    name,
    dialectOf,
    ...(differences.keepsFiles === true ? { keeps: (deployment, path) => addressOf(deployment, path) } : {}),
    prepare(deployment, request) {
      const { endpoint } = request;
      const model = modelName(deployment.upstreamModel);
      const media = mediaRequest(request, model);
      if (media !== null) return { ...addressOf(deployment, endpoint.path, media.contentType), body: media.body };
      return { ...addressOf(deployment, endpoint.path, 'application/json'), body: bodyOf(deployment, request, model) };
    },
  };
}

/** Whether an upstream answers at `/responses`. Of those who speak as OpenAI does few do, and none say so. */
const answersResponses = (
  { apiBase, responses }: Deployment,
  base: string | null,
  { hasResponses }: Differences,
): boolean =>
  responses === undefined ? hasResponses === true && (apiBase === null || apiBase === base) : responses !== 'never';

/** The headers by which a vendor knows who calls, and what is sent. */
export function headersOf(
  { apiKey, options }: Deployment,
  { headers = {} }: Differences,
  contentType: string | undefined,
): Readonly<Record<string, string>> {
  const sent: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  if (apiKey) sent['authorization'] = `Bearer ${apiKey.reveal()}`;
  for (const [header, option] of Object.entries(headers)) {
    const value = options[option];
    if (value !== undefined) sent[header] = value;
  }
  return sent;
}

/** OpenAI itself, and whoever is not known by name but speaks alike (`api_base`). */
export const openAiCompatible: Protocol = compatibleProtocol('openai');
