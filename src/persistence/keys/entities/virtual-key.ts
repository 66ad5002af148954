import { defineEntity, p } from '@mikro-orm/core';
import type { Role } from '../../../domain/role.ts';
import type { KeySettings } from '../../../domain/keys/key-settings.ts';
import { UsdTextType } from '../../column-types/usd-text.ts';

/** A virtual key changes over time (blocked, renamed, rotated, deleted): a managed entity. */
const VirtualKeySchema = defineEntity({
  name: 'VirtualKeyEntity',
  tableName: 'virtual_key',
  properties: {
    /** Identity: hash of the first secret. Rows that the key owns name it, so it survives a rotation. */
    hash: p.text().primary(),
    secretHash: p.text().unique(),
    previousSecretHash: p.text().nullable().unique(),
    previousSecretUntil: p.datetime().nullable(),
    name: p.text(),
    alias: p.text().nullable(),
    role: p.text().$type<Role>(),
    teamId: p.text().nullable().index(),
    userId: p.text().nullable().index(),
    /** Project and organization of the settings, as columns for sums over keys. */
    projectId: p.text().nullable().index(),
    organizationId: p.text().nullable().index(),
    models: p.json().columnType('json').$type<readonly string[]>(),
    maxBudget: p.type(UsdTextType).nullable(),
    budgetDuration: p.text().nullable(),
    budgetResetAt: p.datetime().nullable(),
    /** Null is zero. */
    spentBefore: p.type(UsdTextType).nullable(),
    /** When the first of its budget windows ends. Null without one, and for deleted keys. */
    nextResetAt: p.datetime().nullable(),
    /** Null for a key without any. */
    settings: p.json().columnType('json').$type<KeySettings>().nullable(),
    // `json`, not PostgreSQL's `jsonb`, so that the caller's order of keys is preserved.
    metadata: p.json().columnType('json').$type<Readonly<Record<string, unknown>>>(),
    blocked: p.boolean(),
    expiresAt: p.datetime().nullable(),
    rotations: p.integer(),
    rotatedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    createdBy: p.text(),
    updatedAt: p.datetime(),
    updatedBy: p.text(),
    /** Rows of deleted keys stay: their spend and traces name them, and their secrets must not be issued again. */
    deletedAt: p.datetime().nullable(),
    deletedBy: p.text().nullable(),
    /** Grows with every change through the ORM: two changes at once cannot overwrite each other. */
    revision: p.integer().version(),
  },
  uniques: [{ properties: ['alias'], where: `"deleted_at" is null` }],
  indexes: [{ properties: ['createdAt', 'hash'] }, { properties: ['nextResetAt'] }],
});

export class VirtualKeyEntity extends VirtualKeySchema.class {}
VirtualKeySchema.setClass(VirtualKeyEntity);
