import { Migration } from '@mikro-orm/migrations';

/** The call log: committed calls that are not rows yet. `down` loses them. */
export class Migration20261121100000_call_segment extends Migration {
  override up(): void {
    this.addSql(`
      create table "call_segment" (
        "body_no" bigint not null primary key,
        "calls" integer not null,
        "set_aside" integer not null,
        "totals" text not null,
        "rows" text not null
      )
    `);
  }

  override down(): void {
    this.addSql('drop table "call_segment"');
  }
}
