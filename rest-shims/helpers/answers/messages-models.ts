import type { getModel } from '../../../resolvers/models.ts';
import { type HttpRequest } from '../http/route.ts';
import { invalidParameter } from '../http/query.ts';

type NamedModel = ReturnType<typeof getModel>;

/** Creation time of every model, because the catalog has no creation times. */
const CREATED_AT = '2023-02-28T18:56:42Z';
/** Maximum number of models on a page. */
export const MESSAGES_MODELS_LIMIT = 1_000;

/** A model in Anthropic's format. */
export function messagesModel({ name, entry }: NamedModel) {
  const limit = (column: string): number | null => {
    const value = entry?.row[column];
    return typeof value === 'number' ? value : null;
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

/**
 * A page of models in Anthropic's format. The default limit is 1,000. `before_id` has precedence over `after_id`.
 * Throws InvalidInput for an invalid limit, and for the id of an unknown model.
 */
export function messagesModelList(models: readonly NamedModel[], { search }: HttpRequest) {
  const query = new URLSearchParams(search);
  const input = query.get('limit') ?? String(MESSAGES_MODELS_LIMIT);
  if (!/^\d{1,4}$/.test(input) || Number(input) < 1 || Number(input) > MESSAGES_MODELS_LIMIT)
    throw invalidParameter('/models', 'limit', `a whole number from 1 to ${MESSAGES_MODELS_LIMIT}`);
  const limit = Number(input);
  const indexIn = (parameter: string): number | null => {
    const id = query.get(parameter);
    if (id === null) return null;
    const index = models.findIndex(({ name }) => name === id);
    if (index === -1) throw invalidParameter('/models', parameter, 'the id of a model of the list');
    return index;
  };
  const before = indexIn('before_id');
  const after = indexIn('after_id');
  const firstAfter = after === null ? 0 : after + 1;
  const [start, end] = before === null ? [firstAfter, firstAfter + limit] : [Math.max(0, before - limit), before];
  const page = models.slice(start, end);
  return {
    data: page.map(messagesModel),
    has_more: before === null ? end < models.length : start > 0,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}
