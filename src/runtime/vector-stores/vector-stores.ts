import { Conflict } from '../../domain/errors.ts';
import type { ParamReader } from '../../domain/guardrails/guardrails.ts';
import { hasRedacted } from '../../domain/settings/redaction.ts';
import {
  FileOwnedStore,
  newVectorStore,
  type OpenVectorStore,
  patchedVectorStore,
  storeExists,
  type StoredVectorStore,
  type VectorStore,
  type VectorStores,
  type VectorStoreStore,
} from '../../domain/vector-stores/vector-store.ts';
import { type Cipher, cipherFor, type Secrets } from '../credentials/encryption.ts';
import { createJsonSealer } from '../credentials/json-sealer.ts';
import { orderedReads } from '../tasks/ordered-reads.ts';

interface VectorStoreOptions {
  /** Stores of the configuration file. */
  readonly configured: readonly VectorStore[];
  readonly readParams: ParamReader;
  readonly store: VectorStoreStore;
  /** Secrets from which the encryption keys for stored params are derived. */
  readonly salt: Secrets;
  readonly log: { warn(facts: object, event: string): void };
}

/** Registered stores in memory over their rows. */
export function createVectorStores({ configured, readParams, store, salt, log }: VectorStoreOptions): VectorStores {
  const sealer = createJsonSealer<VectorStore['params']>(vectorStoreCipher(salt), (id) => {
    log.warn({ id }, 'A vector store has no parameters: they were encrypted with another salt key.');
  });
  /** Ids of stored rows whose params cannot be decrypted. */
  const unreadable = new Set<string>();
  let fromFile: readonly VectorStore[] = configured;
  let stored: readonly VectorStore[] = [];

  function load({ sealed, createdBy: _by, updatedBy: _updatedBy, ...row }: StoredVectorStore): VectorStore {
    const params = sealer.open(row.id, sealed);
    if (params === null) unreadable.add(row.id);
    else unreadable.delete(row.id);
    return { ...row, params: params ?? {}, isFromConfig: false };
  }

  const sealedRow = ({ params, ...row }: OpenVectorStore): StoredVectorStore => ({
    ...row,
    sealed: sealer.seal(row.id, params),
  });

  const refresh = orderedReads(
    () => store.all(null),
    (rows) => {
      stored = rows.map(load);
    },
  );

  const ofFile = (id: string): VectorStore | undefined => fromFile.find((one) => one.id === id);

  /** A store as configured. One of the file takes precedence. */
  const configuredStore = (id: string): VectorStore | undefined => ofFile(id) ?? stored.find((one) => one.id === id);

  /** Throws FileOwnedStore for a store of the configuration file. */
  function assertNotOfFile(id: string): void {
    if (ofFile(id) !== undefined) throw new FileOwnedStore(id);
  }

  return {
    list: () => [...fromFile, ...stored.filter(({ id }) => ofFile(id) === undefined)],
    find(id) {
      const found = configuredStore(id);
      return found === undefined ? null : { ...found, params: readParams(found.params) };
    },
    accountFault(id) {
      const found = configuredStore(id);
      if (found === undefined) return null;
      if (!found.isFromConfig && unreadable.has(id))
        return `The parameters of the vector store ${id} were encrypted with another salt key.`;
      const params = readParams(found.params);
      const unset = ['api_base', 'api_key'].find(
        (name) => (found.params[name] ?? null) !== null && params[name] === null,
      );
      return unset === undefined ? null : `The ${unset} of the vector store ${id} names a variable that is not set.`;
    },
    async add(draft, by) {
      if (ofFile(draft.id) !== undefined) throw storeExists(draft.id);
      const row = sealedRow(newVectorStore(draft, by));
      await store.add(row);
      await refresh();
      return load(row);
    },
    async change(id, patch, by) {
      assertNotOfFile(id);
      const changed = await store.change(id, (row) => {
        const { sealed, ...rest } = row;
        const params = sealer.open(id, sealed);
        const isReplaced = patch.params !== undefined && !hasRedacted(patch.params);
        // Without the stored params, a patch would lose them.
        if (params === null && !isReplaced)
          throw new Conflict(
            'The parameters of this vector store were encrypted with another salt key. Send all of them, with secrets.',
          );
        return sealedRow(patchedVectorStore({ ...rest, params: params ?? {} }, patch, by));
      });
      await refresh();
      return changed === null ? null : load(changed.after);
    },
    async remove(id) {
      assertNotOfFile(id);
      const [removed] = await store.remove([id]);
      await refresh();
      return removed === undefined ? null : load(removed);
    },
    configure(next) {
      fromFile = next;
    },
    refresh,
  };
}

/** Encrypts the parameters of registered stores. */
export const vectorStoreCipher = (salt: Secrets): Cipher => cipherFor(salt, 'vector stores');
