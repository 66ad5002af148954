import { getModel, listModels } from '../resolvers/models.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './http/route.ts';
import { merged, objectSchema, textParameters } from './http/schema.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Constant time, as in OpenAI's format. */
const CREATED_AT = '2023-02-28T18:56:42Z';
/** Most models on a page. */
const MOST = 1_000;

/** A model in Anthropic's format. */
export function messagesModel({ name, entry }: NamedModel) {
  const limit = (column: string): number | null => {
    const most = entry?.row[column];
    return typeof most === 'number' ? most : null;
  };
  return {
    type: 'model',
    id: name,
    display_name: name,
    created_at: CREATED_AT,
    max_input_tokens: limit('max_input_tokens'),
    max_tokens: limit('max_output_tokens'),
  };
}

function invalid(parameter: string, wanted: string): InvalidInput {
  const message = `/models: Invalid value for parameter '${parameter}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['query', parameter], rule: 'value', message }]);
}

/** A page of models in Anthropic's format. All models when no limit is given. Throws InvalidInput. */
export function messagesModelList(models: readonly NamedModel[], { search }: HttpRequest): HttpAnswer {
  const query = new URLSearchParams(search);
  const sent = query.get('limit') ?? String(MOST);
  if (!/^\d{1,4}$/.test(sent) || Number(sent) < 1 || Number(sent) > MOST)
    throw invalid('limit', `a whole number from 1 to ${MOST}`);
  const limit = Number(sent);
  const placeOf = (parameter: string): number | null => {
    const id = query.get(parameter);
    if (id === null) return null;
    const at = models.findIndex(({ name }) => name === id);
    if (at === -1) throw invalid(parameter, 'the id of a model of the list');
    return at;
  };
  const before = placeOf('before_id');
  const after = placeOf('after_id');
  const start = before === null ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const end = before ?? start + limit;
  const page = models.slice(start, end);
  return json({
    data: page.map(messagesModel),
    has_more: before === null ? end < models.length : start > 0,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  });
}

/** Common facts of the rows. They call no model, so they are not counted as activity. */
const ROW = {
  method: 'GET',
  surface: 'anthropic',
  category: null,
  credential: 'required',
  bodyLimit: 0,
} as const satisfies Partial<RouteRow>;

/** Lists of callable models, at paths of Anthropic's clients only. */
export const messagesModelRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'messages.models',
    query: merged(
      textParameters('before_id', 'after_id'),
      objectSchema({ limit: { type: 'integer', minimum: 1, maximum: MOST } }),
    ),
    paths: ['/anthropic/v1/models'],
    answers: [200, 400, 401],
    parse: () => ({ withWildcards: false }),
    run: listModels,
    render: messagesModelList,
  }),
  route({
    ...ROW,
    name: 'messages.model',
    paths: ['/anthropic/v1/models/{*model}'],
    answers: [200, 401, 404],
    parse: ({ params }) => ({ id: params['model'] ?? '' }),
    run: getModel,
    render: (model) => json(messagesModel(model)),
  }),
];
