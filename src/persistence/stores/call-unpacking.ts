import { CompiledQuery, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { payloadsOfCalls } from '../../domain/traces/call-body.ts';
import type { SqlFlavour } from '../database.ts';
import type { RowTable } from '../rows.ts';
import type { Tables } from '../tables.ts';
import {
  CALL_VALUES,
  type CallTables,
  type CallValue,
  columnsOf,
  CONSTANTS,
  EXTRAS,
  type Source,
} from './call-columns.ts';
import { spanHeadOf, type SpanRow } from './span-rows.ts';
import { spendRowOf, type StoredRow } from './spend-rows.ts';

/** Takes segments apart, with statements whose text is made once. */
export interface CallUnpacking {
  /** Writes the rows of all calls of these segments. Fails for all when something of one is stored. */
  unpack(db: Kysely<Tables>, bodyNos: readonly string[]): Promise<void>;
  /** The calls of a segment; `body` is the opened one that belongs to it. */
  read(db: Kysely<Tables>, bodyNo: string, body: Uint8Array): Promise<readonly CallRecord[]>;
}

/** A column as a statement has to know it. */
interface ColumnTypes {
  readonly name: string;
  readonly sqlType: string;
  readonly runtimeType: string;
}

const TABLES = ['spend_row', 'trace_summary', 'span'] as const;
const VALUES = Object.keys(CALL_VALUES) as CallValue[];
const TAIL = new Set(VALUES.slice(VALUES.indexOf('call_id')));
/** Behind the constants and extras of a profile: the place of its first call in the body, and its calls. */
const PLACE = CONSTANTS.length + EXTRAS.length;
const NAMES = [
  ...CONSTANTS.map((_constant, position) => `k_${position}`),
  ...EXTRAS.map((extra) => `x_${extra}`),
  ...VALUES.map((value) => `v_${value}`),
  'body_no',
  'place',
];

/** A column's value; `of` names what one call is read from. */
function expressionOf(table: keyof CallTables, column: string, source: Source, of: string): string {
  const constant = CONSTANTS.findIndex((one) => one.table === table && one.column === column);
  switch (source.from) {
    case 'profile':
      return `${of}.k_${constant}`;
    case 'call': {
      const { value, extra, otherwise } = source;
      if (extra === undefined) return `${of}.v_${value}`;
      const other = otherwise === undefined ? `k_${constant}` : `v_${otherwise}`;
      return `case when ${of}.x_${extra} = 1 then ${of}.v_${value} else ${of}.${other} end`;
    }
    case 'sum':
      return source.of((value) => `${of}.v_${value}`);
    case 'body':
      return source.part === 'number' ? `${of}.body_no` : `${of}.place`;
    case 'summary':
      return of === 'new' ? 'last_insert_rowid()' : 'made.trace_no';
  }
}

/** Extras with which a call says the value itself. */
const saidWith = (value: CallValue): string => {
  const extras = new Set(
    TABLES.flatMap((table) =>
      columnsOf(table).flatMap(([, source]) =>
        source.from === 'call' && source.value === value && source.extra !== undefined ? [source.extra] : [],
      ),
    ),
  );
  return [...extras].map((extra) => `x_${extra} = 1`).join(' or ');
};

const into = (table: keyof CallTables): string =>
  `insert into ${table} (${columnsOf(table)
    .map(([column]) => `"${column}"`)
    .join(', ')})`;
const valuesOf = (table: keyof CallTables, of: string): string =>
  columnsOf(table)
    .map(([column, source]) => expressionOf(table, column, source, of))
    .join(', ');

/** `profile` and `one`, a row for each call of the segments whose numbers are the JSON list in the first parameter. */
function reading(flavour: SqlFlavour, typeOf: (table: keyof CallTables, column: string) => string): string {
  const sqlite = flavour === 'sqlite';
  // Of what was parsed already, `jsonb_extract` reads a value faster than `->>` does.
  const pick = (from: string, at: number, type: string): string =>
    sqlite ? `jsonb_extract(${from}, '$[${at}]')` : `cast(${from} ->> ${at} as ${type})`;
  const constants = CONSTANTS.map(
    ({ table, column }, at) => `${pick('p.value', at, typeOf(table, column))} as k_${at}`,
  );
  const extras = EXTRAS.map((extra, at) => `${pick('p.value', CONSTANTS.length + at, 'int')} as x_${extra}`);
  const values = VALUES.map((value, at) => {
    const own = pick('c.value', at, CALL_VALUES[value]);
    return `${TAIL.has(value) ? `case when ${saidWith(value)} then ${own} end` : own} as v_${value}`;
  });
  const each = (list: string): string => (sqlite ? `jsonb_each(${list})` : `jsonb_array_elements(${list})`);
  const wanted = sqlite
    ? 'select cast(value as integer) from json_each(?)'
    : 'select cast(value as bigint) from jsonb_array_elements_text($1::jsonb)';
  return `with profile as materialized (
      select s.body_no, ${[...constants, ...extras].join(', ')}, ${pick('p.value', PLACE, 'int')} as first_place,
        ${sqlite ? pick('p.value', PLACE + 1, '') : `p.value -> ${PLACE + 1}`} as calls
      from call_segment s cross join ${sqlite ? '' : 'lateral '}${each(sqlite ? 's.rows' : 's.rows::jsonb')} p
      where s.body_no in (${wanted})
    ), one as ${sqlite ? 'not materialized' : 'materialized'} (
      select ${[...CONSTANTS.keys()].map((at) => `k_${at}`).join(', ')}, ${EXTRAS.map((extra) => `x_${extra}`).join(', ')},
        ${values.join(', ')}, body_no, cast(first_place + ${sqlite ? 'c.key' : 'c.at - 1'} as ${sqlite ? 'integer' : 'int'}) as place
      from profile cross join ${sqlite ? each('calls') : `lateral ${each('calls')} with ordinality`} c${sqlite ? '' : '(value, at)'}
    )`;
}

/** Takes calls apart inside of the database: nothing of them comes back to be sent again. */
export function createCallUnpacking(
  flavour: SqlFlavour,
  tables: { readonly [Table in keyof CallTables]: RowTable<Table> },
): CallUnpacking {
  const columnOf = (table: keyof CallTables, column: string) => {
    const columns: readonly ColumnTypes[] = tables[table].columns;
    return columns.find(({ name }) => name === column);
  };
  const ones = reading(flavour, (table, column) => columnOf(table, column)?.sqlType ?? 'text');

  /** One pass writes the three rows of a call: what it says is looked up once, and its summary's number is at hand. */
  const view = `create temp view if not exists unpacked_call as select ${NAMES.map((name) => `null as ${name}`).join(', ')}`;
  const trigger = `create temp trigger if not exists unpacked_call_stored instead of insert on unpacked_call begin
      ${TABLES.map((table) => `${into(table)} values (${valuesOf(table, 'new')});`).join('\n      ')}
    end`;
  const throughView = `insert into unpacked_call (${NAMES.join(', ')}) ${ones} select ${NAMES.join(', ')} from one`;

  const atOnce = `${ones}, made as (
      ${into('trace_summary')} select ${valuesOf('trace_summary', 'one')} from one order by place returning trace_no, trace_ref
    ), spans as (
      ${into('span')} select ${valuesOf('span', 'one')} from one join made on made.trace_ref = one.v_trace_ref
    )
    ${into('spend_row')} select ${valuesOf('spend_row', 'one')} from one`;

  const readText = (table: 'spend_row' | 'span'): readonly string[] =>
    columnsOf(table).map(([column, source]) => {
      const value = source.from === 'summary' ? 'null' : expressionOf(table, column, source, 'one');
      const { sqlType = 'text', runtimeType } = columnOf(table, column) ?? {};
      const wide = sqlType.startsWith('big');
      const read = wide ? `cast(${value} as ${runtimeType === 'number' ? 'double precision' : 'text'})` : value;
      return `${read} as ${table}_${column}`;
    });
  const readAll = `${ones} select ${[...readText('spend_row'), ...readText('span')].join(', ')}, one.v_trace_id as trace_id from one order by place`;

  return {
    async unpack(db, bodyNos) {
      const json = `[${bodyNos.join(',')}]`;
      if (flavour === 'sqlite') {
        await db.executeQuery(CompiledQuery.raw(view));
        await db.executeQuery(CompiledQuery.raw(trigger));
      }
      await db.executeQuery(CompiledQuery.raw(flavour === 'sqlite' ? throughView : atOnce, [json]));
    },
    async read(db, bodyNo, body) {
      const { rows } = await db.executeQuery<Readonly<Record<string, unknown>> & { readonly trace_id: string }>(
        CompiledQuery.raw(readAll, [`[${bodyNo}]`]),
      );
      const payloads = payloadsOfCalls(body);
      return rows.map((row, place): CallRecord => {
        const payload = payloads[place];
        if (payload === undefined) throw new Error('A segment has calls whose payloads are lost.');
        const spend = namedWithout('spend_row_', row) as unknown as StoredRow;
        const span = namedWithout('span_', row) as unknown as SpanRow;
        return { spend: spendRowOf(spend), span: { ...spanHeadOf(row.trace_id, span), ...payload } };
      });
    },
  };
}

/** Those values of a row whose names begin so, without that beginning. */
function namedWithout(prefix: string, row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.entries(row).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
}
