import { Migration } from '@mikro-orm/migrations';

/** Logins of command lines with PKCE. */
export class Migration20261130174905_command_line_sessions extends Migration {
  override up(): void {
    this.addSql(`
      create table "command_line_session" (
        "id" text not null,
        "user_id" text not null,
        "role" text not null,
        "team_id" text null,
        "needs_membership" boolean not null,
        "client_name" text not null,
        "client_hash" text not null,
        "opened_by" text not null,
        "code_hash" text not null,
        "family_hash" text not null,
        "secret_hash" text not null,
        "previous_secret_hash" text null,
        "key_hash" text not null,
        "previous_key_hash" text null,
        "renewed_at" timestamptz not null,
        "expires_at" timestamptz not null,
        "created_at" timestamptz not null,
        "created_by" text not null,
        "updated_at" timestamptz not null,
        "updated_by" text not null,
        "revision" int not null default 1,
        primary key ("id")
      )
    `);
    this.addSql(
      'alter table "command_line_session" add constraint "command_line_session_code_hash_unique" unique ("code_hash")',
    );
    this.addSql(
      'alter table "command_line_session" add constraint "command_line_session_family_hash_unique" unique ("family_hash")',
    );
    this.addSql('create index "command_line_session_key_hash_index" on "command_line_session" ("key_hash")');
    this.addSql(
      'create index "command_line_session_previous_key_hash_index" on "command_line_session" ("previous_key_hash")',
    );
    this.addSql('create index "command_line_session_expires_at_index" on "command_line_session" ("expires_at")');
    this.addSql(
      'create index "command_line_session_created_at_id_index" on "command_line_session" ("created_at", "id")',
    );
    this.addSql(
      'create index "command_line_session_user_id_created_at_index" on "command_line_session" ("user_id", "created_at")',
    );
  }

  override down(): void {
    this.addSql('drop table "command_line_session"');
  }
}
