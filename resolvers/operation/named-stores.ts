import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { isJsonObject, type JsonObject } from '../../src/domain/json-object.ts';
import { segmentsOf, storesInBody, storesInPath } from '../../src/domain/vector-stores/named-stores.ts';
import { assertMayNameStore, hasStoreLists } from '../../src/domain/vector-stores/store-rights.ts';
import { permissionTerms } from './object-rights.ts';
import type { StoreNamingPlatform } from './object-rights-platform.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/** A request for an API of a provider, which may name vector stores. */
interface NamingRequest {
  /** Path at the provider; empty for a path that names no store. */
  readonly path: string;
  readonly body: JsonObject;
  readonly labels: CallLabels | undefined;
}

const namesStores = (tool: unknown): boolean =>
  isJsonObject(tool) && (tool['type'] === 'file_search' || Object.hasOwn(tool, 'vector_store_ids'));

/**
 * A check of the rights to the vector stores that the lines of a batch name. It throws Forbidden. Null where every
 * store may be named.
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
 * Checks the rights to the vector stores that a request names. All callers share the account of the provider, so that
 * the request must not pass over the rights to registered stores. Throws Forbidden.
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
  // A path may name a registered store in another way.
  for (const segment of segmentsOf(path)) if (byId.has(segment)) named.add(segment);
  for (const id of named) assertMayNameStore(caller, id, { store: byId.get(id) ?? null, terms });
}

/** Sends a conversation, unless its tools name vector stores that the caller may not use. Then throws Forbidden. */
export function whereStoresAllow<Answer>(
  scope: Scope<StoreNamingPlatform>,
  { body: { tools }, labels }: Pick<ModelRequest, 'body' | 'labels'>,
  send: () => Promise<Answer>,
): Promise<Answer> {
  if (!Array.isArray(tools) || !tools.some(namesStores)) return send();
  return assertMayNameStores(scope, { path: '', body: { tools }, labels }).then(send);
}
