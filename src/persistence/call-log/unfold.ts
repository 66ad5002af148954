import { CompiledQuery, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { labelsOfCall } from '../../domain/calls/spend-labels.ts';
import { payloadsOfCalls } from '../../domain/traces/call-body.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { RowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { CALL_VALUES, type CallTables, type CallValue, columnsOf, sourceOf, type Source } from './columns.ts';
import {
  ALL_PROFILE_COLUMNS,
  CALLS_INDEX,
  FLAG_NAMES,
  flagName,
  HEAD_NAMES,
  PROFILE_NAMES,
  profileName,
  valueName,
} from './sql-names.ts';
import { NEW_SPEND, NEW_SPEND_COUNTS, NEW_SPEND_KEYS, dailyAdditions, dayOf, newSpendOf } from '../spend/daily-sums.ts';
import { REPEATED } from '../sqlite/statement-cache.ts';
import { spanHeadOf, type SpanRow } from '../traces/span-rows.ts';
import { spendRowOf, type StoredRow } from '../spend/spend-rows.ts';

/** A segment of the log, by its number. */
export interface StoredSegment {
  readonly body_no: string;
  readonly calls: number;
}

/** Unfolds segments by SQL. The statements are built once. */
export interface CallUnfolding {
  /** Writes the rows of all calls of these segments. Throws when one of the rows exists already. */
  unfold(db: Kysely<Tables>, segments: readonly StoredSegment[]): Promise<void>;
  /** The calls of a segment; `body` is its inflated body. */
  read(db: Kysely<Tables>, bodyNo: string, body: Uint8Array): Promise<readonly CallRecord[]>;
}

interface ColumnTypes {
  readonly name: string;
  readonly sqlType: string;
  readonly runtimeType: string;
}

const TABLES = ['spend_row', 'trace_summary', 'span'] as const;
const VALUES = Object.keys(CALL_VALUES) as CallValue[];
/** Values that only calls with extras have. */
const EXTRA_VALUES = new Set(VALUES.slice(VALUES.indexOf('call_id')));

/** SQL of a column's value. `traceNo` is the SQL of the trace number, a column of `span` only. */
function expressionOf(table: keyof CallTables, column: string, source: Source, traceNo = 'null'): string {
  const ofProfile = profileName(ALL_PROFILE_COLUMNS.findIndex((one) => one.table === table && one.column === column));
  switch (source.from) {
    case 'profile':
      return ofProfile;
    case 'call': {
      const { value, extra, otherwise } = source;
      if (extra === undefined) return valueName(value);
      const withoutExtra = valueWithoutExtra(otherwise, ofProfile);
      return `case when ${flagName(extra)} = 1 then ${valueName(value)} else ${withoutExtra} end`;
    }
    case 'computed':
      return source.of(valueName);
    case 'body':
      return source.part === 'number' ? 'body_no' : 'place';
    case 'summary':
      return traceNo;
  }
}

function valueWithoutExtra(otherwise: CallValue | 'null' | undefined, ofProfile: string): string {
  if (otherwise === undefined) return ofProfile;
  return otherwise === 'null' ? 'null' : valueName(otherwise);
}

/** SQL condition: the call has an extra to which this value belongs. */
const hasExtraOf = (value: CallValue): string => {
  const extras = new Set(
    TABLES.flatMap((table) =>
      columnsOf(table).flatMap(([, source]) =>
        source.from === 'call' && source.value === value && source.extra !== undefined ? [source.extra] : [],
      ),
    ),
  );
  return [...extras].map((extra) => `${flagName(extra)} = 1`).join(' or ');
};

/** `columnsBefore` are columns that precede those of `columnsOf`. */
function insertInto(table: keyof CallTables, columnsBefore: readonly string[] = []): string {
  const columns = [...columnsBefore, ...columnsOf(table).map(([column]) => column)];
  return `insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')})`;
}

const valuesOf = (table: keyof CallTables, traceNo?: string): string =>
  columnsOf(table)
    .map(([column, source]) => expressionOf(table, column, source, traceNo))
    .join(', ');

const namedValues = (table: keyof CallTables): string =>
  columnsOf(table)
    .map(([column, source]) => `${expressionOf(table, column, source)} as "${column}"`)
    .join(', ');

/** Number of the first call of the first segment of a query. */
const FIRST_CALL_NO = 1;

/**
 * Queries over segments. Their parameter is a JSON list with the number of each segment and the number of its first
 * call.
 */
interface Selections {
  /** One row per profile. */
  readonly profiles: string;
  /**
   * One row per call. `profiles` is the name of the table or query of profiles; `more` are further expressions to
   * select.
   */
  calls(profiles: string, more: readonly string[]): string;
}

const SEGMENT_PROFILE_NAMES = ['body_no', ...PROFILE_NAMES, ...FLAG_NAMES];
const CALL_NAMES = VALUES.map(valueName);

function selections(flavour: SqlFlavour, typeOf: (table: keyof CallTables, column: string) => string): Selections {
  const sqlite = flavour === 'sqlite';
  // `jsonb_extract` is faster than `->>` on a parsed value.
  const pick = (list: string, index: number, type: string): string =>
    sqlite ? `jsonb_extract(${list}, '$[${index}]')` : `cast(${list} ->> ${index} as ${type})`;
  const pickFromHead = (name: string, type: string): string => pick('head', HEAD_NAMES.indexOf(name), type);
  const profileValues = ALL_PROFILE_COLUMNS.map(({ table, column }, index) => {
    const name = profileName(index);
    return `${pickFromHead(name, typeOf(table, column))} as ${name}`;
  });
  const flags = FLAG_NAMES.map((name) => `${pickFromHead(name, 'int')} as ${name}`);
  const values = VALUES.map((value, index) => {
    const own = pick('c.value', index, CALL_VALUES[value]);
    const expression = EXTRA_VALUES.has(value) ? `case when ${hasExtraOf(value)} then ${own} end` : own;
    return `${expression} as ${valueName(value)}`;
  });
  const segmentSource = sqlite
    ? 'json_each(?) w cross join call_segment s on s.body_no = w.value ->> 0 cross join jsonb_each(s.rows) p'
    : `jsonb_array_elements($1::jsonb) w join call_segment s on s.body_no = cast(w.value ->> 0 as bigint)
        cross join lateral jsonb_array_elements(s.rows::jsonb) p`;
  const callSource = sqlite
    ? 'jsonb_each(calls) c'
    : 'lateral jsonb_array_elements(calls) with ordinality c(value, at)';
  // For each value that is read from a profile, SQLite copies the whole profile with thousands of calls. So the head
  // is extracted first.
  const headPaths = HEAD_NAMES.map((_name, index) => `'$[${index < CALLS_INDEX ? index : index + 1}]'`);
  const head = sqlite ? `jsonb_extract(p.value, ${headPaths.join(', ')})` : `p.value - ${CALLS_INDEX}`;
  const callsOf = sqlite ? `jsonb_extract(p.value, '$[${CALLS_INDEX}]')` : `p.value -> ${CALLS_INDEX}`;
  const firstPlace = pickFromHead('first_place', 'int');
  // The offset keeps SQLite from inlining `part`. Inlined, it would extract the head again for each value of the head.
  // `materialized` would copy all calls.
  const [materialized, offset] = sqlite ? ['', 'limit -1 offset 0'] : ['materialized', ''];
  return {
    profiles: `with part as ${materialized} (
        select s.body_no, cast(w.value ->> 1 as int) as first_no, ${head} as head, ${callsOf} as calls from ${segmentSource} ${offset}
      )
      select first_no + ${firstPlace} as profile_no, body_no, ${[...profileValues, ...flags].join(', ')},
        ${firstPlace} as first_place, calls
      from part`,
    calls: (profiles, more) => `select ${[...more, ...values].join(', ')},
        ${sqlite ? 'first_place + c.key' : 'cast(first_place + c.at - 1 as int)'} as place
      from ${profiles} cross join ${callSource}`,
  };
}

/**
 * Calls joined with their profiles. The outer loop is over profiles, so that SQLite decodes each profile row once
 * instead of once per call.
 */
const FROM_CALLS = `from unfolded_profile cross join unfolded_call on call_no >= profile_no and call_no < coalesce(
      (select min(later.profile_no) from unfolded_profile later where later.profile_no > unfolded_profile.profile_no),
      ${Number.MAX_SAFE_INTEGER})`;

/** Keys of `new_spend` for which a call may have its own value. The other keys are always values of the profile. */
const OWN_KEYS = ['v_tags', 'v_end_user'];
const DAY_SUM_NAMES = [...NEW_SPEND_COUNTS.map(valueName), 'total_ms', 'last_ms'];
const DAY_TABLE_COLUMNS = ['of_profile', 'started_at', ...OWN_KEYS, 'calls', ...DAY_SUM_NAMES].join(', ');

const spendValue = (column: keyof CallTables['spend_row']): string =>
  expressionOf('spend_row', column, sourceOf('spend_row', column));

/**
 * Two queries of the sums of calls by profile and day. SQLite sorts calls to group them, but not to group them by
 * profile: calls are stored in the order of their profiles. The first query groups by profile only, so it is for
 * profiles without labels whose calls all start on one day. The second query is for the other profiles.
 */
function daysOfProfiles(): readonly string[] {
  const [startedAt, endedAt] = [spendValue('started_at'), spendValue('ended_at')];
  const [firstDay, lastDay] = [dayOf(`min(${startedAt})`), dayOf(`max(${startedAt})`)];
  const sums = [
    'count(*)',
    ...NEW_SPEND_COUNTS.map((name) => `sum(${valueName(name)})`),
    `sum(${endedAt} - ${startedAt})`,
    `max(${endedAt})`,
  ].join(', ');
  return [
    `select profile_no, ${firstDay}, ${OWN_KEYS.map(() => 'null').join(', ')}, ${sums} ${FROM_CALLS}
      where x_labels is not 1 group by profile_no having ${firstDay} = ${lastDay}`,
    `select of_profile, ${dayOf(startedAt)}, ${OWN_KEYS.join(', ')}, ${sums} ${FROM_CALLS}
      where profile_no not in (select of_profile from unfolded_day) group by 1, 2, 3, 4`,
  ];
}

/**
 * The query of `new_spend` from `unfolded_day`. For calls without the extra `cached`, the counts of cached tokens are
 * values of the profile. They are zero or null, so they need not be multiplied by the number of calls.
 */
function newSpendOfDays(): string {
  const keys = NEW_SPEND_KEYS.map((name) => `${spendValue(name)} as ${name}`);
  const counts = NEW_SPEND_COUNTS.map((name) => `coalesce(${spendValue(name)}, 0) as ${name}`);
  return `select ${[...keys, 'started_at', 'unfolded_day.calls', ...counts, 'total_ms', 'last_ms'].join(', ')}
    from unfolded_day cross join unfolded_profile on profile_no = of_profile`;
}

const PROFILE_TABLE_COLUMNS = [...SEGMENT_PROFILE_NAMES, 'first_place', 'calls'].join(', ');
const CALL_TABLE_COLUMNS = ['of_profile', ...CALL_NAMES, 'place'].join(', ');
const LAST_TRACE = `coalesce((select seq from sqlite_sequence where name = 'trace_summary'), 0)`;
/** The last trace that was stored before these calls, for statements after the insert of their summaries. */
const LAST_TRACE_BEFORE_CALLS = `${LAST_TRACE} - (select count(*) from unfolded_call)`;

/**
 * SQLite: the calls are first copied to a temporary table, so that each JSON value is read once. Then each table is
 * filled in one pass, so that inserts stay at the end of each index. Calls are numbered from `FIRST_CALL_NO`. The
 * number of a profile is that of its first call. SQLite has a single writer, so the numbers of new traces are known
 * beforehand.
 */
function sqliteStatements({ profiles, calls }: Selections, daily: readonly string[]): readonly string[] {
  return [
    `create temp table if not exists unfolded_profile (profile_no integer primary key, ${PROFILE_TABLE_COLUMNS})`,
    `create temp table if not exists unfolded_call (call_no integer primary key, ${CALL_TABLE_COLUMNS})`,
    `create temp table if not exists unfolded_day (${DAY_TABLE_COLUMNS})`,
    `insert into unfolded_profile (profile_no, ${PROFILE_TABLE_COLUMNS}) ${profiles}`,
    `insert into unfolded_call (call_no, ${CALL_TABLE_COLUMNS}) ${calls('unfolded_profile', ['profile_no + c.key', 'profile_no'])}`,
    `${insertInto('spend_row')} select ${valuesOf('spend_row')} ${FROM_CALLS}`,
    ...daysOfProfiles().map((sums) => `insert into unfolded_day (${DAY_TABLE_COLUMNS}) ${sums}`),
    ...daily.map((statement) => `with ${NEW_SPEND} as materialized (${newSpendOfDays()}) ${statement}`),
    `${insertInto('trace_summary', ['trace_no'])} select ${LAST_TRACE} + call_no, ${valuesOf('trace_summary')} ${FROM_CALLS}`,
    `${insertInto('span')}
      select ${valuesOf('span', `${LAST_TRACE_BEFORE_CALLS} + call_no`)} ${FROM_CALLS}`,
    'delete from unfolded_day',
    'delete from unfolded_call',
    'delete from unfolded_profile',
  ];
}

/** PostgreSQL: one statement inserts all rows. The spans get the trace numbers that the insert of summaries returns. */
const postgresStatement = (
  withCalls: string,
  daily: readonly string[],
): string => `${withCalls}, ${NEW_SPEND} as materialized (
      ${newSpendOf(`select ${namedValues('spend_row')} from each_call`)}
    ), ${daily.map((statement, at) => `days_${at} as (${statement})`).join(', ')}, new_traces as (
      ${insertInto('trace_summary')} select ${valuesOf('trace_summary')} from each_call order by place returning trace_no, trace_ref
    ), spans as (
      ${insertInto('span')} select ${valuesOf('span', 'trace_no')} from each_call join new_traces on trace_ref = v_trace_ref
    )
    ${insertInto('spend_row')} select ${valuesOf('spend_row')} from each_call`;

/** `unfold` runs inside the database: no row is read and sent back. */
export function createCallUnfolding(
  flavour: SqlFlavour,
  tables: { readonly [Table in keyof CallTables]: RowTable<Table> },
): CallUnfolding {
  const columnOf = (table: keyof CallTables, column: string) => {
    const columns: readonly ColumnTypes[] = tables[table].columns;
    return columns.find(({ name }) => name === column);
  };
  const selected = selections(flavour, (table, column) => columnOf(table, column)?.sqlType ?? 'text');
  const withCalls = `with profile as materialized (${selected.profiles}), each_call as (${selected.calls('profile', SEGMENT_PROFILE_NAMES)})`;
  const daily = dailyAdditions(flavour);
  const texts = flavour === 'sqlite' ? sqliteStatements(selected, daily) : [postgresStatement(withCalls, daily)];
  /**
   * The statement that reads segments has the list of segments as its parameter. The others have no parameter, so they
   * are cached only with the mark `REPEATED`.
   */
  const statements = texts.map((text) => {
    const readsSegments = text.includes(selected.profiles);
    return { text: readsSegments ? text : `${REPEATED}${text}`, readsSegments };
  });

  const readableColumns = (table: 'spend_row' | 'span'): readonly string[] =>
    columnsOf(table).map(([column, source]) => {
      const value = expressionOf(table, column, source);
      const { sqlType = 'text', runtimeType } = columnOf(table, column) ?? {};
      const has64Bits = sqlType.startsWith('big');
      const readType = runtimeType === 'number' ? 'double precision' : 'text';
      return `${has64Bits ? `cast(${value} as ${readType})` : value} as ${table}_${column}`;
    });
  const readColumns = [...readableColumns('spend_row'), ...readableColumns('span'), 'v_trace_id as trace_id'];
  const readCalls = `${withCalls} select ${readColumns.join(', ')} from each_call order by place`;

  return {
    async unfold(db, segments) {
      let callNo = FIRST_CALL_NO;
      const numbered: string[] = [];
      for (const { body_no: bodyNo, calls } of segments) {
        numbered.push(`[${bodyNo},${callNo}]`);
        callNo += calls;
      }
      const segmentList = `[${numbered.join(',')}]`;
      for (const { text, readsSegments } of statements)
        await db.executeQuery(CompiledQuery.raw(text, readsSegments ? [segmentList] : []));
    },
    async read(db, bodyNo, body) {
      const { rows } = await db.executeQuery<Readonly<Record<string, unknown>> & { readonly trace_id: string }>(
        CompiledQuery.raw(readCalls, [`[[${bodyNo},${FIRST_CALL_NO}]]`]),
      );
      const payloads = payloadsOfCalls(body);
      return rows.map((row, place): CallRecord => {
        const payload = payloads[place];
        if (payload === undefined) throw new Error('A call of a segment has no payload in its body.');
        const spend = columnsWithPrefix('spend_row_', row) as unknown as StoredRow;
        const span = columnsWithPrefix('span_', row) as unknown as SpanRow;
        const spendRow = spendRowOf(spend);
        const labels = labelsOfCall(spendRow);
        const head = { ...spanHeadOf(row.trace_id, span), ...(labels === undefined ? {} : { labels }) };
        return { spend: spendRow, span: { ...head, ...payload } };
      });
    },
  };
}

/** The columns whose names begin with `prefix`, by their names without it. */
function columnsWithPrefix(prefix: string, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const prefixed = Object.entries(row).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(prefixed.map(([name, value]) => [name.slice(prefix.length), value]));
}
