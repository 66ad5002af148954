import type { AuditLog } from '../../domain/audit-log/audit-entry.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, createdWithin, matching } from '../database/row-store.ts';
import { AuditEntryEntity } from './entities.ts';

export const createAuditLog = (database: Database): AuditLog =>
  createRowStore(database, {
    entity: AuditEntryEntity,
    noun: 'audit entry',
    where: ({ from, to, changedBy, changedByKey, withoutKey, action, noun, objectId, teamId, keyHash }) => [
      ...createdWithin(from, to),
      ...(withoutKey ? [{ changedByKey: null }] : []),
      ...matching({ changedBy, changedByKey, action, noun, objectId, teamId, keyHash }),
    ],
    sortColumns: {
      changed_by: 'changed_by',
      action: 'action',
      noun: 'noun',
      object_id: 'object_id',
    },
    conflictText: ({ id }) => `An audit entry with id ${id} already exists.`,
  });
