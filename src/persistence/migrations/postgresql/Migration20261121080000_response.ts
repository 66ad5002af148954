import { Migration } from '@mikro-orm/migrations';

/** Responses that are kept for their owners. */
export class Migration20261121080000_response extends Migration {
  override up(): void {
    this.addSql(`
      create table "response" (
        "id" text not null,
        "previous_id" text null,
        "team_id" text not null,
        "key_hash" text not null,
        "created_at" bigint not null,
        "bytes" int not null,
        "sealed" bytea not null,
        primary key ("id")
      )
    `);
    this.addSql('create index "response_created_at_id_index" on "response" ("created_at", "id")');
  }

  override down(): void {
    this.addSql('drop table "response"');
  }
}
