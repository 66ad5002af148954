import type { JsonObject } from '../../domain/json-object.ts';
import type { Credential, CredentialStore } from '../../domain/credentials/credential.ts';
import { type Parameters, splitParameters, revealedParameters } from '../../domain/deployments/parameters.ts';
import type { DeploymentStore, StoredDeployment } from '../../domain/deployments/stored-deployment.ts';
import type { RowStore } from '../../domain/row-store.ts';
import type { SealedCredential, SealedDeployment, SealedRow, SealedStore } from '../../domain/sealed-row.ts';
import { type Cipher, cipherFor, type Secrets } from './encryption.ts';

/** Parameters of a row that no known key decrypts. */
const UNREADABLE: Parameters & { readonly unreadable: boolean } = { params: {}, secrets: {}, unreadable: true };

type SealedKind = 'deployments' | 'credentials';

/** Encrypts the parameters of stored rows of one kind. */
export const rowCipher = (salt: Secrets, kind: SealedKind): Cipher => cipherFor(salt, `stored ${kind}`);

/** Encrypts and decrypts the parameters of rows of one kind. The id of a row is authenticated with them. */
function createRowSealer(salt: Secrets, kind: SealedKind) {
  const cipher = rowCipher(salt, kind);
  return {
    seal: ({ id, params, secrets }: Parameters & { readonly id: string }): string =>
      cipher.seal(Buffer.from(JSON.stringify(revealedParameters({ params, secrets }))), id).toString('base64'),
    open({ id, sealed }: Pick<SealedRow, 'id' | 'sealed'>): Parameters & { readonly unreadable: boolean } {
      const plain = cipher.open(Buffer.from(sealed, 'base64'), id);
      if (plain === null) return UNREADABLE;
      const parameters = JSON.parse(plain.toString('utf8')) as JsonObject;
      return { ...splitParameters(parameters), unreadable: false };
    },
  };
}

interface Conversion<Row, Sealed> {
  readonly encrypted: (row: Row) => Sealed;
  readonly decrypted: (row: Sealed) => Row;
}

/** A store of decrypted rows, on top of a store that holds the same rows encrypted. */
function createDecryptingStore<Row, Sealed extends SealedRow>(
  store: SealedStore<Sealed>,
  { encrypted, decrypted }: Conversion<Row, Sealed>,
): RowStore<Row, { readonly ids: readonly string[] | null }> & Pick<SealedStore<Sealed>, 'fingerprint'> {
  return {
    add: (...rows) => store.add(...rows.map(encrypted)),
    async find(id) {
      const row = await store.find(id);
      return row === null ? null : decrypted(row);
    },
    findMany: async (ids) => (await store.findMany(ids)).map(decrypted),
    all: async (filter) => (await store.all(filter)).map(decrypted),
    list: async (page) => (await store.list(page)).map(decrypted),
    count: (filter) => store.count(filter),
    async change(id, change) {
      const done = await store.change(id, (row) => encrypted(change(decrypted(row))));
      return done === null ? null : { before: decrypted(done.before), after: decrypted(done.after) };
    },
    remove: async (ids) => (await store.remove(ids)).map(decrypted),
    fingerprint: () => store.fingerprint(),
  };
}

/** Deployments whose parameters are encrypted with a key derived from the salt key. */
export function createSealedDeployments(store: SealedStore<SealedDeployment>, salt: Secrets): DeploymentStore {
  const sealer = createRowSealer(salt, 'deployments');
  return createDecryptingStore<StoredDeployment, SealedDeployment>(store, {
    encrypted: ({ params, secrets, unreadable: _unreadable, ...row }) => ({
      ...row,
      sealed: sealer.seal({ id: row.id, params, secrets }),
    }),
    decrypted: ({ sealed, ...row }) => ({ ...row, ...sealer.open({ id: row.id, sealed }) }),
  });
}

/** Credentials whose values are encrypted with a key derived from the salt key. */
export function createSealedCredentials(store: SealedStore<SealedCredential>, salt: Secrets): CredentialStore {
  const sealer = createRowSealer(salt, 'credentials');
  return createDecryptingStore<Credential, SealedCredential>(store, {
    encrypted: ({ params, secrets, unreadable: _unreadable, ...row }) => ({
      ...row,
      sealed: sealer.seal({ id: row.id, params, secrets }),
    }),
    decrypted: ({ sealed, ...row }) => ({ ...row, ...sealer.open({ id: row.id, sealed }) }),
  });
}
