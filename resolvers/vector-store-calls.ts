import { Conflict, InvalidInput, UpstreamFailed } from '../src/domain/errors.ts';
import { jsonObjectOf, type JsonObject } from '../src/domain/json-object.ts';
import type { SentRequest } from '../src/domain/pass-through/sent-request.ts';
import type { StoreAction } from '../src/domain/vector-stores/store-action.ts';
import { withIndexName } from '../src/domain/vector-store-indexes/named-indexes.ts';
import { assertMayChangeStore, isListedFor, unknownStore } from '../src/domain/vector-stores/store-rights.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { isAnyAdmin } from './operation/access.ts';
import { assertMayUseResolved, resolvedStore } from './operation/resolved-stores.ts';
import { registerCreatedStore } from './operation/created-store.ts';
import { permissionTerms } from './operation/object-rights.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import {
  isFailed,
  failureBytes,
  readAnswer,
  sendToStore,
  type StoreTarget,
  targetOfStore,
  upstreamFileId,
} from './operation/vector-store-calls.ts';
import { vectorStoreReader, vectorStoreWriter } from './operation/vector-store-access.ts';
import type { VectorStorePlatform } from './operation/vector-store-platform.ts';

type StoreScope = Scope<VectorStorePlatform>;

/** A request of OpenAI's API of vector stores. */
export interface VectorStoreRequest {
  readonly sent: SentRequest;
  /** Provider of a store without registration, and of a new store. */
  readonly provider: string;
}

/** A request about one store. */
export interface OneStoreRequest extends VectorStoreRequest {
  readonly action: Exclude<StoreAction, 'list' | 'create'>;
  readonly storeId: string;
  /** File in the path; null for a path without one. */
  readonly fileId: string | null;
  /** Batch of files in the path; null for a path without one. */
  readonly batchId: string | null;
}

/** An answer to relay. `bytes` is its body where it was read here; null where it is streamed. */
export interface StoreAnswer {
  readonly call: GatewayCall;
  readonly bytes: Uint8Array | null;
}

const WRITES: ReadonlySet<StoreAction> = new Set([
  'update',
  'delete',
  'addFile',
  'updateFile',
  'removeFile',
  'addBatch',
  'cancelBatch',
]);
const CHANGES_STORE: ReadonlySet<StoreAction> = new Set(['update', 'delete']);
/** Actions with a body that is sent on. */
const WITH_BODY: ReadonlySet<StoreAction> = new Set(['update', 'search', 'addFile', 'updateFile', 'addBatch']);

/** Members of a body that are for the gateway. */
const GATEWAY_MEMBERS = new Set([
  'custom_llm_provider',
  'litellm_metadata',
  'litellm_credential_name',
  'api_key',
  'api_base',
]);

const upstreamBody = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !GATEWAY_MEMBERS.has(name)));

const factsOf = ({ callId, parent, labels, userAgent }: SentRequest) => ({
  callId,
  parent,
  ...(labels === undefined ? {} : { labels }),
  ...(userAgent === undefined ? {} : { userAgent }),
});

const bytesOf = (value: JsonObject): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/**
 * Stores at the default account of a provider. Callers who are not administrators see those that are registered for
 * their team. Throws what `targetOfStore` and the gateway's `forward` throw.
 */
export const listProviderStores = operation({
  name: 'listProviderStores',
  access: vectorStoreReader,
  async run(scope: StoreScope, { sent, provider }: VectorStoreRequest): Promise<StoreAnswer> {
    const caller = callerOf(scope);
    const target = await targetOfStore(scope, { store: null, provider, storeId: '' });
    const request = { action: 'list', method: 'GET', path: ['vector_stores'], search: sent.search } as const;
    const call = await sendToStore(scope, target, { ...request, ...factsOf(sent) });
    if (isFailed(call)) return { call, bytes: await failureBytes(call, target) };
    if (isAnyAdmin(caller)) return { call, bytes: null };
    const { value } = await readAnswer(call, target);
    const listed: readonly unknown[] = Array.isArray(value['data']) ? value['data'] : [];
    const data = listed.filter((one) => {
      const store = scope.platform.vectorStores.find(String(jsonObjectOf(one)['id']));
      return store !== null && isListedFor(caller, store);
    });
    return { call, bytes: bytesOf({ ...value, data }) };
  },
});

/**
 * Creates a store at the default account of a provider and registers it for the caller's team. Throws NotFound for an
 * unknown file, and what `targetOfStore` and the gateway's `forward` throw.
 */
export const createProviderStore = operation({
  name: 'createProviderStore',
  access: vectorStoreWriter,
  async run(scope: StoreScope, { sent, provider }: VectorStoreRequest): Promise<StoreAnswer> {
    const target = await targetOfStore(scope, { store: null, provider, storeId: '' });
    const json = await withUpstreamFiles(scope, upstreamBody(sent.fields));
    const request = { action: 'create', method: 'POST', path: ['vector_stores'], json } as const;
    const call = await sendToStore(scope, target, { ...request, ...factsOf(sent) });
    if (isFailed(call)) return { call, bytes: await failureBytes(call, target) };
    const { value, bytes } = await readAnswer(call, target);
    const { id, name } = value;
    if (typeof id !== 'string' || id === '')
      throw new UpstreamFailed('The answer of the provider has no id.', { provider, upstreamStatus: null });
    await registerCreatedStore(scope, target, { id, name: typeof name === 'string' ? name : null });
    return { call, bytes };
  },
});

/** Maximum number of files of a new store, as at OpenAI. Each id is read from the database. */
const MAX_FILES = 500;

/** The body with ids of the provider in place of ids of the gateway. Throws NotFound and InvalidInput. */
async function withUpstreamFiles(scope: StoreScope, body: JsonObject): Promise<JsonObject> {
  const { file_ids: ids } = body;
  if (ids === undefined || ids === null) return body;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
    throw new InvalidInput('file_ids must be a list of strings.', [], { field: 'file_ids' });
  if (ids.length > MAX_FILES)
    throw new InvalidInput(`file_ids must have at most ${MAX_FILES} ids.`, [], { field: 'file_ids' });
  const upstreamIds = await Promise.all(ids.map((id: string) => upstreamFileId(scope, id)));
  return { ...body, file_ids: upstreamIds };
}

/**
 * Sends a request about one store to its provider. Throws Forbidden for a store that the caller may not use. Throws
 * NotFound for an unknown store or file, and what `targetOfStore` and the gateway's `forward` throw.
 */
export const readProviderStore = operation({
  name: 'readProviderStore',
  access: vectorStoreReader,
  run: (scope: StoreScope, request: OneStoreRequest): Promise<StoreAnswer> => callStore(scope, request),
});

/** As `readProviderStore`, for requests that change the store. A deleted store is no longer registered. */
export const changeProviderStore = operation({
  name: 'changeProviderStore',
  access: vectorStoreWriter,
  async run(scope: StoreScope, request: OneStoreRequest): Promise<StoreAnswer> {
    const { action, storeId } = request;
    const store = scope.platform.vectorStores.find(storeId);
    if (action === 'delete' && store?.isFromConfig === true)
      throw new Conflict(`The vector store ${storeId} is in the configuration file. Remove it there first.`);
    const answer = await callStore(scope, request);
    const isGone = !isFailed(answer.call) || answer.call.exchange.status === GONE;
    if (action === 'delete' && store !== null && isGone) await scope.platform.vectorStores.remove(storeId);
    return answer;
  },
});

/** Status of a provider that no longer has a store. */
const GONE = 404;

async function callStore(
  scope: StoreScope,
  { action, storeId, fileId, batchId, sent, provider }: OneStoreRequest,
): Promise<StoreAnswer> {
  const caller = callerOf(scope);
  const resolved = resolvedStore(scope, storeId);
  const { store, index } = resolved;
  const terms = await permissionTerms(scope, sent.labels);
  if (CHANGES_STORE.has(action) && index === null) assertMayChangeStore(caller, storeId, store, terms);
  else assertMayUseResolved(scope, resolved, WRITES.has(action) ? 'write' : 'read', terms);
  if (CHANGES_STORE.has(action) && index !== null)
    throw new InvalidInput(`${storeId} is the name of an index. Change or delete the vector store by its id.`);
  if (store === null && WRITES.has(action) && caller.role !== 'proxy_admin') throw unknownStore(storeId);
  const target = await targetOfStore(scope, { store, provider, storeId: resolved.storeId });
  const file = fileId === null ? null : await fileInPath(scope, fileId);
  const json = WITH_BODY.has(action) ? await storeBody(scope, action, sent.fields) : undefined;
  const path = pathOf(resolved.storeId, action, { fileId: file?.upstreamId ?? '', batchId: batchId ?? '' });
  const method = sent.method;
  const request = { action, method, path, search: sent.search, ...(json === undefined ? {} : { json }) };
  const call = await sendToStore(scope, target, { ...request, ...factsOf(sent) });
  const { file_id: added } = sent.fields;
  const ownId = file?.ownId ?? (action === 'addFile' && typeof added === 'string' ? added : null);
  if (isFailed(call)) return { call, bytes: await failureBytes(call, target) };
  if (index !== null) return { call, bytes: await withNameOfIndex(call, target, { name: index.name, fileId: ownId }) };
  if (ownId === null || action === 'readFile') return { call, bytes: null };
  return { call, bytes: await withOwnFileId(call, target, ownId) };
}

/** A file in a path. An id that the gateway does not know is that of a file of the store at its provider. */
async function fileInPath(scope: StoreScope, id: string) {
  const known = await scope.platform.stores.upstreamObjects.find(id);
  return known === null ? { upstreamId: id, ownId: null } : { upstreamId: await upstreamFileId(scope, id), ownId: id };
}

/** The answer about the store of an index, with the name of the index and the id of the file that the caller sent. */
async function withNameOfIndex(
  call: GatewayCall,
  target: StoreTarget,
  { name, fileId }: { readonly name: string; readonly fileId: string | null },
): Promise<Uint8Array> {
  const { value } = await readAnswer(call, target);
  const named = withIndexName(value, target.storeId, name);
  return bytesOf(fileId !== null && typeof named['id'] === 'string' ? { ...named, id: fileId } : named);
}

/** The answer about a file, with the id that the caller sent. */
async function withOwnFileId(call: GatewayCall, target: StoreTarget, id: string): Promise<Uint8Array> {
  const { value, bytes } = await readAnswer(call, target);
  return typeof value['id'] === 'string' ? bytesOf({ ...value, id }) : bytes;
}

async function storeBody(scope: StoreScope, action: StoreAction, fields: JsonObject): Promise<JsonObject> {
  const body = upstreamBody(fields);
  if (action === 'addBatch') return await withUpstreamFiles(scope, await withBatchFiles(scope, body));
  if (action !== 'addFile') return body;
  const { file_id: id } = body;
  if (typeof id !== 'string' || id === '')
    throw new InvalidInput('file_id must be a string.', [], { field: 'file_id' });
  return { ...body, file_id: await upstreamFileId(scope, id) };
}

/** The body of a batch with ids of the provider in `files`, which has the attributes of each file. */
async function withBatchFiles(scope: StoreScope, body: JsonObject): Promise<JsonObject> {
  const { files, file_ids: ids } = body;
  if (files === undefined || files === null) {
    if (ids === undefined || ids === null)
      throw new InvalidInput('file_ids or files must be a list.', [], { field: 'file_ids' });
    return body;
  }
  if (!Array.isArray(files) || !files.every((one) => typeof jsonObjectOf(one)['file_id'] === 'string'))
    throw new InvalidInput('files must be a list of objects with a file_id.', [], { field: 'files' });
  if (files.length > MAX_FILES)
    throw new InvalidInput(`files must have at most ${MAX_FILES} files.`, [], { field: 'files' });
  const renamed = files.map(async (one: JsonObject) => ({
    ...one,
    file_id: await upstreamFileId(scope, String(one['file_id'])),
  }));
  return { ...body, files: await Promise.all(renamed) };
}

function pathOf(
  storeId: string,
  action: OneStoreRequest['action'],
  { fileId, batchId }: { readonly fileId: string; readonly batchId: string },
): readonly string[] {
  const store = ['vector_stores', storeId];
  const file = [...store, 'files', fileId];
  const batch = [...store, 'file_batches', batchId];
  const paths: Readonly<Record<OneStoreRequest['action'], readonly string[]>> = {
    get: store,
    update: store,
    delete: store,
    search: [...store, 'search'],
    listFiles: [...store, 'files'],
    addFile: [...store, 'files'],
    getFile: file,
    updateFile: file,
    removeFile: file,
    readFile: [...file, 'content'],
    addBatch: [...store, 'file_batches'],
    getBatch: batch,
    cancelBatch: [...batch, 'cancel'],
    listBatchFiles: [...batch, 'files'],
  };
  return paths[action];
}
