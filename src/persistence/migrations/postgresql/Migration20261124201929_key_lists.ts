import { Migration } from '@mikro-orm/migrations';

const LIVE = '"deleted_at" is null';

const INDEXES = [
  ['virtual_key_list_index', `("created_at", "hash", "deleted_at", "blocked", "expires_at", "alias") where ${LIVE}`],
  ['virtual_key_deleted_list_index', '("created_at", "hash") where "deleted_at" is not null'],
  ['virtual_key_update_list_index', `("updated_at", "hash") where ${LIVE}`],
  ['virtual_key_hash_list_index', `((hash || ''), "hash") where ${LIVE}`],
  ['virtual_key_alias_list_index', `((coalesce(alias, '')), "hash", "alias") where ${LIVE}`],
  [
    'virtual_key_max_budget_list_index',
    `((coalesce(cast(max_budget as numeric), -1)), "hash", "max_budget") where ${LIVE}`,
  ],
  ['virtual_key_team_id_deleted_at_hash_index', '("team_id", "deleted_at", "hash")'],
  ['virtual_key_user_id_deleted_at_hash_index', '("user_id", "deleted_at", "hash")'],
] as const;

/** Indexes that the new ones replace. */
const REPLACED = [
  ['virtual_key_created_at_hash_index', '("created_at", "hash")'],
  ['virtual_key_team_id_index', '("team_id")'],
  ['virtual_key_user_id_index', '("user_id")'],
] as const;

/** Indexes for pages and counts of keys, and for the keys of owners. */
export class Migration20261124201929_key_lists extends Migration {
  override up(): void {
    for (const [name] of REPLACED) this.addSql(`drop index "${name}"`);
    for (const [name, columns] of INDEXES) this.addSql(`create index "${name}" on "virtual_key" ${columns}`);
  }

  override down(): void {
    for (const [name] of INDEXES) this.addSql(`drop index "${name}"`);
    for (const [name, columns] of REPLACED) this.addSql(`create index "${name}" on "virtual_key" ${columns}`);
  }
}
