import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { segmentsOf, storesInBody, storesInPath } from '../../src/domain/vector-stores/named-stores.ts';
import { assertMayNameStore, hasStoreLists } from '../../src/domain/vector-stores/store-rights.ts';
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

/**
 * Returns a check of one line of a batch. The check throws Forbidden when the line names a vector store that the caller
 * may not use. Null when the caller may name every store.
 */
export async function batchStoreCheck(
  scope: Scope<StoreNamingPlatform>,
  labels: CallLabels | undefined,
): Promise<((named: readonly string[]) => void) | null> {
  const caller = callerOf(scope);
  const { vectorStores } = scope.platform;
  const terms = await permissionTerms(scope, labels);
  if (vectorStores.list().length === 0 && !hasStoreLists(caller, terms)) return null;
  return (named) => {
    for (const id of new Set(named)) assertMayNameStore(caller, id, { store: vectorStores.find(id), terms });
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
  const caller = callerOf(scope);
  const stores = scope.platform.vectorStores.list();
  const terms = await permissionTerms(scope, labels);
  if (stores.length === 0 && !hasStoreLists(caller, terms)) return;
  const byId = new Map(stores.map((store) => [store.id, store]));
  const named = new Set([...storesInBody(body), ...storesInPath(path)]);
  // The id of a registered store counts in every segment of the path, not only after `vector_stores`.
  for (const segment of segmentsOf(path)) if (byId.has(segment)) named.add(segment);
  for (const id of named) assertMayNameStore(caller, id, { store: byId.get(id) ?? null, terms });
}

/** Sends a conversation. Throws Forbidden instead when its tools name a vector store that the caller may not use. */
export function sendAfterStoreCheck<Answer>(
  scope: Scope<StoreNamingPlatform>,
  { body: { tools }, labels }: Pick<ModelRequest, 'body' | 'labels'>,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (!Array.isArray(tools) || !tools.some(namesStores)) return send();
  return assertMayNameStores(scope, { path: '', body: { tools }, labels }).then(send);
}
