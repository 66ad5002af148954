import { Conflict, InvalidInput, NotFound } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** A name for a vector store of a provider. Requests use the name in place of the id of the store. */
export interface VectorStoreIndex extends Stamps {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  /** Id of the store at its provider. */
  readonly storeId: string;
  /** Name of the registered vector store whose provider and account are used. */
  readonly accountName: string;
  /** Free-form information; null without any. */
  readonly info: JsonObject | null;
}

export type VectorStoreIndexStore = RowStore<VectorStoreIndex, null>;

/** An index to store. */
export type VectorStoreIndexDraft = Pick<VectorStoreIndex, 'id' | 'name' | 'storeId' | 'accountName' | 'info'>;

/** Stored indexes in memory, the oldest first. */
export interface VectorStoreIndexes {
  list(): readonly VectorStoreIndex[];
  /** An index by its name; null when none has the name. */
  named(name: string): VectorStoreIndex | null;
  /** The indexes of a store, by its id at the provider. */
  ofStore(storeId: string): readonly VectorStoreIndex[];
  /** Stores an index. Throws Conflict when its name is taken. */
  add(index: VectorStoreIndex): Promise<VectorStoreIndex>;
  /** Removes an index by its name. Null when none has the name. */
  remove(name: string): Promise<VectorStoreIndex | null>;
  /** Reads the stored rows again, for changes by other processes. */
  refresh(): Promise<void>;
}

export const indexExists = (name: string): Conflict => new Conflict(`Index ${name} already exists`);

export const unknownIndex = (name: string): NotFound =>
  new NotFound('vector store index', name, `Index ${name} not found`);

const MAX_CHARACTERS = 1024;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;

function faultOf(member: string, value: string): string | null {
  if (value.trim() === '') return `${member} is required`;
  if (value.length <= MAX_CHARACTERS && !CONTROL_OR_UNPAIRED_SURROGATE.test(value)) return null;
  return `${member} must have at most ${MAX_CHARACTERS} characters, no control character and no unpaired surrogate`;
}

/** A new index. Throws InvalidInput. */
export function newVectorStoreIndex(draft: VectorStoreIndexDraft, by: Authored): VectorStoreIndex {
  const members = {
    index_name: draft.name,
    'litellm_params.vector_store_index': draft.storeId,
    'litellm_params.vector_store_name': draft.accountName,
  };
  for (const [member, value] of Object.entries(members)) {
    const fault = faultOf(member, value);
    if (fault !== null) throw new InvalidInput(fault);
  }
  // Providers may decode the slash of an id, and then serve another path. Paths read a name of dots as directories.
  for (const value of [draft.name, draft.storeId])
    if (value.includes('/') || /^\.{1,2}$/.test(value))
      throw new InvalidInput(
        'index_name and litellm_params.vector_store_index must have no slash and be no "." or ".."',
      );
  return { ...draft, ...newStamps(by) };
}
