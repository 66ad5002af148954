import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { AnnotationConditions } from '../../domain/annotations/annotation-conditions.ts';
import type { Visibility } from '../../domain/caller.ts';
import { storable } from '../../domain/storable.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import type { Database } from '../database/database.ts';
import { tuplesIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type Flavour = Database['flavour'];

/**
 * Up to this number of matching annotations, a search selects its traces from the annotations. When more match, the
 * search checks each trace for an annotation, and fills a page quickly.
 */
const MOST_PRESELECTED = 2_000;

/** Annotations to look for. */
export interface AnnotatedSearch {
  readonly visibility: Visibility;
  /** Start of the window of traces, Unix ms. */
  readonly startMs: number;
  readonly conditions: AnnotationConditions;
}

/**
 * Last ms of the year 9999. Times of a filter are clamped to 1970 through 9999: no annotation is created in another
 * year.
 */
const LAST_MS = 253_402_300_799_999;

/** A time as its column stores it: Unix ms in SQLite. */
function timeOf(flavour: Flavour, time: Date): RawBuilder<unknown> {
  const ms = Math.max(0, Math.min(time.getTime(), LAST_MS));
  return flavour === 'postgresql'
    ? sql`cast(${new Date(ms).toISOString()} as timestamptz)`
    : sql`cast(${ms} as bigint)`;
}

const score = (value: number): RawBuilder<unknown> => sql`cast(${value} as double precision)`;

function matching(flavour: Flavour, conditions: AnnotationConditions): readonly RawBuilder<SqlBool>[] {
  const { traceId, spanId, name, annotator, label, author, minScore, maxScore, from, to } = conditions;
  const clauses: (RawBuilder<SqlBool> | null)[] = [
    traceId === null ? null : sql<SqlBool>`annotation.trace_id = ${storable(traceId)}`,
    spanId === null ? null : sql<SqlBool>`annotation.span_id = ${storable(spanId)}`,
    name === null ? null : sql<SqlBool>`annotation.name = ${storable(name)}`,
    annotator === null ? null : sql<SqlBool>`annotation.annotator = ${annotator}`,
    label === null ? null : sql<SqlBool>`annotation.label = ${storable(label)}`,
    author === null ? null : sql<SqlBool>`annotation.created_by = ${storable(author)}`,
    minScore === null ? null : sql<SqlBool>`annotation.score >= ${score(minScore)}`,
    maxScore === null ? null : sql<SqlBool>`annotation.score <= ${score(maxScore)}`,
    from === null ? null : sql<SqlBool>`annotation.created_at >= ${timeOf(flavour, from)}`,
    to === null ? null : sql<SqlBool>`annotation.created_at < ${timeOf(flavour, to)}`,
  ];
  return clauses.filter((clause) => clause !== null);
}

/** A visibility as conditions on annotations. For a team or key, they include the condition of a partial index. */
function visibleTo(visibility: Visibility): readonly RawBuilder<SqlBool>[] {
  switch (visibility.kind) {
    case 'all':
      return [];
    case 'team':
      return [
        sql<SqlBool>`annotation.team_id = ${storable(visibility.teamId)}`,
        sql<SqlBool>`annotation.team_id <> ''`,
      ];
    case 'key':
      return [
        sql<SqlBool>`annotation.key_hash = ${storable(visibility.keyHash)}`,
        sql<SqlBool>`annotation.team_id = ''`,
      ];
  }
}

/**
 * Query of the trace keys of matching annotations. It returns up to `most + 1` keys: the last one shows that more than
 * `most` match.
 */
export function annotatedQuery(
  flavour: Flavour,
  { visibility, startMs, conditions }: AnnotatedSearch,
  most: number,
): RawBuilder<{ readonly trace_id: string; readonly trace_ref: string }> {
  const clauses = [
    ...visibleTo(visibility),
    sql<SqlBool>`annotation.trace_start_ms >= cast(${String(startMs)} as bigint)`,
    ...matching(flavour, conditions),
  ];
  return sql`select trace_id, trace_ref from annotation where ${sql.join(clauses, sql` and `)} limit ${most + 1}`;
}

/**
 * The traces of at most `most` matching annotations, each once; null when more annotations match. Annotations whose
 * `trace_start_ms` is before the window are skipped: the start of a trace never moves to a later time.
 */
export async function annotatedTraces(
  db: Kysely<Tables>,
  flavour: Flavour,
  search: AnnotatedSearch,
  most: number,
): Promise<readonly TraceKey[] | null> {
  const { rows } = await annotatedQuery(flavour, search, most).execute(db);
  if (rows.length > most) return null;
  const byRef = new Map(rows.map((row) => [row.trace_ref, row]));
  return [...byRef.values()].map((row) => ({ traceId: row.trace_id, traceRef: row.trace_ref }));
}

/** Condition on summaries: `visible` holds, and at least one annotation of the trace matches the search. */
export async function visibleAndAnnotated(
  db: Kysely<Tables>,
  flavour: Flavour,
  search: AnnotatedSearch,
  visible: RawBuilder<SqlBool>,
): Promise<RawBuilder<SqlBool>> {
  const few = await annotatedTraces(db, flavour, search, MOST_PRESELECTED);
  if (few !== null) {
    const keys = few.map(({ traceId, traceRef }) => [traceId, traceRef]);
    // Without `is true` and the row number, SQLite would read all traces of a team by its index and then check the
    // keys.
    return sql<SqlBool>`(${visible}) is true and trace_summary.trace_no in (
      select sought.trace_no from trace_summary as sought
      where (sought.trace_id, sought.trace_ref) in ${tuplesIn(flavour, 2, keys)})`;
  }
  const clauses = [
    sql<SqlBool>`annotation.trace_id = trace_summary.trace_id`,
    sql<SqlBool>`annotation.trace_ref = trace_summary.trace_ref`,
    ...matching(flavour, search.conditions),
  ];
  return sql<SqlBool>`${visible} and exists (select 1 from annotation where ${sql.join(clauses, sql` and `)})`;
}
