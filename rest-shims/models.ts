import { getModel, listModels } from '../resolvers/models.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { messagesModel, messagesModelList } from './messages-models.ts';
import { type HttpRequest, json, route, type RouteRow } from './http/route.ts';

type NamedModel = ReturnType<typeof getModel>;

/** The reference gives every model these; clients have come to expect them. */
const modelObject = ({ name }: Pick<NamedModel, 'name'>): object => ({
  id: name,
  object: 'model',
  created: 1677610602,
  owned_by: 'openai',
});

/** No model falls back to another here, in any of the ways there are. */
const WITHOUT_FALLBACKS = { metadata: { fallbacks: [] } };
const FALLBACK_TYPES = new Set(['general', 'context_window', 'content_policy']);

/** Anthropic's clients say so, and read a list of models in a form of their own. */
const isForAnthropic = ({ headers }: HttpRequest): boolean => headers['anthropic-version'] !== undefined;

function metadataOf({ search }: HttpRequest): object {
  const query = new URLSearchParams(search);
  if (query.get('include_metadata')?.toLowerCase() !== 'true') return {};
  const type = query.get('fallback_type');
  if (type === null || FALLBACK_TYPES.has(type)) return WITHOUT_FALLBACKS;
  const message = `/models: Invalid value for parameter 'fallback_type': it must be one of 'general', 'context_window', 'content_policy'.`;
  throw new InvalidInput(message, [{ path: ['query', 'fallback_type'], rule: 'value', message }]);
}

const withWildcards = ({ search }: HttpRequest): boolean =>
  new URLSearchParams(search).get('return_wildcard_routes')?.toLowerCase() === 'true';

/** The models that can be asked. */
export const modelRoutes: readonly RouteRow[] = [
  route({
    name: 'models.list',
    method: 'GET',
    paths: ['/v1/models', '/models', '/ide/models', '/cursor/models'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 400, 401],
    bodyLimit: 0,
    parse(request) {
      const query = new URLSearchParams(request.search);
      const onlyGroups = query.get('only_model_access_groups')?.toLowerCase() === 'true';
      return { withWildcards: withWildcards(request), teamId: query.get('team_id') || null, onlyGroups };
    },
    run: listModels,
    render(models, request) {
      if (isForAnthropic(request)) return messagesModelList(models, request);
      const metadata = metadataOf(request);
      return json({ object: 'list', data: models.map((model) => ({ ...modelObject(model), ...metadata })) });
    },
  }),
  route({
    name: 'models.get',
    method: 'GET',
    paths: ['/v1/models/*', '/models/*'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 401, 404],
    bodyLimit: 0,
    parse: ({ params }) => ({ id: params['*'] ?? '' }),
    run: getModel,
    render: (model, request) => json(isForAnthropic(request) ? messagesModel(model) : modelObject(model)),
  }),
];
