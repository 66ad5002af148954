import { Migration } from '@mikro-orm/migrations';

/** Purchases, and events of the payment provider. Generated, then reviewed. */
export class Migration20261121040000_checkout extends Migration {
  override up(): void {
    this.addSql(`
      create table "checkout" (
        "id" text not null,
        "mode" text not null,
        "secret_hash" text not null,
        "session_id" text null,
        "state" text not null,
        "created_at" bigint not null,
        "paid_at" bigint null,
        "key_hash" text null,
        "key_name" text null,
        "key_issued_at" bigint null,
        "revoked_at" bigint null,
        primary key ("id")
      )
    `);
    this.addSql('alter table "checkout" add constraint "checkout_session_id_unique" unique ("session_id")');
    this.addSql('alter table "checkout" add constraint "checkout_key_hash_unique" unique ("key_hash")');
    this.addSql('create index "checkout_created_at_id_index" on "checkout" ("created_at", "id")');
    this.addSql(`
      create table "payment_event" (
        "id" text not null,
        "fact" text not null,
        "at" bigint not null,
        "subject" text not null,
        "checkout_id" text null,
        primary key ("id")
      )
    `);
    this.addSql('create index "payment_event_checkout_id_index" on "payment_event" ("checkout_id")');
    this.addSql('create index "payment_event_at_index" on "payment_event" ("at")');
    this.addSql(`
      create table "payment_object" (
        "object" text not null,
        "event_id" text not null,
        primary key ("object", "event_id")
      )
    `);
    this.addSql('create index "payment_object_event_id_index" on "payment_object" ("event_id")');
  }

  override down(): void {
    this.addSql('drop table "payment_object"');
    this.addSql('drop table "payment_event"');
    this.addSql('drop table "checkout"');
  }
}
