import { Migration } from '@mikro-orm/migrations';

const INDEXES = [
  ['annotation_name_label_trace_start_ms_index', '("name", "label", "trace_start_ms")'],
  ['annotation_name_score_trace_start_ms_index', '("name", "score", "trace_start_ms")'],
  ['annotation_team_id_name_trace_start_ms_index', `("team_id", "name", "trace_start_ms") where "team_id" <> ''`],
  ['annotation_key_hash_name_trace_start_ms_index', `("key_hash", "name", "trace_start_ms") where "team_id" = ''`],
] as const;

/** Indexes for traces that are filtered by their annotations. */
export class Migration20261124164846_annotation_filters extends Migration {
  override up(): void {
    for (const [name, columns] of INDEXES) this.addSql(`create index "${name}" on "annotation" ${columns}`);
  }

  override down(): void {
    for (const [name] of INDEXES) this.addSql(`drop index "${name}"`);
  }
}
