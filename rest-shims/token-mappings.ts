import {
  createTokenMapping,
  deleteTokenMapping,
  getTokenMapping,
  listTokenMappings,
  updateTokenMapping,
} from '../resolvers/token-mappings.ts';
import type { TokenMapping } from '../src/domain/token-mappings/token-mapping.ts';
import { fields, flag, optional, members, parseObject, requiredText, text } from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { integer, query, requiredText as requiredQueryText } from './helpers/http/query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { withoutUndefined } from './helpers/fields/limits.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 50;

const readNew = members({
  jwt_claim_name: requiredText,
  jwt_claim_value: requiredText,
  key: requiredText,
  description: text,
  is_active: flag,
});
const readChange = members({ id: requiredText, key: text, description: optional(text), is_active: flag });
const readId = fields({ id: requiredText });
const readQueryId = query({ id: requiredQueryText });
const readPage = query({
  page: integer({ min: 1, defaultValue: 1 }),
  size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: DEFAULT_PAGE_SIZE }),
});

function parseNew(body: Uint8Array) {
  const input = readNew(parseObject(body));
  return {
    claimName: input.jwt_claim_name,
    claimValue: input.jwt_claim_value,
    key: input.key,
    description: input.description,
    active: input.is_active ?? true,
  };
}

function parseChange(body: Uint8Array) {
  const { id, key, description, is_active: isActive } = readChange(parseObject(body));
  return {
    id,
    ...withoutUndefined({ key: key ?? undefined }),
    patch: withoutUndefined({ description, active: isActive ?? undefined }),
  };
}

function parsePage(search: string) {
  const { page, size } = readPage(search);
  return { page: Number(page), size: Number(size) };
}

/** A mapping without its key. Only the graph shows the key. */
const renderMapping = (mapping: TokenMapping) => ({
  id: mapping.id,
  jwt_claim_name: mapping.claimName,
  jwt_claim_value: mapping.claimValue,
  description: mapping.description,
  is_active: mapping.active,
  created_at: mapping.createdAt.toISOString(),
  updated_at: mapping.updatedAt.toISOString(),
  created_by: mapping.createdBy,
  updated_by: mapping.updatedBy,
});

const CHANGING = {
  ...MANAGEMENT,
  method: 'POST',
  failureForm: { body: 'text', conflictAs: 'conflict' },
  bodyLimit: 64 * 1024,
} as const;
const READING = { ...CHANGING, method: 'GET', bodyLimit: 0 } as const;

/** Mappings of claim values in signed tokens (JWT) to virtual keys. */
export const tokenMappingRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'tokenMappings.create',
    bodySchema: readNew.schema,
    paths: ['/jwt/key/mapping/new'],
    statuses: [200, 400, 401, 403, 409, 422],
    parse: ({ body }) => parseNew(body),
    run: createTokenMapping,
    render: (mapping) => json(renderMapping(mapping)),
  }),
  route({
    ...CHANGING,
    name: 'tokenMappings.update',
    bodySchema: readChange.schema,
    paths: ['/jwt/key/mapping/update'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => parseChange(body),
    run: updateTokenMapping,
    render: (mapping) => json(renderMapping(mapping)),
  }),
  route({
    ...CHANGING,
    name: 'tokenMappings.delete',
    bodySchema: readId.schema,
    paths: ['/jwt/key/mapping/delete'],
    statuses: [200, 401, 403, 404, 422],
    parse: ({ body }) => readId(body),
    run: deleteTokenMapping,
    render: () => json({ status: 'success' }),
  }),
  route({
    ...READING,
    name: 'tokenMappings.list',
    querySchema: readPage.schema,
    paths: ['/jwt/key/mapping/list'],
    statuses: [200, 401, 403, 422],
    parse: ({ search }) => parsePage(search),
    run: listTokenMappings,
    render({ rows, total }, { search }) {
      const { page, size } = parsePage(search);
      const pages = Math.ceil(total / size);
      return json({ mappings: rows.map(renderMapping), total_count: total, current_page: page, total_pages: pages });
    },
  }),
  route({
    ...READING,
    name: 'tokenMappings.info',
    querySchema: readQueryId.schema,
    paths: ['/jwt/key/mapping/info'],
    statuses: [200, 401, 403, 404, 422],
    parse: ({ search }) => readQueryId(search),
    run: getTokenMapping,
    render: (mapping) => json(renderMapping(mapping)),
  }),
]);
