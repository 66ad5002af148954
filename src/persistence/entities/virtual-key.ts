import { defineEntity, p } from '@mikro-orm/core';
import type { Role } from '../../domain/role.ts';
import { UsdTextType } from './usd-text-type.ts';

/** A virtual key has a life (it is blocked, renamed, expires): a managed entity. */
const VirtualKeySchema = defineEntity({
  name: 'VirtualKeyEntity',
  tableName: 'virtual_key',
  properties: {
    hash: p.text().primary(),
    name: p.text(),
    alias: p.text().nullable().unique(),
    role: p.text().$type<Role>(),
    teamId: p.text().nullable(),
    userId: p.text().nullable(),
    models: p.json().columnType('json').$type<readonly string[]>(),
    maxBudget: p.type(UsdTextType).nullable(),
    // `json`, not PostgreSQL's `jsonb`: what a caller stored comes back in the caller's order of keys.
    metadata: p.json().columnType('json').$type<Readonly<Record<string, unknown>>>(),
    blocked: p.boolean(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    createdBy: p.text(),
  },
});

export class VirtualKeyEntity extends VirtualKeySchema.class {}
VirtualKeySchema.setClass(VirtualKeyEntity);
