import type { TokenMappingStore } from '../../domain/token-mappings/token-mapping.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching } from '../database/row-store.ts';
import { TokenMappingEntity } from './entities.ts';

export const createTokenMappingStore = (database: Database): TokenMappingStore =>
  createRowStore(database, {
    entity: TokenMappingEntity,
    noun: 'mapping of tokens',
    audited: 'token_mapping',
    where: ({ claimName, claimValues, valuePart, keyHash, active }) => [
      ...matching({ claimName, claimValue: claimValues, keyHash, active }),
      ...containing('claim_value', valuePart),
    ],
    sortColumns: { claim_value: 'claim_value' },
    conflictText: ({ claimName, claimValue }) =>
      `A mapping of the claim '${claimName}' with '${claimValue}' already exists.`,
  });
