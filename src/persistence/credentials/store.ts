import type { SealedCredential, SealedStore } from '../../domain/sealed-row.ts';
import type { Database } from '../database/database.ts';
import { fingerprintOf } from '../database/fingerprint.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { CredentialEntity } from './entities.ts';

export const createCredentialStore = (database: Database): SealedStore<SealedCredential> => ({
  ...createRowStore<SealedCredential, { readonly ids: readonly string[] | null }, 'created_at'>(database, {
    entity: CredentialEntity,
    noun: 'credential',
    audited: 'credential',
    where: ({ ids }) => matching({ id: ids }),
    conflictText: ({ id }) =>
      `Credential '${id}' already exists. Update it with PATCH /credentials/${id}, or delete it first.`,
  }),
  fingerprint: fingerprintOf(database, 'credential'),
});
