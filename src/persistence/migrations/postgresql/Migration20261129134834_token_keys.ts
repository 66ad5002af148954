import { Migration } from '@mikro-orm/migrations';

/** Owners whose spend is stored from a start, with the condition that a key `k` of tokens belongs to one. */
const OWNERS = [
  ['team', 'k."team_id" = "team"."id"'],
  ['user_account', 'k."user_id" = "user_account"."id"'],
  ['team_member', 'k."team_id" = "team_member"."team_id" and k."user_id" = "team_member"."user_id"'],
] as const;

/**
 * Keys of signed tokens, with their owners. Those of earlier calls come from the sums of days, whose ids are truncated
 * to 100 characters. Ids of this length are left out: they may be truncated. Earlier calls have no organization of
 * their own.
 *
 * From now on the spend of an owner includes these keys. Where the spend counts from a start, the amount before the
 * start grows by their spend so far: calls before the start do not count in the current window.
 */
export class Migration20261129134834_token_keys extends Migration {
  override up(): void {
    this.addSql(`
      create table "token_key" (
        "hash" text not null,
        "team_id" text null,
        "user_id" text null,
        "organization_id" text null,
        primary key ("hash")
      )
    `);
    this.addSql('create index "token_key_user_id_index" on "token_key" ("user_id")');
    this.addSql('create index "token_key_organization_id_index" on "token_key" ("organization_id")');
    this.addSql('create index "token_key_team_id_user_id_index" on "token_key" ("team_id", "user_id")');
    this.addSql(`
      insert into "token_key" ("hash", "team_id", "user_id")
      select "key_hash", max(nullif("team_id", '')), max(nullif("user_id", '')) from "spend_day"
      where ("team_id" <> '' or "user_id" <> '') and length("team_id") < 100 and length("user_id") < 100
        and not exists (select 1 from "virtual_key" where "virtual_key"."hash" = "spend_day"."key_hash")
      group by "key_hash"
    `);
    this.changeAmounts('+');
  }

  /**
   * Lowers the amounts again. The spend of the keys at the start of a window is not stored. Their spend so far is
   * subtracted, so that the spend in the current window stays as it was counted last.
   */
  override down(): void {
    this.changeAmounts('-');
    this.addSql('drop table "token_key"');
  }

  /** Adds or subtracts the spend of the keys where the spend of an owner counts from a start. */
  private changeAmounts(sign: '+' | '-'): void {
    for (const [table, isOwned] of OWNERS) {
      const keys = `"token_key" k join "key_spend" s on s."key_hash" = k."hash" where ${isOwned}`;
      this.addSql(`
        update "${table}" set "spent_before" =
          cast(cast("spent_before" as numeric) ${sign} (select sum(s."total") from ${keys}) as text)
        where "spent_before" is not null and exists (select 1 from ${keys})
      `);
    }
  }
}
