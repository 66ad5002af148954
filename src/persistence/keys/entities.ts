import type { JsonObject } from '../../domain/json-object.ts';
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { KeySettings } from '../../domain/keys/key-settings.ts';
import type { KeySort } from '../../domain/keys/virtual-key.ts';
import type { Role } from '../../domain/role.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

const LIVE = `"deleted_at" is null`;

const TOTAL = 'coalesce((select total from key_spend where key_spend.key_hash = hash), 0)';

/** Sort ranks of keys as SQL. They are never null: a key without a value has the lowest rank, on both engines. */
export const KEY_RANKS: Readonly<Record<KeySort, string>> = {
  created_at: 'created_at',
  updated_at: 'updated_at',
  // An expression with an index of its own: for the bare column, SQLite would read every row in the order of the
  // primary key.
  token: "hash || ''",
  key_alias: "coalesce(alias, '')",
  max_budget: 'coalesce(cast(max_budget as numeric), -1)',
  spend: TOTAL,
  // The value of `budgetUse`: millionths of the budget.
  budget_use: `case when max_budget is null then -1 else (${TOTAL} - cast(coalesce(spent_before, '0') as bigint))
    / (cast(max_budget as bigint) / 1000000 + 1) end`,
};

/** Index of a list by rank. It also contains the column of the rank: otherwise PostgreSQL reads the row for it. */
const rankIndex = (column: string, rank: string) => {
  const name = `virtual_key_${column}_list_index`;
  const columns = column === 'hash' ? '"hash"' : `"hash", "${column}"`;
  return { name, expression: `create index "${name}" on "virtual_key" ((${rank}), ${columns}) where ${LIVE}` };
};

/** A virtual key changes over time (blocked, renamed, rotated, deleted): a managed entity. */
export const VirtualKeyEntity = defineEntity({
  name: 'VirtualKeyEntity',
  tableName: 'virtual_key',
  properties: {
    /**
     * Identity: hash of the first secret. It stays the same after a rotation, because rows that the key owns refer to
     * it.
     */
    hash: p.text().primary(),
    secretHash: p.text().unique(),
    previousSecretHash: p.text().nullable().unique(),
    previousSecretUntil: p.datetime().nullable(),
    name: p.text(),
    alias: p.text().nullable(),
    role: p.text().$type<Role>(),
    teamId: p.text().nullable(),
    userId: p.text().nullable(),
    // Project and organization of the settings, as columns for sums over keys.
    projectId: p.text().nullable().index(),
    organizationId: p.text().nullable().index(),
    models: p.json().columnType('json').$type<readonly string[]>(),
    maxBudget: p.type(UsdTextType).nullable(),
    budgetDuration: p.text().nullable(),
    budgetResetAt: p.datetime().nullable(),
    /** Total spend of the key at the start of its budget window. Null, which means zero, in the first window. */
    spentBefore: p.type(UsdTextType).nullable(),
    /** Earliest end of the key's budget windows. Null without a window, and for deleted keys. */
    nextResetAt: p.datetime().nullable(),
    /** Null for a key without settings. */
    settings: p.json().columnType('json').$type<KeySettings>().nullable(),
    // `json`, not PostgreSQL's `jsonb`, so that the caller's order of members is preserved.
    metadata: p.json().columnType('json').$type<JsonObject>(),
    blocked: p.boolean(),
    expiresAt: p.datetime().nullable(),
    rotations: p.integer(),
    rotatedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    createdBy: p.text(),
    updatedAt: p.datetime(),
    updatedBy: p.text(),
    /** Rows of deleted keys stay: spend and traces refer to them, and their secrets must not be issued again. */
    deletedAt: p.datetime().nullable(),
    deletedBy: p.text().nullable(),
    /** Increases with every change through the ORM, so that concurrent changes cannot overwrite each other. */
    revision: p.integer().version(),
  },
  uniques: [{ properties: ['alias'], where: LIVE }],
  indexes: [
    { properties: ['nextResetAt'] },
    // For lists, counts and sums of the keys of an owner.
    { properties: ['teamId', 'deletedAt', 'hash'] },
    { properties: ['userId', 'deletedAt', 'hash'] },
    // For lists and counts of lists. It contains the columns of common filters, so that a count reads no row.
    {
      name: 'virtual_key_list_index',
      properties: ['createdAt', 'hash', 'deletedAt', 'blocked', 'expiresAt', 'alias'],
      where: LIVE,
    },
    {
      name: 'virtual_key_deleted_list_index',
      properties: ['createdAt', 'hash'],
      where: `"deleted_at" is not null`,
    },
    // For the other orders of a list.
    { name: 'virtual_key_update_list_index', properties: ['updatedAt', 'hash'], where: LIVE },
    rankIndex('hash', KEY_RANKS.token),
    rankIndex('alias', KEY_RANKS.key_alias),
    rankIndex('max_budget', KEY_RANKS.max_budget),
  ],
});

export type VirtualKeyEntity = InferEntity<typeof VirtualKeyEntity>;

/** Hash of a secret that a rotation replaced. It is never deleted, so that no key is issued with it again. */
export const RetiredSecretEntity = defineEntity({
  name: 'RetiredSecretEntity',
  tableName: 'retired_secret',
  properties: {
    hash: p.text().primary(),
    /** Identity of its key. */
    keyHash: p.text(),
    retiredAt: p.datetime(),
  },
});
