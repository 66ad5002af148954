import { Migration } from '@mikro-orm/migrations';

/** The call log: committed calls that are not rows yet. `down` loses them. */
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
    // Not compressed: a segment is stored for a short time, so compression would cost more than it saves.
    this.addSql('alter table "call_segment" alter column "rows" set storage external');
  }

  override down(): void {
    this.addSql('drop table "call_segment"');
  }
}
