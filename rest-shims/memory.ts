import { createMemory, deleteMemory, getMemory, listMemory, putMemory } from '../resolvers/memory.ts';
import type { Memory } from '../src/domain/memory/memory.ts';
import { type FieldReader, members, optional, parseObject, requiredText, text } from './helpers/http/body-fields.ts';
import { integer, query, rowsBefore, text as parameter } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described } from './helpers/http/schema.ts';

/** Reads any JSON value; null when absent. */
const anyValue: FieldReader<unknown> = described({}, (input) => ({ value: input ?? null }));

const readNew = members({
  key: requiredText,
  value: requiredText,
  metadata: anyValue,
  user_id: optional(text),
  team_id: optional(text),
});
const readPatch = members({
  value: text,
  metadata: optional(anyValue),
  user_id: optional(text),
  team_id: optional(text),
});

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 500;
const MAX_PAGE = 1_000_000;
const readPage = query({
  key: parameter,
  key_prefix: parameter,
  search: parameter,
  page: integer({ min: 1, max: MAX_PAGE, defaultValue: 1 }),
  page_size: integer({ min: 1, max: MAX_PAGE_SIZE, defaultValue: DEFAULT_PAGE_SIZE }),
});
/** Reads the owner of an entry. Only administrators may name another user or team than those of the key. */
const readOwner = query({ user_id: parameter, team_id: parameter });

interface SentOwner {
  readonly user_id?: string | null | undefined;
  readonly team_id?: string | null | undefined;
}

const ownerIn = ({ user_id: userId, team_id: teamId }: SentOwner) => ({
  ...(userId === undefined ? {} : { userId }),
  ...(teamId === undefined ? {} : { teamId }),
});

function parseNew({ body }: HttpRequest) {
  const { key: name, value, metadata, ...owner } = readNew(parseObject(body));
  return { name, value, metadata, ...ownerIn(owner) };
}

function parseList({ search: sent }: HttpRequest) {
  const { key, key_prefix: prefix, search, page, page_size: size } = readPage(sent);
  const limit = Number(size);
  // With `search`, `key_prefix` and `key` are ignored. With `key_prefix`, `key` is ignored.
  const namePrefix = search === null ? prefix : null;
  return {
    filter: { search, namePrefix, name: search === null && namePrefix === null ? key : null },
    page: { sort: 'created_at', descending: true, limit, from: rowsBefore(Number(page), limit) } as const,
  };
}

/** Name and owner of the entry: the name is in the path, and the query may have the owner. */
function parseNamed({ params: { key = '' }, search }: HttpRequest) {
  const { user_id: userId, team_id: teamId } = readOwner(search);
  return { name: key, ...ownerIn({ user_id: userId ?? undefined, team_id: teamId ?? undefined }) };
}

/** An owner in the body replaces the owner in the query. */
function parsePatch(request: HttpRequest) {
  const { value, metadata, ...owner } = readPatch(parseObject(request.body));
  return {
    ...parseNamed(request),
    ...ownerIn(owner),
    patch: { ...(value === null ? {} : { value }), ...(metadata === undefined ? {} : { metadata }) },
  };
}

const renderMemory = (one: Memory) => ({
  memory_id: one.id,
  key: one.name,
  value: one.value,
  metadata: one.metadata,
  user_id: one.userId,
  team_id: one.teamId,
  created_at: one.createdAt.toISOString(),
  created_by: one.createdBy,
  updated_at: one.updatedAt.toISOString(),
  updated_by: one.updatedBy,
});

const FORM = { failureForm: { body: 'text', conflictAs: 'conflict' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;
const ENTRY = '/v1/memory/{*key}';

/** Texts that clients store for their user or team. */
export const memoryRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'memory.list',
    querySchema: readPage.schema,
    paths: ['/v1/memory'],
    statuses: [200, 400, 401, 422],
    parse: parseList,
    run: listMemory,
    render: ({ nodes, totalCount }) => json({ memories: nodes.map(renderMemory), total: totalCount }),
  }),
  route({
    ...CHANGE,
    name: 'memory.create',
    bodySchema: readNew.schema,
    paths: ['/v1/memory'],
    statuses: [200, 400, 401, 403, 409, 422],
    parse: parseNew,
    run: createMemory,
    render: (one) => json(renderMemory(one)),
  }),
  route({
    ...READ,
    name: 'memory.get',
    querySchema: readOwner.schema,
    paths: [ENTRY],
    statuses: [200, 400, 401, 403, 404, 409],
    parse: parseNamed,
    run: getMemory,
    render: (one) => json(renderMemory(one)),
  }),
  route({
    ...CHANGE,
    method: 'PUT',
    name: 'memory.put',
    querySchema: readOwner.schema,
    bodySchema: readPatch.schema,
    paths: [ENTRY],
    statuses: [200, 400, 401, 403, 422],
    parse: parsePatch,
    run: putMemory,
    render: (one) => json(renderMemory(one)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'memory.delete',
    querySchema: readOwner.schema,
    paths: [ENTRY],
    statuses: [200, 400, 401, 403, 404, 409],
    parse: parseNamed,
    run: deleteMemory,
    render: ({ name }) => json({ key: name, deleted: true }),
  }),
];
