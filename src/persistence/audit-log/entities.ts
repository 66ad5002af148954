import { defineEntity, p } from '@mikro-orm/core';
import type { AuditAction, AuditedRow, AuditNoun } from '../../domain/audit-log/audit-entry.ts';

/** A change of a row. Append-only. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntryEntity',
  tableName: 'audit_entry',
  properties: {
    id: p.text().primary(),
    createdAt: p.datetime(),
    changedBy: p.text(),
    actor: p.text().nullable(),
    changedByKey: p.text().nullable(),
    action: p.text().$type<AuditAction>(),
    noun: p.text().$type<AuditNoun>(),
    objectId: p.text(),
    teamId: p.text().nullable(),
    keyHash: p.text().nullable(),
    before: p.json().columnType('json').$type<AuditedRow>().nullable(),
    after: p.json().columnType('json').$type<AuditedRow>().nullable(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['objectId', 'createdAt'] }],
});
