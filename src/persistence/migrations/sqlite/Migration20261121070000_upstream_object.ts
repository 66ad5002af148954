import { Migration } from '@mikro-orm/migrations';

/** Files and batches that upstreams store, with their owners. Generated, then reviewed. */
export class Migration20261121070000_upstream_object extends Migration {
  override up(): void {
    this.addSql(`
      create table "upstream_object" (
        "id" text not null primary key,
        "kind" text not null,
        "deployment_id" text not null,
        "upstream_id" text not null,
        "team_id" text not null,
        "key_hash" text not null,
        "created_at" bigint not null,
        "purpose" text null,
        "shown" text null,
        "removed_at" bigint null
      )
    `);
    this.addSql(
      'create index "upstream_object_kind_created_at_id_index" on "upstream_object" ("kind", "created_at", "id")',
    );
    this.addSql(`
      create index "upstream_object_kind_team_id_key_hash_created_at_id_index"
      on "upstream_object" ("kind", "team_id", "key_hash", "created_at", "id")
    `);
    this.addSql(`
      create unique index "upstream_object_deployment_id_upstream_id_unique" on "upstream_object" ("deployment_id", "upstream_id")
    `);
  }

  override down(): void {
    this.addSql('drop table "upstream_object"');
  }
}
