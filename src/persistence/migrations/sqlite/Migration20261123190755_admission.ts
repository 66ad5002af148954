import { Migration } from '@mikro-orm/migrations';

/** Counters that several processes share: only PostgreSQL uses them. */
export class Migration20261123190755_admission extends Migration {
  override up(): void {
    this.addSql(
      `create table "admission_counter" ("name" text not null primary key, "state" text not null, "used_ms" bigint not null)`,
    );
    this.addSql(`create table "admission_process" ("name" text not null primary key, "until_ms" bigint not null)`);
  }

  override down(): void {
    this.addSql(`drop table "admission_process"`);
    this.addSql(`drop table "admission_counter"`);
  }
}
