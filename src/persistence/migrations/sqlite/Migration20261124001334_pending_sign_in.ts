import { Migration } from '@mikro-orm/migrations';

/** Sign-ins that a later request completes, perhaps at another process. */
export class Migration20261124001334_pending_sign_in extends Migration {
  override up(): void {
    this.addSql(
      `create table "pending_sign_in" ("id" text not null primary key, "kind" text not null, "content" text not null, "revision" integer not null, "until_ms" bigint not null)`,
    );
    this.addSql(`create index "pending_sign_in_until_ms_index" on "pending_sign_in" ("until_ms")`);
  }

  override down(): void {
    this.addSql(`drop table "pending_sign_in"`);
  }
}
