import { getModel, listModels } from '../resolvers/models.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type HttpRequest, json, route, type RouteRow } from './http/route.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Models of one page, where the caller does not say, and at most. */
const USUAL = 50;
const MOST = 1_000;

/** Modes of the catalog in which a model makes no conversation. */
const SILENT = new Set([
  'audio_speech',
  'audio_transcription',
  'embedding',
  'image_edit',
  'image_generation',
  'moderation',
  'rerank',
  'video_generation',
]);

/** A model as Google describes one; limits where the catalog knows them. */
function modelObject({ name, entry }: NamedModel): object {
  const limit = (member: string, said: string): object => {
    const most = entry?.row[said];
    return typeof most === 'number' ? { [member]: most } : {};
  };
  return {
    name: `models/${name}`,
    version: '001',
    displayName: name,
    ...limit('inputTokenLimit', 'max_input_tokens'),
    ...limit('outputTokenLimit', 'max_output_tokens'),
    supportedGenerationMethods: SILENT.has(entry?.mode ?? '') ? [] : ['generateContent', 'countTokens'],
  };
}

interface Page {
  readonly size: number;
  /** Name of the last model of the page before; null begins. */
  readonly after: string | null;
}

function pageOf({ search }: HttpRequest): Page {
  const query = new URLSearchParams(search);
  const said = query.get('pageSize') ?? query.get('page_size') ?? '';
  // Zero is the usual there, and more than the most is the most.
  if (!/^\d{0,9}$/.test(said)) throw invalid('pageSize', 'a whole number');
  const token = query.get('pageToken') ?? query.get('page_token') ?? '';
  return {
    size: Math.min(Number(said) || USUAL, MOST),
    after: token === '' ? null : Buffer.from(token, 'base64url').toString('utf8'),
  };
}

function invalid(parameter: string, wanted: string): InvalidInput {
  const message = `/models: Invalid value for parameter '${parameter}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['query', parameter], rule: 'value', message }]);
}

/** A page of models. Throws InvalidInput for one that follows no model of the list. */
function listObject(models: readonly NamedModel[], { size, after }: Page): object {
  const last = models.findIndex(({ name }) => name === after);
  if (after !== null && last === -1) throw invalid('pageToken', 'one that a list gave');
  const page = models.slice(last + 1, last + 1 + size);
  const end = page.at(-1);
  const more = end !== undefined && last + 1 + size < models.length;
  return {
    models: page.map(modelObject),
    ...(more ? { nextPageToken: Buffer.from(end.name).toString('base64url') } : {}),
  };
}

/** What the rows have in common. Not counted as activity: nothing is asked of a model. */
const ROW = {
  method: 'GET',
  surface: 'gemini',
  category: null,
  credential: 'required',
  keyParameter: 'key',
  bodyLimit: 0,
} as const satisfies Partial<RouteRow>;

/** The models that can be asked, for Google's clients. */
export const generateContentModelRoutes: readonly RouteRow[] = [
  {
    ...ROW,
    name: 'content.models',
    paths: ['/v1beta/models', '/gemini/v1beta/models'],
    answers: [200, 400, 401],
    handle: (request, scope) => json(listObject(listModels(scope, { withWildcards: false }), pageOf(request))),
  },
  route({
    ...ROW,
    name: 'content.model',
    paths: ['/v1beta/models/*', '/gemini/v1beta/models/*'],
    answers: [200, 401, 404],
    parse: ({ params }) => ({ id: params['*'] ?? '' }),
    run: getModel,
    render: (model) => json(modelObject(model)),
  }),
];
