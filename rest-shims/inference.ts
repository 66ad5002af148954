import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  EMBEDDINGS,
  type Endpoint,
  IMAGE_EDITS,
  IMAGE_GENERATIONS,
  IMAGE_VARIATIONS,
  MODERATIONS,
  RERANK,
  SPEECH,
  TRANSCRIPTIONS,
  TRANSLATIONS,
} from '../src/domain/inference/endpoint.ts';
import { OCR } from '../src/domain/inference/document-endpoint.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { callThrough, openAiFormat } from './helpers/model-call/model-call.ts';
import { isForMistral, withId } from './helpers/model-call/mistral-clients.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { endpointSchema } from './helpers/http/endpoint-schema.ts';

/** Paths at which the clients of OpenAI and Azure call an endpoint. */
const pathsOf = ({ path }: Endpoint): RouteRow['paths'] => [
  `/v1${path}`,
  path,
  `/engines/:model${path}`,
  `/openai/deployments/:model${path}`,
];

function rowOf(name: string, endpoint: Endpoint, paths = pathsOf(endpoint)): RouteRow {
  const format = openAiFormat(endpoint);
  return {
    name,
    method: 'POST',
    paths,
    surface: 'proxy',
    relays: 'failures',
    credential: 'required',
    statuses: [200, 400, 401, 403, 422, 429, 500, 503],
    bodySchema: endpointSchema(endpoint),
    ...(endpoint.requestEncoding === 'form' ? { bodyType: 'multipart/form-data' as const } : {}),
    bodyLimit: 'setting',
    hot: true,
    handle: (request, scope) => callThrough(format, request, scope),
  };
}

/** Embeddings. The answer to an SDK of Mistral has the `id` that the SDK requires. */
async function embeddings(request: HttpRequest, scope: Scope): Promise<HttpAnswer> {
  const answer = await callThrough(openAiFormat(EMBEDDINGS), request, scope);
  return isForMistral(request) ? withId(answer, `embd-${crypto.randomUUID()}`) : answer;
}

/** Endpoints in the format of OpenAI that call a model, reranking, and reading of documents. */
export const inferenceRoutes: readonly RouteRow[] = [
  rowOf('chat.completions', CHAT_COMPLETIONS),
  rowOf('completions.create', COMPLETIONS),
  { ...rowOf('embeddings.create', EMBEDDINGS), handle: embeddings },
  rowOf('moderations.create', MODERATIONS, ['/v1/moderations', '/moderations']),
  rowOf('speech.create', SPEECH, ['/v1/audio/speech', '/audio/speech']),
  rowOf('images.generate', IMAGE_GENERATIONS),
  rowOf('images.edit', IMAGE_EDITS),
  rowOf('images.variation', IMAGE_VARIATIONS),
  rowOf('transcriptions.create', TRANSCRIPTIONS),
  rowOf('translations.create', TRANSLATIONS),
  rowOf('rerank.create', RERANK, ['/v1/rerank', '/v2/rerank', '/rerank']),
  rowOf('ocr.create', OCR, ['/v1/ocr', '/ocr']),
];
