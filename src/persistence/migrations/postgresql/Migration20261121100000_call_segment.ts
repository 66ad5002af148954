import { Migration } from '@mikro-orm/migrations';

/** Calls that are committed, and not yet taken apart into the tables that are read. The way back loses them. */
export class Migration20261121100000_call_segment extends Migration {
  override up(): void {
    this.addSql(`
      create table "call_segment" (
        "body_no" bigint not null,
        "calls" int not null,
        "set_aside" int not null,
        "totals" text not null,
        "rows" text not null,
        primary key ("body_no")
      )
    `);
    // To compress it would cost more than it is worth for the moment that it stays.
    this.addSql('alter table "call_segment" alter column "rows" set storage external');
  }

  override down(): void {
    this.addSql('drop table "call_segment"');
  }
}
