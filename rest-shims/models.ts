import { getModel, listModelsOf } from '../resolvers/models.ts';
import { FALLBACK_TYPES, type FallbackType } from '../src/domain/fallbacks/fallback.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { generateContentModel, generateContentModelList } from './generate-content-models.ts';
import { isForMistral } from './model-call/mistral-clients.ts';
import { messagesModel, messagesModelList } from './messages-models.ts';
import { type HttpRequest, json, route, type RouteRow } from './http/route.ts';
import { isForTypesafe, typesafeModel } from './typesafe-models.ts';
import { textParameters } from './http/schema.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Model in OpenAI's format, with its mode and limits if the catalog knows them. `created` and `owned_by` are constants. */
function modelObject({ name, entry }: NamedModel) {
  const known = (member: string) => {
    const value = entry?.row[member];
    return typeof value === 'number' || typeof value === 'string' ? { [member]: value } : {};
  };
  return {
    id: name,
    object: 'model',
    created: 1677610602,
    owned_by: 'openai',
    ...known('mode'),
    ...known('max_input_tokens'),
    ...known('max_output_tokens'),
  };
}

/** Members that Mistral's SDKs need besides. A model that the catalog does not know is taken for a chat model. */
function mistralMembers({ entry }: NamedModel) {
  const supports = (feature: string): boolean => entry?.row[`supports_${feature}`] === true;
  return {
    type: 'base',
    capabilities: {
      completion_chat: entry === null || entry.mode === 'chat',
      function_calling: supports('function_calling'),
      vision: supports('vision'),
    },
  };
}

/** Anthropic's clients send this header, and read models in Anthropic's format. */
const isForAnthropic = ({ headers }: HttpRequest): boolean => headers['anthropic-version'] !== undefined;

/** Google's SDKs send one of these headers, and read models in Google's format. */
const isForGoogle = ({ headers }: HttpRequest): boolean =>
  headers['x-goog-api-client'] !== undefined || headers['x-goog-api-key'] !== undefined;

/** Fallbacks that a request asks for; null for none. Throws InvalidInput. */
function fallbackTypeIn(query: URLSearchParams): FallbackType | null {
  if (query.get('include_metadata')?.toLowerCase() !== 'true') return null;
  const sent = query.get('fallback_type') ?? 'general';
  const type = FALLBACK_TYPES.find((one) => one === sent);
  if (type !== undefined) return type;
  throw new InvalidInput(`Invalid fallback_type. It must be one of: ${FALLBACK_TYPES.join(', ')}`, [], {
    field: 'fallback_type',
  });
}

const withWildcards = ({ search }: HttpRequest): boolean =>
  new URLSearchParams(search).get('return_wildcard_routes')?.toLowerCase() === 'true';

/** Lists of callable models. */
export const modelRoutes: readonly RouteRow[] = [
  route({
    name: 'models.list',
    query: textParameters(
      'return_wildcard_routes',
      'team_id',
      'include_model_access_groups',
      'only_model_access_groups',
      'include_metadata',
      'fallback_type',
    ),
    method: 'GET',
    paths: ['/v1/models', '/models', '/ide/models', '/cursor/models', '/cursor/v1/models'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 400, 401, 403, 404, 422],
    bodyLimit: 0,
    parse(request) {
      const query = new URLSearchParams(request.search);
      const isTrue = (name: string): boolean => query.get(name)?.toLowerCase() === 'true';
      const also = isTrue('include_model_access_groups') ? ('also' as const) : null;
      const groups = isTrue('only_model_access_groups') ? ('only' as const) : also;
      const fallbackType = fallbackTypeIn(query);
      return { withWildcards: withWildcards(request), teamId: query.get('team_id') || null, groups, fallbackType };
    },
    run: listModelsOf,
    render(models, request) {
      if (isForAnthropic(request)) return messagesModelList(models, request);
      if (isForGoogle(request)) return json(generateContentModelList(models, request));
      const isAsked = fallbackTypeIn(new URLSearchParams(request.search)) !== null;
      const membersOf = isForMistral(request) ? mistralMembers : () => ({});
      const data = models.map((model) => ({
        ...modelObject(model),
        ...membersOf(model),
        ...(isAsked ? { metadata: { fallbacks: model.fallbacks } } : {}),
      }));
      const forTypesafe = isForTypesafe(request) ? { models: models.map(typesafeModel) } : {};
      return json({ object: 'list', data, ...forTypesafe });
    },
  }),
  route({
    name: 'models.get',
    method: 'GET',
    paths: ['/v1/models/{*model}', '/models/{*model}'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 401, 404],
    bodyLimit: 0,
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render(model, request) {
      if (isForAnthropic(request)) return json(messagesModel(model));
      if (isForGoogle(request)) return json(generateContentModel(model));
      return json({ ...modelObject(model), ...(isForMistral(request) ? mistralMembers(model) : {}) });
    },
  }),
];
