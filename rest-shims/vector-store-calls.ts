import {
  changeProviderStore,
  createProviderStore,
  listProviderStores,
  readProviderStore,
} from '../resolvers/vector-store-calls.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import type { HttpAnswer, HttpRequest, RouteRow } from './helpers/http/route.ts';
import { FORWARDED, relayedAnswer, sentRequest } from './helpers/model-call/pass-through.ts';
import { placementOf } from './helpers/model-call/upstream-objects.ts';

const DEFAULT_PROVIDER = 'openai';
/** Query parameter that is for the gateway. */
const PROVIDER_PARAMETER = 'custom_llm_provider';

/** The request to send on, and the provider of a store without registration. Throws InvalidInput. */
function parseCall(request: HttpRequest) {
  const sent = sentRequest(request);
  const search = new URLSearchParams(sent.search);
  search.delete(PROVIDER_PARAMETER);
  const { provider } = placementOf(request, sent.fields);
  return { sent: { ...sent, search: search.toString() }, provider: provider ?? DEFAULT_PROVIDER };
}

/** Parses a request about one store, whose id is in the path. */
const parseStoreCall = (request: HttpRequest) => ({
  ...parseCall(request),
  storeId: request.params['id'] ?? '',
  fileId: request.params['file'] ?? null,
  batchId: request.params['batch'] ?? null,
});

type Run = typeof readProviderStore;
type StoreAction = Parameters<Run>[1]['action'];

/** Handles a request about one store: runs the operation, and relays the answer of the provider. */
const handled =
  (run: Run, action: StoreAction): RouteRow['handle'] =>
  async (request: HttpRequest, scope: Scope): Promise<HttpAnswer> => {
    const { call, bytes } = await run(scope, { ...parseStoreCall(request), action });
    return relayedAnswer(call, scope, bytes);
  };

const { bodySchema, ...COMMON } = FORWARDED;
const READ = { ...COMMON, credential: 'required', method: 'GET', bodyLimit: 0 } as const satisfies Partial<RouteRow>;
const DELETE = { ...READ, method: 'DELETE' } as const;
const POST = { ...READ, method: 'POST', bodyLimit: 'setting', bodySchema } as const;

const STORE = '/v1/vector_stores/:id';
const pathsOf = (path: string): [string, string] => [path, path.replace('/v1', '')];

/** Statuses of answers of the gateway. The provider's answers have others, too. */
const STATUSES = [200, 401, 403, 404] as const;
const WITH_BODY_STATUSES = [200, 400, 401, 403, 404] as const;

/** OpenAI's API of vector stores, sent on to the provider of each store. */
export const vectorStoreCallRoutes: readonly RouteRow[] = [
  {
    ...READ,
    name: 'providerStores.list',
    paths: pathsOf('/v1/vector_stores'),
    statuses: [200, 400, 401],
    async handle(request, scope) {
      const { call, bytes } = await listProviderStores(scope, parseCall(request));
      return relayedAnswer(call, scope, bytes);
    },
  },
  {
    ...POST,
    name: 'providerStores.create',
    paths: pathsOf('/v1/vector_stores'),
    statuses: WITH_BODY_STATUSES,
    async handle(request, scope) {
      const { call, bytes } = await createProviderStore(scope, parseCall(request));
      return relayedAnswer(call, scope, bytes);
    },
  },
  {
    ...READ,
    name: 'providerStores.get',
    paths: pathsOf(STORE),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'get'),
  },
  {
    ...POST,
    name: 'providerStores.update',
    paths: pathsOf(STORE),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'update'),
  },
  {
    ...DELETE,
    name: 'providerStores.delete',
    paths: pathsOf(STORE),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'delete'),
  },
  {
    ...POST,
    name: 'providerStores.search',
    paths: pathsOf(`${STORE}/search`),
    statuses: WITH_BODY_STATUSES,
    handle: handled(readProviderStore, 'search'),
  },
  {
    ...READ,
    name: 'storeFiles.list',
    paths: pathsOf(`${STORE}/files`),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'listFiles'),
  },
  {
    ...POST,
    name: 'storeFiles.create',
    paths: pathsOf(`${STORE}/files`),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'addFile'),
  },
  {
    ...READ,
    name: 'storeFiles.get',
    paths: pathsOf(`${STORE}/files/:file`),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'getFile'),
  },
  {
    ...POST,
    name: 'storeFiles.update',
    paths: pathsOf(`${STORE}/files/:file`),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'updateFile'),
  },
  {
    ...DELETE,
    name: 'storeFiles.delete',
    paths: pathsOf(`${STORE}/files/:file`),
    statuses: STATUSES,
    handle: handled(changeProviderStore, 'removeFile'),
  },
  {
    ...READ,
    name: 'storeFiles.content',
    paths: pathsOf(`${STORE}/files/:file/content`),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'readFile'),
  },
  {
    ...POST,
    name: 'storeBatches.create',
    paths: pathsOf(`${STORE}/file_batches`),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'addBatch'),
  },
  {
    ...READ,
    name: 'storeBatches.get',
    paths: pathsOf(`${STORE}/file_batches/:batch`),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'getBatch'),
  },
  {
    ...POST,
    name: 'storeBatches.cancel',
    paths: pathsOf(`${STORE}/file_batches/:batch/cancel`),
    statuses: WITH_BODY_STATUSES,
    handle: handled(changeProviderStore, 'cancelBatch'),
  },
  {
    ...READ,
    name: 'storeBatches.files',
    paths: pathsOf(`${STORE}/file_batches/:batch/files`),
    statuses: STATUSES,
    handle: handled(readProviderStore, 'listBatchFiles'),
  },
];
