import { Migration } from '@mikro-orm/migrations';

/** Mappings of claim values of signed tokens to virtual keys. */
export class Migration20261124232345_token_mappings extends Migration {
  override up(): void {
    this.addSql(`
      create table "token_mapping" (
        "id" text not null primary key,
        "claim_name" text not null,
        "claim_value" text not null,
        "key_hash" text not null,
        "description" text null,
        "active" integer not null,
        "created_at" datetime not null,
        "created_by" text not null,
        "updated_at" datetime not null,
        "updated_by" text not null,
        "revision" integer not null default 1
      )
    `);
    this.addSql(
      'create unique index "token_mapping_claim_name_claim_value_unique" on "token_mapping" ("claim_name", "claim_value")',
    );
    this.addSql('create index "token_mapping_created_at_id_index" on "token_mapping" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "token_mapping"');
  }
}
