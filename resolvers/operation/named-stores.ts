import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import type { PermissionTerms } from '../../src/domain/object-permissions/permission-layers.ts';
import { assertMayUseIndex, mayUseIndex } from '../../src/domain/vector-store-indexes/index-rights.ts';
import { toolsWithStores } from '../../src/domain/vector-store-indexes/named-indexes.ts';
import { segmentsOf, storesInBody, storesInPath } from '../../src/domain/vector-stores/named-stores.ts';
import { assertMayNameStore, hasStoreLists } from '../../src/domain/vector-stores/store-rights.ts';
import type { VectorStore } from '../../src/domain/vector-stores/vector-store.ts';
import { permissionTerms } from './object-rights.ts';
import type { StoreNamingPlatform } from './object-rights-platform.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/** A request to an API of a provider. Its path and body may name vector stores. */
interface NamingRequest {
  /** Path at the provider; empty for a path that names no store. */
  readonly path: string;
  readonly body: JsonObject;
  readonly labels: CallLabels | undefined;
}

const namesStores = (tool: unknown): boolean =>
  isJsonObject(tool) && (tool['type'] === 'file_search' || Object.hasOwn(tool, 'vector_store_ids'));

/** Whether no store is registered and no index exists, so that only lists refuse stores. */
const knowsNoStore = ({ platform: { vectorStores, vectorStoreIndexes } }: Scope<StoreNamingPlatform>): boolean =>
  vectorStores.list().length === 0 && vectorStoreIndexes.list().length === 0;

/**
 * Checks access to a store that a request names by its id or by an index. Without a registration, the store of an index
 * needs the right to one of its indexes. A text that is both a name and an id needs both rights. Throws Forbidden.
 */
function assertMayName(
  scope: Scope<StoreNamingPlatform>,
  id: string,
  { store, terms }: { readonly store: VectorStore | null; readonly terms: PermissionTerms },
): void {
  const caller = callerOf(scope);
  const { vectorStoreIndexes } = scope.platform;
  const index = store === null ? vectorStoreIndexes.named(id) : null;
  const ofStore = store === null ? vectorStoreIndexes.ofStore(id) : [];
  const [first] = ofStore;
  if (index === null && first === undefined) return assertMayNameStore(caller, id, { store, terms });
  if (index !== null) assertMayUseIndex(caller, index, 'read', terms);
  const isRefused = !ofStore.some((one) => mayUseIndex(caller, one, 'read', terms));
  if (first !== undefined && isRefused) assertMayUseIndex(caller, first, 'read', terms);
}

/** Whether the upstream could only read a text as an id that does not exist: it is the name of an index, and no id. */
const isOnlyIndex = (
  { platform: { vectorStores, vectorStoreIndexes } }: Scope<StoreNamingPlatform>,
  text: string,
): boolean =>
  vectorStores.find(text) === null &&
  vectorStoreIndexes.named(text) !== null &&
  vectorStoreIndexes.ofStore(text).length === 0;

/**
 * Returns a check of one line of a batch. The check throws Forbidden when the line names a vector store that the caller
 * may not use. It throws InvalidInput for the name of an index, because lines are sent unchanged. `member` is the
 * member of the request that has the file. Null when the caller may name every store.
 */
export async function batchStoreCheck(
  scope: Scope<StoreNamingPlatform>,
  { labels, member }: Pick<NamingRequest, 'labels'> & { readonly member: 'file' | 'input_file_id' },
): Promise<((named: readonly string[]) => void) | null> {
  const caller = callerOf(scope);
  const { vectorStores } = scope.platform;
  const terms = await permissionTerms(scope, labels);
  if (knowsNoStore(scope) && !hasStoreLists(caller, terms)) return null;
  return (named) => {
    for (const id of new Set(named)) {
      assertMayName(scope, id, { store: vectorStores.find(id), terms });
      if (!isOnlyIndex(scope, id)) continue;
      const message = `The lines of a batch cannot name the index '${id}': name its vector store by its id.`;
      throw new InvalidInput(message, [{ path: ['body', member], rule: 'batch_line', message }]);
    }
  };
}

/**
 * Checks the rights to the vector stores that a request names. Throws Forbidden. Without the check, a request to
 * another API could use a registered store of another team, because all callers share the account of the provider.
 */
export async function assertMayNameStores(
  scope: Scope<StoreNamingPlatform>,
  { path, body, labels }: NamingRequest,
): Promise<void> {
  const stores = scope.platform.vectorStores.list();
  const terms = await permissionTerms(scope, labels);
  if (knowsNoStore(scope) && !hasStoreLists(callerOf(scope), terms)) return;
  const byId = new Map(stores.map((store) => [store.id, store]));
  const named = new Set([...storesInBody(body), ...storesInPath(path)]);
  // The id of a registered store counts in every segment of the path, not only after `vector_stores`.
  for (const segment of segmentsOf(path)) if (byId.has(segment)) named.add(segment);
  for (const id of named) assertMayName(scope, id, { store: byId.get(id) ?? null, terms });
}

/** A request whose tools have ids of stores in place of names of indexes. The caller's rights are checked before. */
export function withStoresOfIndexes(scope: Scope<StoreNamingPlatform>, request: ModelRequest): ModelRequest {
  const { vectorStores, vectorStoreIndexes } = scope.platform;
  if (vectorStoreIndexes.list().length === 0) return request;
  const tools = toolsWithStores(request.body['tools'], (name) =>
    vectorStores.find(name) === null ? (vectorStoreIndexes.named(name)?.storeId ?? null) : null,
  );
  if (tools === null) return request;
  return { ...request, body: { ...request.body, tools }, replaced: { ...request.replaced, tools } };
}

/**
 * Sends a conversation, with ids of stores in place of names of indexes. Throws Forbidden instead when its tools name a
 * vector store that the caller may not use.
 */
export function sendAfterStoreCheck<Answer>(
  scope: Scope<StoreNamingPlatform>,
  request: ModelRequest,
  send: (checked: ModelRequest) => Promise<Answer>,
): Promise<Answer> {
  const { body, labels } = request;
  const { tools } = body;
  if (!Array.isArray(tools) || !tools.some(namesStores)) return send(request);
  return assertMayNameStores(scope, { path: '', body: { tools }, labels }).then(() =>
    send(withStoresOfIndexes(scope, request)),
  );
}
