import {
  createVectorStoreIndex,
  deleteVectorStoreIndex,
  getVectorStoreIndex,
  listVectorStoreIndexes,
  type ShownIndex,
} from '../resolvers/vector-store-indexes.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import {
  dictionary,
  type FieldReader,
  members,
  object,
  optional,
  parseObject,
  required,
  requiredText,
} from './helpers/http/body-fields.ts';
import { integer, query } from './helpers/http/query.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { described, objectSchema } from './helpers/http/schema.ts';

const objectOrNull: FieldReader<JsonObject | null> = described({ type: ['object', 'null'] }, (input) =>
  input === null ? { value: null } : object(input),
);
const readParams = members({ vector_store_index: requiredText, vector_store_name: requiredText });
const readNew = members({
  index_name: requiredText,
  litellm_params: required(dictionary),
  index_info: optional(objectOrNull),
});
const NEW = objectSchema(
  {
    index_name: { type: 'string' },
    litellm_params: readParams.schema,
    index_info: { type: ['object', 'null'] },
  },
  ['index_name', 'litellm_params'],
);

/** Default and maximum number of indexes on a page. */
const PAGE_SIZE = 100;
const MAX_PAGE = 1_000_000;
const readPage = query({
  page: integer({ min: 1, max: MAX_PAGE, defaultValue: 1 }),
  page_size: integer({ min: 1, max: PAGE_SIZE, defaultValue: PAGE_SIZE }),
});

/** Parses a new index. Throws InvalidInput, with the path of each fault in the whole body. */
function parseNew({ body }: HttpRequest) {
  const { index_name: name, litellm_params: params, index_info: info = null } = readNew(parseObject(body));
  try {
    const { vector_store_index: storeId, vector_store_name: accountName } = readParams(params);
    return { name, storeId, accountName, info };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const issues = error.issues.map(({ path, ...issue }) => ({
      ...issue,
      path: ['body', 'litellm_params', ...path.slice(1)],
    }));
    throw new InvalidInput(error.message, issues);
  }
}

const parseName = ({ params }: HttpRequest) => ({ name: params['name'] ?? '' });

/** An index. `litellm_params` is empty for callers who are not administrators. */
const renderIndex = (one: ShownIndex) => ({
  id: one.id,
  index_name: one.name,
  litellm_params: one.storeId === null ? {} : { vector_store_index: one.storeId, vector_store_name: one.accountName },
  index_info: one.info,
  created_at: one.createdAt.toISOString(),
  created_by: one.createdBy,
  updated_at: one.updatedAt.toISOString(),
  updated_by: one.updatedBy,
});

function renderPage(indexes: readonly ShownIndex[], { search }: HttpRequest) {
  const sent = readPage(search);
  const [page, size] = [Number(sent.page), Number(sent.page_size)];
  return json({
    object: 'list',
    data: indexes.slice((page - 1) * size, page * size).map(renderIndex),
    total_count: indexes.length,
    current_page: page,
    total_pages: Math.ceil(indexes.length / size),
  });
}

const PATH = '/v1/indexes';
const FORM = { failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;
const READ = { ...MANAGEMENT_READ, ...FORM } as const;

/** Names for vector stores of providers. */
export const vectorStoreIndexRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_CHANGE,
    ...FORM,
    name: 'vectorStoreIndexes.create',
    bodySchema: NEW,
    paths: [PATH],
    statuses: [200, 400, 401, 403, 422],
    parse: parseNew,
    run: createVectorStoreIndex,
    render: (one) => json(renderIndex(one)),
  }),
  route({
    ...READ,
    name: 'vectorStoreIndexes.list',
    querySchema: readPage.schema,
    paths: [PATH],
    statuses: [200, 401, 422],
    parse({ search }) {
      readPage(search);
      return undefined;
    },
    run: listVectorStoreIndexes,
    render: renderPage,
  }),
  route({
    ...READ,
    name: 'vectorStoreIndexes.get',
    paths: [`${PATH}/:name`],
    statuses: [200, 401, 404],
    parse: parseName,
    run: getVectorStoreIndex,
    render: (one) => json(renderIndex(one)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'vectorStoreIndexes.delete',
    paths: [`${PATH}/:name`],
    statuses: [200, 401, 403, 404],
    parse: parseName,
    run: deleteVectorStoreIndex,
    render: ({ name }) => json({ status: 'success', message: `Index ${name} deleted successfully` }),
  }),
];
