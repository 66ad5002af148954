import {
  createVectorStore,
  deleteVectorStore,
  getVectorStore,
  listVectorStores,
  updateVectorStore,
} from '../resolvers/vector-stores.ts';
import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import type { VectorStore, VectorStorePatch } from '../src/domain/vector-stores/vector-store.ts';
import { type FieldReader, members, optional, parseObject, requiredText, text } from './helpers/http/body-fields.ts';
import { integer, query } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described } from './helpers/http/schema.ts';

/** An object, also as JSON text; null when absent. */
const objectOrText: FieldReader<JsonObject | null> = described({ type: ['object', 'string', 'null'] }, (input) => {
  if (input === undefined || input === null) return { value: null };
  const value = typeof input === 'string' ? fromJson(input) : input;
  return isJsonObject(value) ? { value } : { rule: 'dict_type', message: 'Input should be a valid dictionary' };
});

function fromJson(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return null;
  }
}

const readNew = members({
  vector_store_id: text,
  custom_llm_provider: text,
  vector_store_name: text,
  vector_store_description: text,
  vector_store_metadata: objectOrText,
  litellm_credential_name: text,
  litellm_params: objectOrText,
  team_id: text,
});
const readPatch = members({
  vector_store_id: requiredText,
  custom_llm_provider: text,
  vector_store_name: optional(text),
  vector_store_description: optional(text),
  vector_store_metadata: optional(objectOrText),
  litellm_credential_name: optional(text),
  litellm_params: optional(objectOrText),
  team_id: optional(text),
});
const readId = members({ vector_store_id: requiredText });

/** Default and maximum number of stores on a page. */
const PAGE_SIZE = 100;
const MAX_PAGE = 1_000_000;
const readPage = query({
  page: integer({ min: 1, max: MAX_PAGE, defaultValue: 1 }),
  page_size: integer({ min: 1, max: PAGE_SIZE, defaultValue: PAGE_SIZE }),
});

function parseNew({ body }: HttpRequest) {
  const input = readNew(parseObject(body));
  return {
    id: input.vector_store_id ?? '',
    provider: input.custom_llm_provider ?? '',
    name: input.vector_store_name,
    description: input.vector_store_description,
    metadata: input.vector_store_metadata,
    credentialName: input.litellm_credential_name,
    params: input.litellm_params ?? {},
    teamId: input.team_id,
  };
}

function parsePatch({ body }: HttpRequest): { readonly id: string; readonly patch: VectorStorePatch } {
  const input = readPatch(parseObject(body));
  const { vector_store_name: name, vector_store_description: description, vector_store_metadata: metadata } = input;
  const { litellm_credential_name: credentialName, litellm_params: params, team_id: teamId } = input;
  const patch = {
    ...(input.custom_llm_provider === null ? {} : { provider: input.custom_llm_provider }),
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(credentialName === undefined ? {} : { credentialName }),
    ...(params === undefined ? {} : { params: params ?? {} }),
    ...(teamId === undefined ? {} : { teamId }),
  };
  return { id: input.vector_store_id, patch };
}

const parseId = ({ body }: HttpRequest) => ({ id: readId(parseObject(body)).vector_store_id });

/** A registered store. Secrets are redacted. */
const renderStore = (one: VectorStore) => ({
  vector_store_id: one.id,
  custom_llm_provider: one.provider,
  vector_store_name: one.name,
  vector_store_description: one.description,
  vector_store_metadata: one.metadata,
  created_at: one.createdAt?.toISOString() ?? null,
  updated_at: one.updatedAt?.toISOString() ?? null,
  litellm_credential_name: one.credentialName,
  litellm_params: redacted('litellm_params', one.params, 'admin'),
  team_id: one.teamId,
  user_id: one.userId,
});

function renderPage(stores: readonly VectorStore[], { search }: HttpRequest) {
  const sent = readPage(search);
  const [page, size] = [Number(sent.page), Number(sent.page_size)];
  return json({
    object: 'list',
    data: stores.slice((page - 1) * size, page * size).map(renderStore),
    total_count: stores.length,
    current_page: page,
    total_pages: Math.ceil(stores.length / size),
  });
}

const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const CHANGE = { ...MANAGEMENT_CHANGE, ...FORM } as const;

/** The registry of vector stores. */
export const vectorStoreRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    ...FORM,
    name: 'vectorStores.list',
    querySchema: readPage.schema,
    paths: ['/vector_store/list', '/v1/vector_store/list'],
    statuses: [200, 401, 422],
    parse({ search }) {
      readPage(search);
      return undefined;
    },
    run: listVectorStores,
    render: renderPage,
  }),
  route({
    ...CHANGE,
    name: 'vectorStores.create',
    bodySchema: readNew.schema,
    paths: ['/vector_store/new'],
    statuses: [200, 400, 401, 403, 422],
    parse: parseNew,
    run: createVectorStore,
    render: (one) =>
      json({
        status: 'success',
        message: `Vector store ${one.id} created successfully`,
        vector_store: renderStore(one),
      }),
  }),
  route({
    ...CHANGE,
    name: 'vectorStores.get',
    bodySchema: readId.schema,
    paths: ['/vector_store/info'],
    statuses: [200, 401, 403, 404, 422],
    parse: parseId,
    run: getVectorStore,
    render: (one) => json({ vector_store: renderStore(one) }),
  }),
  route({
    ...CHANGE,
    name: 'vectorStores.update',
    bodySchema: readPatch.schema,
    paths: ['/vector_store/update'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parsePatch,
    run: updateVectorStore,
    render: (one) =>
      json({
        status: 'success',
        message: `Vector store ${one.id} updated successfully`,
        vector_store: renderStore(one),
      }),
  }),
  route({
    ...CHANGE,
    name: 'vectorStores.delete',
    bodySchema: readId.schema,
    paths: ['/vector_store/delete'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseId,
    run: deleteVectorStore,
    render: ({ id }) => json({ status: 'success', message: `Vector store ${id} deleted successfully` }),
  }),
];
