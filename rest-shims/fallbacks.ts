import {
  type ChosenFallback,
  deleteFallback,
  type FallbackView,
  getFallback,
  setFallback,
} from '../resolvers/fallbacks.ts';
import { FALLBACK_TYPES, type FallbackDraft } from '../src/domain/fallbacks/fallback.ts';
import { InvalidInput, type Issue } from '../src/domain/errors.ts';
import { type FieldReader, fields, oneOf, requiredText, requiredTexts } from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { objectSchema } from './helpers/http/schema.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** A list of at least one model, without duplicates. */
const distinctModels: FieldReader<readonly string[]> = (input) => {
  const result = requiredTexts(input);
  if (!('value' in result)) return result;
  if (result.value.length === 0)
    return { rule: 'too_short', message: 'List should have at least 1 item after validation, not 0' };
  if (new Set(result.value).size < result.value.length)
    return { rule: 'value_error', message: 'Value error, a model is named more than once' };
  return result;
};

const readType = oneOf(FALLBACK_TYPES);
const readNew = fields({ model: requiredText, fallback_models: distinctModels, fallback_type: readType });

function parseNew({ body }: HttpRequest): FallbackDraft {
  const values = readNew(body);
  return { model: values.model, targets: values.fallback_models, type: values.fallback_type ?? 'general' };
}

function parseChosenFallback({ params, search }: HttpRequest): ChosenFallback {
  const input = new URLSearchParams(search).get('fallback_type');
  const result = readType(input);
  if ('value' in result) return { model: params['model'] ?? '', type: result.value ?? 'general' };
  const issue: Issue = { ...result, path: ['query', 'fallback_type'], input };
  throw new InvalidInput('The query is not valid.', [issue]);
}

const render = ({ model, targets: models, type: kind }: FallbackView) => ({
  model,
  fallback_models: models,
  fallback_type: kind,
});

const COMMON = { ...MANAGEMENT, failureForm: { body: 'detail' } } as const;
/** A wildcard, because model names may contain slashes. */
const FALLBACK = '/fallback/{*model}';

/** Fallbacks that administrators store at run time, by model. */
export const fallbackRoutes: readonly RouteRow[] = [
  route({
    ...COMMON,
    method: 'POST',
    name: 'fallbacks.set',
    bodySchema: readNew.schema,
    paths: ['/fallback'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 1024 * 1024,
    parse: parseNew,
    run: setFallback,
    render: (fallback) =>
      json({
        ...render(fallback),
        message: `Fallback configuration ${fallback.isNew ? 'created' : 'updated'} successfully`,
      }),
  }),
  route({
    ...COMMON,
    method: 'GET',
    name: 'fallbacks.get',
    querySchema: objectSchema({ fallback_type: { enum: FALLBACK_TYPES } }),
    paths: [FALLBACK],
    statuses: [200, 401, 404, 422],
    bodyLimit: 0,
    parse: parseChosenFallback,
    run: getFallback,
    render: (found) => json(render(found)),
  }),
  route({
    ...COMMON,
    method: 'DELETE',
    name: 'fallbacks.delete',
    querySchema: objectSchema({ fallback_type: { enum: FALLBACK_TYPES } }),
    paths: [FALLBACK],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: 0,
    parse: parseChosenFallback,
    run: deleteFallback,
    render: (removed) =>
      json({
        model: removed.model,
        fallback_type: removed.type,
        message: 'Fallback configuration deleted successfully',
      }),
  }),
];
