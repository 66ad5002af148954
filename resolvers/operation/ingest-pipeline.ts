import type { CallLabels } from '../../src/domain/calls/call-labels.ts';
import { LimitExceeded, UpstreamFailed } from '../../src/domain/errors.ts';
import type { JsonObject } from '../../src/domain/json-object.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import type { Ingested, UploadOptions } from '../../src/domain/rag/ingest.ts';
import type { CheckedFile } from '../../src/domain/rag/upload.ts';
import { registerCreatedStore } from './created-store.ts';
import type { Scope } from './scope.ts';
import { askStore, deletionScope, type StoreCall, type StoreTarget } from './vector-store-calls.ts';
import type { RagPlatform } from './vector-store-platform.ts';

type RagScope = Scope<RagPlatform>;

/** The file of an ingest. `ownId` is the id that the caller sent. */
export type IngestSource =
  | { readonly kind: 'sent'; readonly file: CheckedFile }
  | { readonly kind: 'stored'; readonly id: string; readonly ownId: string };

/** A store, and the labels of the calls about it. */
export interface IngestTarget extends StoreTarget {
  readonly labels: CallLabels | undefined;
}

interface Pipeline {
  readonly source: IngestSource;
  readonly upload: UploadOptions;
}

const MS_PER_SECOND = 1_000;
/** Waits between two reads of the state of a file, in ms. */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 10_000;

/**
 * Uploads the file, creates a store where the target names none, adds the file, and waits until it is searchable. A
 * failure of the provider is a result; what this ingest created there is then deleted. Throws what the gateway's
 * `forward` throws for the caller, such as LimitExceeded.
 */
export async function runIngest(
  scope: RagScope,
  target: IngestTarget,
  { source, upload }: Pipeline,
): Promise<Ingested> {
  const id = `ingest_${scope.platform.ids.uuid()}`;
  const created: (readonly string[])[] = [];
  try {
    const fileId = source.kind === 'stored' ? source.id : await uploadFile(scope, target, source.file);
    if (source.kind === 'sent') created.push(['files', fileId]);
    const isNew = target.storeId === '';
    const storeId = isNew ? await createStore(scope, target, upload) : target.storeId;
    if (isNew) created.push(['vector_stores', storeId]);
    const added = await addFile(scope, target, { storeId, fileId, upload });
    const status = upload.waits ? await lastStatus(scope, target, { storeId, fileId, upload, added }) : 'in_progress';
    if (isNew) await registerCreatedStore(scope, target, { id: storeId, name: upload.storeName });
    const shownId = source.kind === 'stored' ? source.ownId : fileId;
    return { id, status, vectorStoreId: storeId, fileId: shownId, error: null };
  } catch (failure) {
    await removeCreated(scope, target, created);
    scope.signal.throwIfAborted();
    if (!(failure instanceof UpstreamFailed)) throw failure;
    return { id, status: 'failed', vectorStoreId: '', fileId: null, error: failure.message };
  }
}

const ask = (scope: RagScope, target: IngestTarget, call: Omit<StoreCall, 'callId' | 'parent'>): Promise<JsonObject> =>
  askStore(scope, target, {
    ...call,
    callId: null,
    parent: null,
    ...(target.labels === undefined ? {} : { labels: target.labels }),
  });

/**
 * Deletes objects at the provider, also after a disconnect of the client. A failure is ignored: the ingest has failed
 * anyway.
 */
async function removeCreated(
  scope: RagScope,
  target: IngestTarget,
  created: readonly (readonly string[])[],
): Promise<void> {
  const ofDeletion = deletionScope(scope);
  for (const path of created.toReversed())
    // Without labels, because a block or a budget of the customer must not prevent the deletion.
    await ask(
      ofDeletion,
      { ...target, labels: undefined },
      {
        action: path[0] === 'files' ? 'deleteFile' : 'delete',
        method: 'DELETE',
        path,
      },
    ).catch(() => {});
}

/** The id in an answer. Throws UpstreamFailed for an answer without one. */
function idIn({ id }: JsonObject, { provider }: StoreTarget): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new UpstreamFailed('The answer of the provider has no id.', { provider, upstreamStatus: null });
}

async function uploadFile(scope: RagScope, target: IngestTarget, file: CheckedFile): Promise<string> {
  const boundary = `lensgate-${scope.platform.ids.uuid()}`;
  const head = [
    `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nassistants\r\n`,
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\n`,
    `content-type: ${file.contentType}\r\n\r\n`,
  ];
  const bytes = Buffer.concat([Buffer.from(head.join('')), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const form = { bytes, contentType: `multipart/form-data; boundary=${boundary}` };
  return idIn(await ask(scope, target, { action: 'uploadFile', method: 'POST', path: ['files'], form }), target);
}

async function createStore(scope: RagScope, target: IngestTarget, { storeName }: UploadOptions): Promise<string> {
  const json = storeName === null ? {} : { name: storeName };
  return idIn(await ask(scope, target, { action: 'create', method: 'POST', path: ['vector_stores'], json }), target);
}

interface AddedFile {
  readonly storeId: string;
  readonly fileId: string;
  readonly upload: UploadOptions;
}

const addFile = (
  scope: RagScope,
  target: IngestTarget,
  { storeId, fileId, upload }: AddedFile,
): Promise<JsonObject> => {
  const { chunking, attributes } = upload;
  const json = {
    file_id: fileId,
    ...(chunking === null ? {} : { chunking_strategy: chunking }),
    ...(attributes === null ? {} : { attributes }),
  };
  return ask(scope, target, { action: 'addFile', method: 'POST', path: ['vector_stores', storeId, 'files'], json });
};

/** Waits until the file is searchable. Throws UpstreamFailed when it fails, and after the deadline of the ingest. */
async function lastStatus(
  scope: RagScope,
  target: IngestTarget,
  { storeId, fileId, upload, added }: AddedFile & { readonly added: JsonObject },
): Promise<'completed'> {
  const { clock, pause } = scope.platform;
  const { provider } = target;
  const { timeoutSeconds } = upload;
  const endsAt = clock.now().getTime() + timeoutSeconds * MS_PER_SECOND;
  let state = added;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    if (state['status'] === 'completed') return 'completed';
    if (state['status'] === 'failed' || state['status'] === 'cancelled') {
      const { message } = jsonObjectOf(state['last_error']);
      const text = typeof message === 'string' ? message : `The provider reports the status ${state['status']}.`;
      throw new UpstreamFailed(text, { provider, upstreamStatus: null });
    }
    const leftMs = endsAt - clock.now().getTime();
    if (leftMs <= 0)
      throw new UpstreamFailed(`The file was not searchable after ${timeoutSeconds} seconds.`, {
        provider,
        upstreamStatus: null,
      });
    await pause(Math.min(waitMs, leftMs), scope.signal);
    const path = ['vector_stores', storeId, 'files', fileId];
    state = await ask(scope, target, { action: 'getFile', method: 'GET', path }).catch((failure: unknown) => {
      // A rate limit of the caller's key delays the next read only.
      if (failure instanceof LimitExceeded) return state;
      throw failure;
    });
  }
}
