import { Migration } from '@mikro-orm/migrations';

/** Numbers of requests by day, category and route, and the last batch of each process that counts. */
export class Migration20261123083257_gateway_activity extends Migration {
  override up(): void {
    this.addSql(`
      create table "gateway_activity" (
        "day" text not null,
        "category" text not null,
        "route" text not null,
        "succeeded" bigint not null,
        "failed" bigint not null,
        primary key ("day", "category", "route")
      )
    `);
    this.addSql(`
      create table "activity_process" (
        "id" text not null,
        "last_batch" int not null,
        "written_at" bigint not null,
        primary key ("id")
      )
    `);
  }

  override down(): void {
    this.addSql('drop table if exists "activity_process"');
    this.addSql('drop table if exists "gateway_activity"');
  }
}
