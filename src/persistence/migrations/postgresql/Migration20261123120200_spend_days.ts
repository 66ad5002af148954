import { Migration } from '@mikro-orm/migrations';

const KEYS = ['key_hash', 'team_id', 'user_id', 'provider', 'model', 'model_group', 'call_type'];

/** Key columns of a stored call: its day, then texts of at most 100 characters. */
const keyed = [
  'started_at - started_at % 86400000',
  ...KEYS.map((name) => `substr(coalesce(spend_row.${name}, ''), 1, 100)`),
].join(', ');

const NAMES = ['started_at', ...KEYS].join(', ');
const SUM_NAMES =
  'calls, failures, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost, success_ms, last_ms';
const sums = `count(*), sum(case when status = 'failure' then 1 else 0 end), coalesce(sum(input_tokens), 0),
  coalesce(sum(output_tokens), 0), coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0),
  coalesce(sum(cost), 0), sum(case when status = 'success' then ended_at - started_at else 0 end), max(ended_at)`;
const tags = 'spend_row cross join lateral jsonb_array_elements_text(spend_row.tags::jsonb) as tag(value)';

/** Sums of calls by day, filled from the stored calls. Calls of the log are added when they are unfolded. */
export class Migration20261123120200_spend_days extends Migration {
  override up(): void {
    this.addSql(`
      create table "spend_day" (
        "started_at" bigint not null,
        "key_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "provider" text not null,
        "model" text not null,
        "model_group" text not null,
        "call_type" text not null,
        "tagged" int not null,
        "calls" bigint not null,
        "failures" bigint not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "cache_read_tokens" bigint not null,
        "cache_write_tokens" bigint not null,
        "cost" bigint not null,
        "success_ms" bigint not null,
        "last_ms" bigint not null,
        primary key ("started_at", "key_hash", "team_id", "user_id", "provider", "model", "model_group", "call_type", "tagged")
      )
    `);
    this.addSql(`
      create table "spend_day_label" (
        "kind" text not null,
        "label" text not null,
        "started_at" bigint not null,
        "key_hash" text not null,
        "team_id" text not null,
        "user_id" text not null,
        "provider" text not null,
        "model" text not null,
        "model_group" text not null,
        "call_type" text not null,
        "calls" bigint not null,
        "failures" bigint not null,
        "input_tokens" bigint not null,
        "output_tokens" bigint not null,
        "cache_read_tokens" bigint not null,
        "cache_write_tokens" bigint not null,
        "cost" bigint not null,
        "success_ms" bigint not null,
        "last_ms" bigint not null,
        primary key ("kind", "label", "started_at", "key_hash", "team_id", "user_id", "provider", "model", "model_group", "call_type")
      )
    `);
    this.addSql(`
      insert into spend_day (${NAMES}, tagged, ${SUM_NAMES})
      select ${keyed}, case when tags is null then 0 else 1 end, ${sums} from spend_row group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    `);
    this.addSql(`
      insert into spend_day_label (kind, label, ${NAMES}, ${SUM_NAMES})
      select 'tag', substr(tag.value, 1, 100), ${keyed}, ${sums} from ${tags}
      where spend_row.tags is not null group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    `);
    this.addSql(`
      insert into spend_day_label (kind, label, ${NAMES}, ${SUM_NAMES})
      select 'end_user', substr(end_user, 1, 100), ${keyed}, ${sums} from spend_row
      where end_user is not null group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    `);
  }

  override down(): void {
    this.addSql('drop table "spend_day"');
    this.addSql('drop table "spend_day_label"');
  }
}
