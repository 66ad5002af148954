import { Conflict, InvalidInput } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { withKeptSecrets } from '../settings/redaction.ts';

/** A registered store of a provider. Registering creates nothing at the provider. */
export interface VectorStore {
  /** Id of the store at its provider. */
  readonly id: string;
  /** Provider, such as `openai`. */
  readonly provider: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly metadata: JsonObject | null;
  /** Name of the stored credential with the account at the provider. Null: that of `params`, or the default one. */
  readonly credentialName: string | null;
  /** Address, account and settings of the provider, secrets included. */
  readonly params: JsonObject;
  /** Team whose keys may use it; null when every key may. */
  readonly teamId: string | null;
  /** User that registered it. Null for a store of the configuration file. */
  readonly userId: string | null;
  /** Whether the configuration file has it. Such a store cannot be changed at run time. */
  readonly isFromConfig: boolean;
  /** Null for a store of the configuration file. */
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

/** Members that are stored without encryption. */
type OpenMembers = 'id' | 'provider' | 'name' | 'description' | 'metadata' | 'credentialName' | 'teamId' | 'userId';

/** A store as the database has it. Its params are encrypted. */
export interface StoredVectorStore extends Stamps, Pick<VectorStore, OpenMembers> {
  /** Params as encrypted JSON, base64. */
  readonly sealed: string;
}

export type VectorStoreStore = RowStore<StoredVectorStore, null>;

/** A stored row with its params decrypted. */
export type OpenVectorStore = Omit<StoredVectorStore, 'sealed'> & Pick<VectorStore, 'params'>;

/** A store to register. */
export type VectorStoreDraft = Pick<VectorStore, OpenMembers | 'params'>;

/** Changes to a registered store. An absent member is unchanged. A redacted secret in `params` keeps its value. */
export type VectorStorePatch = Partial<
  Pick<VectorStore, 'provider' | 'name' | 'description' | 'metadata' | 'credentialName' | 'params' | 'teamId'>
>;

/** Registered stores: those of the configuration file, and the stored ones. */
export interface VectorStores {
  /** Stores as configured, those of the file first. References to variables in their params are not resolved. */
  list(): readonly VectorStore[];
  /** A store by its id; its params have the values of the variables. Null when none has the id. */
  find(id: string): VectorStore | null;
  /** Why the account of a store is unknown, so that it cannot be called; null when it can. */
  accountFault(id: string): string | null;
  /** Registers a store. Throws Conflict when its id is taken, and InvalidInput. */
  add(draft: VectorStoreDraft, by: Authored): Promise<VectorStore>;
  /** Changes a registered store. Null when none has the id. Throws Conflict and InvalidInput. */
  change(id: string, patch: VectorStorePatch, by: Authored): Promise<VectorStore | null>;
  /** Removes a registered store. Null when none has the id. */
  remove(id: string): Promise<VectorStore | null>;
  /** Replaces the stores of the configuration file. */
  configure(stores: readonly VectorStore[]): void;
  /** Reads the stored rows again, for changes by other processes. */
  refresh(): Promise<void>;
}

/** A store of the configuration file cannot be changed at run time. */
export class FileOwnedStore extends Conflict {
  readonly storeId: string;
  constructor(id: string) {
    super(`The vector store ${id} is in the configuration file. Change it there.`);
    this.name = 'FileOwnedStore';
    this.storeId = id;
  }
}

export const storeExists = (id: string): Conflict => new Conflict(`Vector store with ID ${id} already exists`);

const MAX_CHARACTERS = 1024;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
/** Descriptions may have several lines. */
const NUL_OR_UNPAIRED_SURROGATE = /[\0\p{Cs}]/u;

/** Returns the store if it can be stored. Throws InvalidInput. */
function validated(store: OpenVectorStore): OpenVectorStore {
  const { id, provider, name, description, credentialName, teamId } = store;
  if (id.trim() === '' || provider.trim() === '')
    throw new InvalidInput('vector_store_id and custom_llm_provider are required');
  const texts = {
    vector_store_id: id,
    custom_llm_provider: provider,
    vector_store_name: name,
    litellm_credential_name: credentialName,
    team_id: teamId,
  };
  for (const [member, text] of Object.entries(texts))
    if (text !== null && (text.length > MAX_CHARACTERS || CONTROL_OR_UNPAIRED_SURROGATE.test(text)))
      throw new InvalidInput(
        `${member} must have at most ${MAX_CHARACTERS} characters, no control character and no unpaired surrogate`,
      );
  if (description !== null && NUL_OR_UNPAIRED_SURROGATE.test(description))
    throw new InvalidInput('vector_store_description must have no NUL character and no unpaired surrogate');
  return store;
}

/** A new registered store. Throws InvalidInput. */
export const newVectorStore = (draft: VectorStoreDraft, by: Authored): OpenVectorStore =>
  validated({ ...draft, ...newStamps(by) });

/** A registered store with a patch applied. Throws InvalidInput. */
export const patchedVectorStore = (
  before: OpenVectorStore,
  { params, ...patch }: VectorStorePatch,
  { now, by }: Authored,
): OpenVectorStore =>
  validated({
    ...before,
    ...patch,
    params: params === undefined ? before.params : withKeptSecrets(params, before.params),
    updatedAt: now,
    updatedBy: by,
  });
