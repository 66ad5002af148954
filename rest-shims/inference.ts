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
import { callThrough, openAiDoor } from './model-call/model-call.ts';
import type { RouteRow } from './http/route.ts';

/** Where OpenAI's and Azure's clients look for an endpoint. */
const pathsOf = ({ path }: Endpoint): RouteRow['paths'] => [
  `/v1${path}`,
  path,
  `/engines/:model${path}`,
  `/openai/deployments/:model${path}`,
];

function rowOf(name: string, endpoint: Endpoint, paths = pathsOf(endpoint)): RouteRow {
  const door = openAiDoor(endpoint);
  return {
    name,
    method: 'POST',
    paths,
    surface: 'proxy',
    category: 'llm',
    credential: 'required',
    answers: [200, 400, 401, 403, 422, 429, 500, 503],
    bodyLimit: 'setting',
    hot: true,
    handle: (request, scope) => callThrough(door, request, scope),
  };
}

/** The endpoints whose calls go to a model, in the dialect they came in. */
export const inferenceRoutes: readonly RouteRow[] = [
  rowOf('chat.completions', CHAT_COMPLETIONS),
  rowOf('completions.create', COMPLETIONS),
  rowOf('embeddings.create', EMBEDDINGS),
  rowOf('moderations.create', MODERATIONS, ['/v1/moderations', '/moderations']),
  rowOf('speech.create', SPEECH, ['/v1/audio/speech', '/audio/speech']),
  rowOf('images.generate', IMAGE_GENERATIONS),
  rowOf('images.edit', IMAGE_EDITS),
  rowOf('images.variation', IMAGE_VARIATIONS),
  rowOf('transcriptions.create', TRANSCRIPTIONS),
  rowOf('translations.create', TRANSLATIONS),
  rowOf('rerank.create', RERANK, ['/v1/rerank', '/v2/rerank', '/rerank']),
];
