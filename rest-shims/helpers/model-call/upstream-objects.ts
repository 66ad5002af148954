import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { ShownCall, ShownPage } from '../../../resolvers/operation/upstream-objects.ts';
import type { ObjectPage } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { headOf, callFactsOf } from './model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from '../http/route.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { type JsonSchema, objectSchema } from '../http/schema.ts';
import { invalidParameter } from '../http/query.ts';

/** Most objects on a page. Higher limits are accepted and clamped. */
const PAGE_LIMIT = 1_000;
/** Highest accepted `limit`, unless a route sets another. */
const HIGHEST_LIMIT = 10_000;

/** Fields that select the upstream of a new object. They are not forwarded. */
export const PLACEMENT_FIELDS = ['model', 'target_model_names', 'custom_llm_provider'] as const;

/** Requested model and provider of a new object: from a field, the query or a header, in this order. */
export function placementOf(
  { search, headers }: HttpRequest,
  fields: JsonObject,
): { readonly model: string | null; readonly provider: string | null } {
  const query = new URLSearchParams(search);
  const valueOf = (field: string, header: string): string | null => {
    const value = fields[field] ?? query.get(field) ?? headers[header] ?? null;
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const names = valueOf('target_model_names', 'x-litellm-target-model-names')?.split(',') ?? [];
  if (names.length > 1) throw invalidParameter('/files', 'target_model_names', 'one name: one upstream stores a file');
  const model = valueOf('model', 'x-litellm-model') ?? names[0]?.trim() ?? null;
  return { model, provider: valueOf('custom_llm_provider', 'custom-llm-provider') };
}

/** Parses the page of a list. Throws InvalidInput. */
export function pageOf(
  { search }: HttpRequest,
  path: string,
  { usual, most = HIGHEST_LIMIT }: { readonly usual: number; readonly most?: number },
): Omit<ObjectPage, 'kind'> {
  const query = new URLSearchParams(search);
  const limit = query.get('limit') ?? String(usual);
  const order = query.get('order') ?? 'desc';
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > most)
    throw invalidParameter(path, 'limit', `a whole number from 1 to ${most}`);
  if (order !== 'asc' && order !== 'desc') throw invalidParameter(path, 'order', "'asc' or 'desc'");
  return {
    purpose: query.get('purpose'),
    after: query.get('after'),
    limit: Math.min(Number(limit), PAGE_LIMIT),
    oldestFirst: order === 'asc',
  };
}

/** Parameters of the page of a list. */
export const pageSchema = (most: number = HIGHEST_LIMIT): JsonSchema =>
  objectSchema({
    limit: { type: 'integer', minimum: 1, maximum: most },
    order: { enum: ['asc', 'desc'] },
    after: { type: 'string' },
    purpose: { type: 'string' },
  });

/** The stored object that a path names, with the facts of the call. */
export const objectIn = (request: HttpRequest) => ({ id: request.params['id'] ?? '', ...callFactsOf(request) });

/** A page in OpenAI's format. */
export function listAnswer({ data, hasMore }: ShownPage): HttpAnswer {
  const idOf = (at: number): unknown => data.at(at)?.['id'] ?? null;
  const value = { object: 'list', data, first_id: idOf(0), last_id: idOf(-1), has_more: hasMore };
  return { body: { kind: 'json', value } };
}

/** An object, with the headers of the call that read it. */
export function objectAnswer({ call, shown }: ShownCall, scope: Scope): HttpAnswer {
  return { head: headOf(call, scope), body: { kind: 'json', value: shown } };
}

/** Common facts of the rows for stored objects. They are not counted as activity, as in the reference. */
export const STORED_OBJECTS = {
  surface: 'proxy',
  category: null,
  relays: 'failures',
  credential: 'required',
} as const satisfies Partial<RouteRow>;
