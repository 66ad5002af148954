import { getModel, listModels } from '../resolvers/models.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type HttpRequest, json, route, type RouteRow } from './http/route.ts';
import { textParameters } from './http/schema.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Default and maximum number of models on a page. */
const USUAL = 50;
const MOST = 1_000;

/** Modes of models that are not for conversations. */
const SILENT = new Set([
  'audio_speech',
  'audio_transcription',
  'image_edit',
  'image_generation',
  'moderation',
  'rerank',
  'video_generation',
]);

/** A model in Google's format. Limits are there if the catalog has them. */
export function generateContentModel({ name, entry }: NamedModel) {
  const limit = (member: string, column: string) => {
    const most = entry?.row[column];
    return typeof most === 'number' ? { [member]: most } : {};
  };
  return {
    name: `models/${name}`,
    version: '001',
    displayName: name,
    ...limit('inputTokenLimit', 'max_input_tokens'),
    ...limit('outputTokenLimit', 'max_output_tokens'),
    supportedGenerationMethods: methodsOf(entry?.mode ?? ''),
  };
}

function methodsOf(mode: string): readonly string[] {
  if (mode === 'embedding') return ['embedContent', 'batchEmbedContents'];
  return SILENT.has(mode) ? [] : ['generateContent', 'countTokens'];
}

interface Page {
  readonly size: number;
  /** Name of the last model of the previous page; null for the first page. */
  readonly after: string | null;
}

function pageOf({ search }: HttpRequest): Page {
  const query = new URLSearchParams(search);
  const sent = query.get('pageSize') ?? query.get('page_size') ?? '';
  // Zero requests the default size.
  if (!/^\d{0,9}$/.test(sent)) throw invalid('pageSize', 'a whole number');
  const token = query.get('pageToken') ?? query.get('page_token') ?? '';
  return {
    size: Math.min(Number(sent) || USUAL, MOST),
    after: token === '' ? null : Buffer.from(token, 'base64url').toString('utf8'),
  };
}

function invalid(parameter: string, wanted: string): InvalidInput {
  const message = `/models: Invalid value for parameter '${parameter}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['query', parameter], rule: 'value', message }]);
}

/** A page of models in Google's format. Throws InvalidInput for a page token that no list returned. */
export function generateContentModelList(models: readonly NamedModel[], request: HttpRequest) {
  const { size, after } = pageOf(request);
  const last = models.findIndex(({ name }) => name === after);
  if (after !== null && last === -1) throw invalid('pageToken', 'one that a list returned');
  const page = models.slice(last + 1, last + 1 + size);
  const end = page.at(-1);
  const more = end !== undefined && last + 1 + size < models.length;
  return {
    models: page.map(generateContentModel),
    ...(more ? { nextPageToken: Buffer.from(end.name).toString('base64url') } : {}),
  };
}

/** Common facts of the rows. They call no model, so they are not counted as activity. */
const ROW = {
  method: 'GET',
  surface: 'gemini',
  category: null,
  credential: 'required',
  keyParameter: 'key',
  bodyLimit: 0,
} as const satisfies Partial<RouteRow>;

/** Lists of callable models in Google's format. */
export const generateContentModelRoutes: readonly RouteRow[] = [
  {
    ...ROW,
    name: 'content.models',
    query: textParameters('pageSize', 'pageToken'),
    paths: ['/v1beta/models', '/gemini/v1beta/models'],
    answers: [200, 400, 401],
    handle: (request, scope) => json(generateContentModelList(listModels(scope, { withWildcards: false }), request)),
  },
  route({
    ...ROW,
    name: 'content.model',
    paths: ['/v1beta/models/{*model}', '/gemini/v1beta/models/{*model}'],
    answers: [200, 401, 404],
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render: (model) => json(generateContentModel(model)),
  }),
];
