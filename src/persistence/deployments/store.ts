import type { SealedDeployment, SealedStore } from '../../domain/sealed-row.ts';
import type { Database } from '../database/database.ts';
import { fingerprintOf } from '../database/fingerprint.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import { DeploymentEntity } from './entities.ts';

export const createDeploymentStore = (database: Database): SealedStore<SealedDeployment> => ({
  ...createRowStore<SealedDeployment, { readonly ids: readonly string[] | null }, 'created_at'>(database, {
    entity: DeploymentEntity,
    noun: 'model',
    audited: 'deployment',
    where: ({ ids }) => matching({ id: ids }),
    conflictText: ({ id }) => `A model with the id ${id} already exists.`,
  }),
  fingerprint: fingerprintOf(database, 'deployment'),
});
