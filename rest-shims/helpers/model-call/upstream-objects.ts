import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { ShownCall } from '../../../resolvers/operation/object-calls.ts';
import type { ShownPage } from '../../../resolvers/operation/upstream-objects.ts';
import type { ObjectPage } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { callHeaders, callContext } from './model-call.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from '../http/route.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { type JsonSchema, objectSchema } from '../http/schema.ts';
import { invalidParameter } from '../http/query.ts';

/** Maximum value of the parameter `limit`, unless a list has its own maximum. A higher value is refused. */
const MAX_LIMIT = 10_000;
/** Maximum number of objects on a page. A valid `limit` above it gives a page of this size. */
const MAX_PAGE_SIZE = 1_000;

/** Fields that select the upstream of a new object. They are not forwarded. */
export const PLACEMENT_FIELDS = ['model', 'target_model_names', 'custom_llm_provider'] as const;

/**
 * Requested model and provider of a new object: from a field, the query or a header, in this order. Throws InvalidInput
 * for several target models.
 */
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

/** Parses the requested page of a list. `path` is for errors. Throws InvalidInput. */
export function parsePage(
  { search }: HttpRequest,
  path: string,
  { defaultLimit, max = MAX_LIMIT }: { readonly defaultLimit: number; readonly max?: number },
): Omit<ObjectPage, 'kind'> {
  const query = new URLSearchParams(search);
  const limit = query.get('limit') ?? String(defaultLimit);
  const order = query.get('order') ?? 'desc';
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > max)
    throw invalidParameter(path, 'limit', `a whole number from 1 to ${max}`);
  if (order !== 'asc' && order !== 'desc') throw invalidParameter(path, 'order', "'asc' or 'desc'");
  return {
    purpose: query.get('purpose'),
    after: query.get('after'),
    limit: Math.min(Number(limit), MAX_PAGE_SIZE),
    oldestFirst: order === 'asc',
  };
}

/** Schema of the parameters of `parsePage`. */
export const pageSchema = (max: number = MAX_LIMIT): JsonSchema =>
  objectSchema({
    limit: { type: 'integer', minimum: 1, maximum: max },
    order: { enum: ['asc', 'desc'] },
    after: { type: 'string' },
    purpose: { type: 'string' },
  });

/** The id of the stored object in the path, with the context of the call. */
export const objectFromPath = (request: HttpRequest) => ({ id: request.params['id'] ?? '', ...callContext(request) });

/** A page in OpenAI's format. */
export function listAnswer({ data, hasMore }: ShownPage): HttpAnswer {
  const idOf = (at: number): unknown => data.at(at)?.['id'] ?? null;
  const value = { object: 'list', data, first_id: idOf(0), last_id: idOf(-1), has_more: hasMore };
  return { body: { kind: 'json', value } };
}

/** Answers with an object, with the headers of the upstream call. */
export function objectAnswer({ call, shown }: ShownCall, scope: Scope): HttpAnswer {
  return { headerLines: callHeaders(call, scope), body: { kind: 'json', value: shown } };
}

/** Common facts of rows about stored objects. As in the reference, requests to them are not counted as activity. */
export const STORED_OBJECT_ROW = {
  surface: 'proxy',
  relays: 'failures',
  credential: 'required',
} as const satisfies Partial<RouteRow>;
