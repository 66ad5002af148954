import { Migration } from '@mikro-orm/migrations';

const BEFORE = `
  "hash" text not null primary key,
  "name" text not null,
  "alias" text null,
  "role" text not null,
  "team_id" text null,
  "user_id" text null,
  "models" json not null,
  "max_budget" text null,
  "metadata" json not null,
  "blocked" integer not null,
  "expires_at" datetime null,
  "created_at" datetime not null,
  "created_by" text not null
`;
const KEPT = `"hash", "name", "alias", "role", "team_id", "user_id", "models", "max_budget", "metadata", "blocked",
  "expires_at", "created_at", "created_by"`;

/**
 * Keys change and are deleted; a rotated key keeps its identity and gets another secret. SQLite cannot add a column that
 * is not null without a default: the table is copied.
 */
export class Migration20261122070000_key_changes extends Migration {
  override up(): void {
    this.addSql(`
      create table "retired_secret" (
        "hash" text not null primary key,
        "key_hash" text not null,
        "retired_at" datetime not null
      )
    `);
    this.addSql('drop index "virtual_key_alias_unique"');
    this.addSql('alter table "virtual_key" rename to "virtual_key_before"');
    this.addSql(`
      create table "virtual_key" (${BEFORE},
        "secret_hash" text not null,
        "previous_secret_hash" text null,
        "previous_secret_until" datetime null,
        "rotations" integer not null,
        "rotated_at" datetime null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "deleted_at" datetime null,
        "deleted_by" text null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(`
      insert into "virtual_key" (${KEPT}, "secret_hash", "rotations", "updated_at", "updated_by")
      select ${KEPT}, "hash", 0, "created_at", "created_by" from "virtual_key_before"
    `);
    this.addSql('drop table "virtual_key_before"');
    this.addSql('create unique index "virtual_key_secret_hash_unique" on "virtual_key" ("secret_hash")');
    this.addSql(
      'create unique index "virtual_key_previous_secret_hash_unique" on "virtual_key" ("previous_secret_hash")',
    );
    this.addSql('create index "virtual_key_created_at_hash_index" on "virtual_key" ("created_at", "hash")');
    this.addSql('create unique index "virtual_key_alias_unique" on "virtual_key" ("alias") where "deleted_at" is null');
  }

  /**
   * Removes the rows of deleted keys, which would be valid again. Blocks rotated keys, because their first secret would
   * be valid again.
   */
  override down(): void {
    this.addSql('update "virtual_key" set "blocked" = 1 where "secret_hash" <> "hash"');
    this.addSql('drop index "virtual_key_alias_unique"');
    this.addSql('alter table "virtual_key" rename to "virtual_key_after"');
    this.addSql(`create table "virtual_key" (${BEFORE})`);
    this.addSql(`
      insert into "virtual_key" (${KEPT}) select ${KEPT} from "virtual_key_after" where "deleted_at" is null
    `);
    this.addSql('drop table "virtual_key_after"');
    this.addSql('create unique index "virtual_key_alias_unique" on "virtual_key" ("alias")');
    this.addSql('drop table "retired_secret"');
  }
}
