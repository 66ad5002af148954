import { Migration } from '@mikro-orm/migrations';

/** Keys change and are deleted; a rotated key keeps its identity and gets another secret. */
export class Migration20261122070000_key_changes extends Migration {
  override up(): void {
    this.addSql(`
      create table "retired_secret" (
        "hash" text not null,
        "key_hash" text not null,
        "retired_at" timestamptz not null,
        primary key ("hash")
      )
    `);
    this.addSql('alter table "virtual_key" drop constraint "virtual_key_alias_unique"');
    this.addSql(`
      alter table "virtual_key"
        add "secret_hash" text null,
        add "previous_secret_hash" text null,
        add "previous_secret_until" timestamptz null,
        add "rotations" int null,
        add "rotated_at" timestamptz null,
        add "updated_at" timestamptz null,
        add "updated_by" text null,
        add "deleted_at" timestamptz null,
        add "deleted_by" text null,
        add "revision" int not null default 1
    `);
    this.addSql(`
      update "virtual_key"
      set "secret_hash" = "hash", "rotations" = 0, "updated_at" = "created_at", "updated_by" = "created_by"
    `);
    this.addSql(`
      alter table "virtual_key"
        alter column "secret_hash" set not null,
        alter column "rotations" set not null,
        alter column "updated_at" set not null,
        alter column "updated_by" set not null
    `);
    this.addSql('alter table "virtual_key" add constraint "virtual_key_secret_hash_unique" unique ("secret_hash")');
    this.addSql(
      'alter table "virtual_key" add constraint "virtual_key_previous_secret_hash_unique" unique ("previous_secret_hash")',
    );
    this.addSql('create index "virtual_key_created_at_hash_index" on "virtual_key" ("created_at", "hash")');
    this.addSql('create unique index "virtual_key_alias_unique" on "virtual_key" ("alias") where "deleted_at" is null');
  }

  /**
   * Removes the rows of deleted keys, which would be valid again. Blocks rotated keys, because their first secret would
   * be valid again.
   */
  override down(): void {
    this.addSql('delete from "virtual_key" where "deleted_at" is not null');
    this.addSql('update "virtual_key" set "blocked" = true where "secret_hash" <> "hash"');
    this.addSql('drop index "virtual_key_alias_unique"');
    this.addSql('drop index "virtual_key_created_at_hash_index"');
    this.addSql(`
      alter table "virtual_key"
        drop column "secret_hash",
        drop column "previous_secret_hash",
        drop column "previous_secret_until",
        drop column "rotations",
        drop column "rotated_at",
        drop column "updated_at",
        drop column "updated_by",
        drop column "deleted_at",
        drop column "deleted_by",
        drop column "revision"
    `);
    this.addSql('alter table "virtual_key" add constraint "virtual_key_alias_unique" unique ("alias")');
    this.addSql('drop table "retired_secret"');
  }
}
