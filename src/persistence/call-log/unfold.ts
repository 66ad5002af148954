import { CompiledQuery, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { labelsOfCall } from '../../domain/calls/spend-labels.ts';
import { payloadsOfCalls } from '../../domain/traces/call-body.ts';
import type { SqlFlavour } from '../database/database.ts';
import type { RowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import {
  CALL_VALUES,
  type CallTables,
  type CallValue,
  columnsOf,
  sourceOf,
  PROFILE_COLUMNS,
  EXTRAS,
  LATER_PROFILE_COLUMNS,
  LATER_EXTRAS,
  type Source,
} from './columns.ts';
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
  /** Writes the rows of all calls of these segments. Fails for all when one of the rows exists. */
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
/** Index, in a profile, of the place of its first call. The list of its calls follows. */
const PLACE_INDEX = PROFILE_COLUMNS.length + EXTRAS.length;
const ALL_PROFILE_COLUMNS = [...PROFILE_COLUMNS, ...LATER_PROFILE_COLUMNS];
const ALL_EXTRAS = [...EXTRAS, ...LATER_EXTRAS];
/** Number of values after the list of calls; a profile of an earlier version has none of them. */
const LATER_COUNT = LATER_PROFILE_COLUMNS.length + LATER_EXTRAS.length;

/**
 * SQL of a column's value. Prefixes of names: `k_` value of the profile, `x_` flag of an extra in the profile, `v_`
 * value of the call.
 */
function expressionOf(table: keyof CallTables, column: string, source: Source, traceNo: string): string {
  const index = ALL_PROFILE_COLUMNS.findIndex((one) => one.table === table && one.column === column);
  switch (source.from) {
    case 'profile':
      return `k_${index}`;
    case 'call': {
      const { value, extra, otherwise } = source;
      if (extra === undefined) return `v_${value}`;
      const other = otherwise === undefined ? `k_${index}` : otherwise === 'null' ? 'null' : `v_${otherwise}`;
      return `case when x_${extra} = 1 then v_${value} else ${other} end`;
    }
    case 'computed':
      return source.of((value) => `v_${value}`);
    case 'body':
      return source.part === 'number' ? 'body_no' : 'place';
    case 'summary':
      return traceNo;
  }
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
  return [...extras].map((extra) => `x_${extra} = 1`).join(' or ');
};

const insertInto = (table: keyof CallTables, before: readonly string[] = []): string =>
  `insert into ${table} (${[...before, ...columnsOf(table).map(([column]) => column)].map((column) => `"${column}"`).join(', ')})`;
const valuesOf = (table: keyof CallTables, traceNo = 'null'): string =>
  columnsOf(table)
    .map(([column, source]) => expressionOf(table, column, source, traceNo))
    .join(', ');

const namedValues = (table: keyof CallTables): string =>
  columnsOf(table)
    .map(([column, source]) => `${expressionOf(table, column, source, 'null')} as "${column}"`)
    .join(', ');

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

const PROFILE_NAMES = [
  'body_no',
  ...ALL_PROFILE_COLUMNS.map((_column, position) => `k_${position}`),
  ...ALL_EXTRAS.map((extra) => `x_${extra}`),
];
const CALL_NAMES = VALUES.map((value) => `v_${value}`);

function selections(flavour: SqlFlavour, typeOf: (table: keyof CallTables, column: string) => string): Selections {
  const sqlite = flavour === 'sqlite';
  // `jsonb_extract` is faster than `->>` on a parsed value.
  const pick = (from: string, at: number, type: string): string =>
    sqlite ? `jsonb_extract(${from}, '$[${at}]')` : `cast(${from} ->> ${at} as ${type})`;
  const profileValues = ALL_PROFILE_COLUMNS.map(({ table, column }, at) => {
    const index = at < PROFILE_COLUMNS.length ? at : PLACE_INDEX + 1 + at - PROFILE_COLUMNS.length;
    return `${pick('head', index, typeOf(table, column))} as k_${at}`;
  });
  const extras = ALL_EXTRAS.map((extra, at) => {
    const index =
      at < EXTRAS.length
        ? PROFILE_COLUMNS.length + at
        : PLACE_INDEX + 1 + LATER_PROFILE_COLUMNS.length + at - EXTRAS.length;
    return `${pick('head', index, 'int')} as x_${extra}`;
  });
  const values = VALUES.map((value, at) => {
    const own = pick('c.value', at, CALL_VALUES[value]);
    return `${EXTRA_VALUES.has(value) ? `case when ${hasExtraOf(value)} then ${own} end` : own} as v_${value}`;
  });
  const segmentSource = sqlite
    ? 'json_each(?) w cross join call_segment s on s.body_no = w.value ->> 0 cross join jsonb_each(s.rows) p'
    : `jsonb_array_elements($1::jsonb) w join call_segment s on s.body_no = cast(w.value ->> 0 as bigint)
        cross join lateral jsonb_array_elements(s.rows::jsonb) p`;
  const callSource = sqlite
    ? 'jsonb_each(calls) c'
    : 'lateral jsonb_array_elements(calls) with ordinality c(value, at)';
  // For each value that is read from a profile, SQLite copies the whole profile with thousands of calls. So `head`,
  // here the profile without its calls, is extracted first.
  const headPaths = Array.from(
    { length: PLACE_INDEX + 1 + LATER_COUNT },
    (_, at) => `'$[${at <= PLACE_INDEX ? at : at + 1}]'`,
  );
  const head = sqlite ? `jsonb_extract(p.value, ${headPaths.join(', ')})` : `p.value - ${PLACE_INDEX + 1}`;
  const callsOf = sqlite ? pick('p.value', PLACE_INDEX + 1, '') : `p.value -> ${PLACE_INDEX + 1}`;
  const place = pick('head', PLACE_INDEX, 'int');
  // The offset keeps SQLite from inlining the query. The inlined query would extract the head again for each value in
  // it. `materialized` would copy all calls.
  const [materialized, offset] = sqlite ? ['', 'limit -1 offset 0'] : ['materialized', ''];
  return {
    profiles: `with part as ${materialized} (
        select s.body_no, cast(w.value ->> 1 as int) as first_no, ${head} as head, ${callsOf} as calls from ${segmentSource} ${offset}
      )
      select first_no + ${place} as profile_no, body_no, ${[...profileValues, ...extras].join(', ')}, ${place} as first_place, calls
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

/** Keys of `new_spend` that may be own values of a call; the other keys are values of the profile. */
const OWN_KEYS = ['v_tags', 'v_end_user'];
const DAY_SUMS = [...NEW_SPEND_COUNTS.map((name) => `v_${name}`), 'total_ms', 'last_ms'];
const DAY_TABLE_COLUMNS = ['of_profile', 'started_at', ...OWN_KEYS, 'calls', ...DAY_SUMS].join(', ');

const spendValue = (column: keyof CallTables['spend_row']): string =>
  expressionOf('spend_row', column, sourceOf('spend_row', column), 'null');

/**
 * Queries of the sums of calls by profile and day. SQLite sorts calls to group them, except by profile: calls are
 * stored in the order of their profiles. So the first query is for profiles without labels whose calls all start on one
 * day, the second for the other profiles.
 */
function daysOfProfiles(): readonly string[] {
  const [startedAt, endedAt] = [spendValue('started_at'), spendValue('ended_at')];
  const [first, last] = [dayOf(`min(${startedAt})`), dayOf(`max(${startedAt})`)];
  const sums = [
    'count(*)',
    ...NEW_SPEND_COUNTS.map((name) => `sum(v_${name})`),
    `sum(${endedAt} - ${startedAt})`,
    `max(${endedAt})`,
  ].join(', ');
  return [
    `select profile_no, ${first}, ${OWN_KEYS.map(() => 'null').join(', ')}, ${sums} ${FROM_CALLS}
      where x_labels is not 1 group by profile_no having ${first} = ${last}`,
    `select of_profile, ${dayOf(startedAt)}, ${OWN_KEYS.join(', ')}, ${sums} ${FROM_CALLS}
      where profile_no not in (select of_profile from unfolded_day) group by 1, 2, 3, 4`,
  ];
}

/**
 * The query of `new_spend` from `unfolded_day`. For calls without the extra `cached`, the profile has some of the
 * counts. These are zero or null, so they need not be multiplied by the number of calls.
 */
function newSpendOfDays(): string {
  const keys = NEW_SPEND_KEYS.map((name) => `${spendValue(name)} as ${name}`);
  const counts = NEW_SPEND_COUNTS.map((name) => `coalesce(${spendValue(name)}, 0) as ${name}`);
  return `select ${[...keys, 'started_at', 'unfolded_day.calls', ...counts, 'total_ms', 'last_ms'].join(', ')}
    from unfolded_day cross join unfolded_profile on profile_no = of_profile`;
}

const PROFILE_TABLE_COLUMNS = [...PROFILE_NAMES, 'first_place', 'calls'].join(', ');
const CALL_TABLE_COLUMNS = ['of_profile', ...CALL_NAMES, 'place'].join(', ');
const LAST_TRACE = `coalesce((select seq from sqlite_sequence where name = 'trace_summary'), 0)`;

/**
 * SQLite: the calls are first copied to a temporary table, so that each JSON value is read once. Then each table is
 * filled in one pass, so that inserts stay at the end of each index. Calls are numbered from 1. The number of a profile
 * is that of its first call. SQLite has a single writer, so the numbers of new traces are known beforehand.
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
      select ${valuesOf('span', `${LAST_TRACE} - (select count(*) from unfolded_call) + call_no`)} ${FROM_CALLS}`,
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
  const withCalls = `with profile as materialized (${selected.profiles}), each_call as (${selected.calls('profile', PROFILE_NAMES)})`;
  const daily = dailyAdditions(flavour);
  const texts = flavour === 'sqlite' ? sqliteStatements(selected, daily) : [postgresStatement(withCalls, daily)];
  /**
   * A statement that reads segments has the list of segments as its parameter. The others have none: `REPEATED` makes
   * them cacheable.
   */
  const statements = texts.map((text) => {
    const readsSegments = text.includes(selected.profiles);
    return { text: readsSegments ? text : `${REPEATED}${text}`, readsSegments };
  });

  const readText = (table: 'spend_row' | 'span'): readonly string[] =>
    columnsOf(table).map(([column, source]) => {
      const value = expressionOf(table, column, source, 'null');
      const { sqlType = 'text', runtimeType } = columnOf(table, column) ?? {};
      const wide = sqlType.startsWith('big');
      const read = wide ? `cast(${value} as ${runtimeType === 'number' ? 'double precision' : 'text'})` : value;
      return `${read} as ${table}_${column}`;
    });
  const readAll = `${withCalls} select ${[...readText('spend_row'), ...readText('span')].join(', ')}, v_trace_id as trace_id from each_call order by place`;

  return {
    async unfold(db, segments) {
      let firstNo = 1;
      const numbered: string[] = [];
      for (const { body_no: bodyNo, calls } of segments) {
        numbered.push(`[${bodyNo},${firstNo}]`);
        firstNo += calls;
      }
      const json = `[${numbered.join(',')}]`;
      for (const { text, readsSegments } of statements)
        await db.executeQuery(CompiledQuery.raw(text, readsSegments ? [json] : []));
    },
    async read(db, bodyNo, body) {
      const { rows } = await db.executeQuery<Readonly<Record<string, unknown>> & { readonly trace_id: string }>(
        CompiledQuery.raw(readAll, [`[[${bodyNo},1]]`]),
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
