import { getModel, listModels, listModelsOf } from '../resolvers/models.ts';
import { FALLBACK_TYPES, type FallbackType } from '../src/domain/fallbacks/fallback.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { generateContentModel, generateContentModelList } from './helpers/answers/generate-content-models.ts';
import { isForMistral } from './helpers/model-call/mistral-clients.ts';
import { MESSAGES_MODELS_LIMIT, messagesModel, messagesModelList } from './helpers/answers/messages-models.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { isForTypesafe, typesafeModel } from './helpers/answers/typesafe-sdk-models.ts';
import { merged, objectSchema, textParameters } from './helpers/http/schema.ts';

type NamedModel = ReturnType<typeof getModel>;

/** A model in OpenAI's format, with mode and limits if the catalog has them. `created` and `owned_by` are constants. */
function modelObject({ name, entry }: NamedModel) {
  const catalogMember = (member: string) => {
    const value = entry?.row[member];
    return typeof value === 'number' || typeof value === 'string' ? { [member]: value } : {};
  };
  return {
    id: name,
    object: 'model',
    created: 1677610602,
    owned_by: 'openai',
    ...catalogMember('mode'),
    ...catalogMember('max_input_tokens'),
    ...catalogMember('max_output_tokens'),
  };
}

/** Further members that Mistral's SDKs require. A model that is not in the catalog counts as a chat model. */
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

/** Whether the client expects models in Anthropic's format. */
const isForAnthropic = ({ headers }: HttpRequest): boolean => headers['anthropic-version'] !== undefined;

/** Whether the client expects models in Google's format. */
const isForGoogle = ({ headers }: HttpRequest): boolean =>
  headers['x-goog-api-client'] !== undefined || headers['x-goog-api-key'] !== undefined;

/** Type of the requested fallbacks; null if none are requested. Throws InvalidInput. */
function parseFallbackType(query: URLSearchParams): FallbackType | null {
  if (query.get('include_metadata')?.toLowerCase() !== 'true') return null;
  const input = query.get('fallback_type') ?? 'general';
  const type = FALLBACK_TYPES.find((name) => name === input);
  if (type !== undefined) return type;
  throw new InvalidInput(`Invalid fallback_type. It must be one of: ${FALLBACK_TYPES.join(', ')}`, [], {
    field: 'fallback_type',
  });
}

const withWildcards = ({ search }: HttpRequest): boolean =>
  new URLSearchParams(search).get('return_wildcard_routes')?.toLowerCase() === 'true';

/** Common facts of the rows. */
const READING = {
  method: 'GET',
  surface: 'proxy',
  credential: 'required',
  bodyLimit: 0,
} as const;
const READING_FOR_GOOGLE = { ...READING, surface: 'gemini', keyParameter: 'key' } as const;
const READING_FOR_ANTHROPIC = { ...READING, surface: 'anthropic' } as const;

/** Callable models, in the formats of OpenAI, Google and Anthropic. */
export const modelRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'models.list',
    querySchema: textParameters(
      'return_wildcard_routes',
      'team_id',
      'include_model_access_groups',
      'only_model_access_groups',
      'include_metadata',
      'fallback_type',
    ),
    paths: ['/v1/models', '/models', '/ide/models', '/cursor/models', '/cursor/v1/models'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse(request) {
      const query = new URLSearchParams(request.search);
      const isTrue = (name: string): boolean => query.get(name)?.toLowerCase() === 'true';
      // `also`: access groups are listed after the models. `only`: they are listed instead of the models.
      const also = isTrue('include_model_access_groups') ? ('also' as const) : null;
      const groups = isTrue('only_model_access_groups') ? ('only' as const) : also;
      const fallbackType = parseFallbackType(query);
      return { withWildcards: withWildcards(request), teamId: query.get('team_id') || null, groups, fallbackType };
    },
    run: listModelsOf,
    render(models, request) {
      if (isForAnthropic(request)) return json(messagesModelList(models, request));
      if (isForGoogle(request)) return json(generateContentModelList(models, request));
      const withFallbacks = parseFallbackType(new URLSearchParams(request.search)) !== null;
      const membersOf = isForMistral(request) ? mistralMembers : () => ({});
      const data = models.map((model) => ({
        ...modelObject(model),
        ...membersOf(model),
        ...(withFallbacks ? { metadata: { fallbacks: model.fallbacks } } : {}),
      }));
      // TypeSafe's SDK reads `models`, other clients read `data`.
      const forTypesafe = isForTypesafe(request) ? { models: models.map(typesafeModel) } : {};
      return json({ object: 'list', data, ...forTypesafe });
    },
  }),
  route({
    ...READING,
    name: 'models.get',
    paths: ['/v1/models/{*model}', '/models/{*model}'],
    statuses: [200, 401, 404],
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render(model, request) {
      if (isForAnthropic(request)) return json(messagesModel(model));
      if (isForGoogle(request)) return json(generateContentModel(model));
      return json({ ...modelObject(model), ...(isForMistral(request) ? mistralMembers(model) : {}) });
    },
  }),
  route({
    ...READING_FOR_GOOGLE,
    name: 'content.models',
    querySchema: textParameters('pageSize', 'pageToken'),
    paths: ['/v1beta/models', '/gemini/v1beta/models'],
    statuses: [200, 400, 401],
    parse: () => ({ withWildcards: false }),
    run: listModels,
    render: (models, request) => json(generateContentModelList(models, request)),
  }),
  route({
    ...READING_FOR_GOOGLE,
    name: 'content.model',
    paths: ['/v1beta/models/{*model}', '/gemini/v1beta/models/{*model}'],
    statuses: [200, 401, 404],
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render: (model) => json(generateContentModel(model)),
  }),
  route({
    ...READING_FOR_ANTHROPIC,
    name: 'messages.models',
    querySchema: merged(
      textParameters('before_id', 'after_id'),
      objectSchema({ limit: { type: 'integer', minimum: 1, maximum: MESSAGES_MODELS_LIMIT } }),
    ),
    paths: ['/anthropic/v1/models'],
    statuses: [200, 400, 401],
    parse: () => ({ withWildcards: false }),
    run: listModels,
    render: (models, request) => json(messagesModelList(models, request)),
  }),
  route({
    ...READING_FOR_ANTHROPIC,
    name: 'messages.model',
    paths: ['/anthropic/v1/models/{*model}'],
    statuses: [200, 401, 404],
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render: (model) => json(messagesModel(model)),
  }),
];
