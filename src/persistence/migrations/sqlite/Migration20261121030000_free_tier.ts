import { Migration } from '@mikro-orm/migrations';

/** Calls of clients without a key, per client and day. Generated, then reviewed. */
export class Migration20261121030000_free_tier extends Migration {
  override up(): void {
    this.addSql(`
      create table "free_tier_use" (
        "day" text not null,
        "ip_hash" text not null,
        "used" integer not null,
        "granted" integer not null,
        primary key ("day", "ip_hash")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table if exists "free_tier_use"');
  }
}
