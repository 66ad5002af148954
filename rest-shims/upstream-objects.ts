import type { ShownCall, ShownPage } from '../resolvers/upstream-objects.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { ObjectPage } from '../src/domain/upstream-objects/upstream-object.ts';
import { headOf } from './model-call/model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './http/route.ts';
import type { Scope } from '../resolvers/operation/scope.ts';

/** Most objects of a page that are given, whatever is asked for. */
const MOST_GIVEN = 1_000;
/** How many may be asked for where nothing else is said. */
const MOST_ASKED = 10_000;

/** What says where something is to be kept, and is the gateway's alone. */
export const PLACE_FIELDS = ['model', 'target_model_names', 'custom_llm_provider'] as const;

/** Where the caller wants something kept: by a field, the query or a header, in this order. */
export function wantedOf(
  { search, headers }: HttpRequest,
  fields: Readonly<Record<string, unknown>>,
): { readonly model: string | null; readonly provider: string | null } {
  const query = new URLSearchParams(search);
  const said = (field: string, header: string): string | null => {
    const value = fields[field] ?? query.get(field) ?? headers[header] ?? null;
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const names = said('target_model_names', 'x-litellm-target-model-names')?.split(',') ?? [];
  if (names.length > 1) throw invalid('/files', 'target_model_names', 'one name: a file is kept at one upstream');
  const model = said('model', 'x-litellm-model') ?? names[0]?.trim() ?? null;
  return { model, provider: said('custom_llm_provider', 'custom-llm-provider') };
}

/** A value a parameter cannot have; `wanted` completes "must be". */
function invalid(path: string, parameter: string, wanted: string): InvalidInput {
  const message = `${path}: Invalid value for parameter '${parameter}': it must be ${wanted}.`;
  return new InvalidInput(message, [{ path: ['query', parameter], rule: 'value', message }]);
}

/** The page of a list that a query asks for. */
export function pageOf(
  { search }: HttpRequest,
  path: string,
  { usual, most = MOST_ASKED }: { readonly usual: number; readonly most?: number },
): Omit<ObjectPage, 'kind'> {
  const query = new URLSearchParams(search);
  const limit = query.get('limit') ?? String(usual);
  const order = query.get('order') ?? 'desc';
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > most)
    throw invalid(path, 'limit', `a whole number from 1 to ${most}`);
  if (order !== 'asc' && order !== 'desc') throw invalid(path, 'order', "'asc' or 'desc'");
  return {
    purpose: query.get('purpose'),
    after: query.get('after'),
    limit: Math.min(Number(limit), MOST_GIVEN),
    oldestFirst: order === 'asc',
  };
}

/** A page as OpenAI's clients read it. */
export function listAnswer({ data, hasMore }: ShownPage): HttpAnswer {
  const idOf = (at: number): unknown => data.at(at)?.['id'] ?? null;
  const value = { object: 'list', data, first_id: idOf(0), last_id: idOf(-1), has_more: hasMore };
  return { body: { kind: 'json', value } };
}

/** An object, with what is known of the call that showed it. */
export function objectAnswer({ call, shown }: ShownCall, scope: Scope): HttpAnswer {
  return { head: headOf(call, scope), body: { kind: 'json', value: shown } };
}

/** What every row about kept things has in common. Not counted as activity: the reference does not. */
export const KEPT = {
  surface: 'proxy',
  category: null,
  credential: 'required',
} as const satisfies Partial<RouteRow>;
