import { type AliasedRawBuilder, type Kysely, sql } from 'kysely';
import { bytesOfRows } from '../../domain/traces/span-rows.ts';
import type { SqlFlavour } from '../database/database.ts';
import { encodeRow, insertionInto, insertOrRollback, numbersIn, type RowTable, statements } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import type { IngestPart } from './ingest-jobs.ts';
import { SPAN_COLUMNS, type SpanRow } from './span-rows.ts';

/** A trace that brings more is one that is read by pages: it has rows at once. */
const MOST_SPANS = 100;
const MOST_LENGTH = 65_536;
/** Whoever reads one trace of a sheet has all of it brought from the file, so that what comes behind this has rows. */
const SHEET_BYTES = 524_288;
/** JSON of no spans, and what the rest of a text is filled with that was taken out. */
const NOTHING = '[]';
const BLANK = ' ';

/** Where in a sheet a trace has its spans: bytes from `at` on. */
export interface SheetPlace {
  readonly at: number;
  readonly length: number;
  readonly spans: number;
}

/** The spans of the traces that begin with one body, laid side by side. */
export interface Sheet {
  readonly heads: Uint8Array;
  readonly places: ReadonlyMap<IngestPart, SheetPlace>;
}

/** What fits of these parts; null for none. */
export function sheetOf(parts: readonly IngestPart[]): Sheet | null {
  const places = new Map<IngestPart, SheetPlace>();
  const laid: Uint8Array[] = [];
  let at = 0;
  for (const part of parts) {
    const { rows, spanIds } = part;
    if (spanIds.length > MOST_SPANS || rows.length > MOST_LENGTH) continue;
    const bytes = bytesOfRows(rows);
    const { length } = bytes;
    if (length > MOST_LENGTH || at + length > SHEET_BYTES) continue;
    places.set(part, { at, length, spans: spanIds.length });
    laid.push(bytes);
    at += length;
  }
  return places.size === 0 ? null : { heads: Buffer.concat(laid, at), places };
}

/** A sheet with nothing left at some of its places, each as long as it was. */
export function withoutPlaces(heads: Uint8Array, places: readonly Pick<SheetPlace, 'at' | 'length'>[]): Buffer {
  const left = Buffer.from(heads);
  for (const { at, length } of places) left.fill(BLANK, at, at + length).write(NOTHING, at);
  return left;
}

/** Spans by the name of the table that has their rows. */
export type SpanSource = AliasedRawBuilder<SpanRow, 'span'>;

/** Where spans are: a reader asks both. */
export interface SpanSources {
  readonly rows: SpanSource;
  /** Those in sheets, taken apart by the database as they are asked for. */
  readonly sheets: SpanSource;
}

const eachSpan = (flavour: SqlFlavour): string =>
  flavour === 'postgresql'
    ? `jsonb_array_elements(convert_from(substring(b.heads from t.at + 1 for t.length), 'UTF8')::jsonb)`
    : 'jsonb_each(cast(substr(b.heads, t.at + 1, t.length) as text))';

/** Of traces `t` their sheets, and of these each span as JSON in `h.value`. */
export const joinedSheets = (flavour: SqlFlavour): string =>
  `cross join export_body b cross join${flavour === 'postgresql' ? ' lateral' : ''} ${eachSpan(flavour)} h`;

export function spanSources(flavour: SqlFlavour, { columns }: RowTable<'span'>): SpanSources {
  const values = columns.map(({ name, sqlType }) => {
    const place = SPAN_COLUMNS.indexOf(name);
    if (place === -1) return sql`t.${sql.ref(name)}`;
    const value = flavour === 'postgresql' ? `h.value ->> ${place}` : `jsonb_extract(h.value, '$[${place}]')`;
    // Numbers of 64 bits are text in JSON.
    return sql.raw(`cast(${value} as ${sqlType}) as "${name}"`);
  });
  const sheets = sql<SpanRow>`(select ${sql.join(values)} from sheet_trace t ${sql.raw(joinedSheets(flavour))}
    where b.body_no = t.body_no and t.spans > 0)`;
  return { rows: sql<SpanRow>`span`.as('span'), sheets: sheets.as('span') };
}

/** A trace of a sheet, by the numbers that the database gave. */
interface SheetTrace extends SheetPlace {
  readonly traceNo: string;
  readonly bodyNo: string;
}

/** Where traces have their spans in sheets. */
export interface SheetWriter {
  insert(db: Kysely<Tables>, traces: readonly SheetTrace[]): Promise<void>;
  /** Gives these traces rows of their own. What the sheets have of them stays there, to be taken out. */
  layOut(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
  /** The same for traces that are not about to go: their places in the sheets stay known, and hold no spans any more. */
  becomeRows(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
  forget(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
}

export function createSheetWriter(
  flavour: SqlFlavour,
  tables: { readonly span: RowTable<'span'>; readonly sheetTrace: RowTable<'sheet_trace'> },
): SheetWriter {
  const { sheets } = spanSources(flavour, tables.span);
  const insert = insertionInto(flavour, tables.sheetTrace, undefined, insertOrRollback(flavour));
  const columns = sql.join(tables.span.columns.map(({ name }) => sql.ref(name)));
  async function forget(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void> {
    await db.deleteFrom('sheet_trace').where('trace_no', 'in', numbersIn(flavour, traceNos)).execute();
  }
  const insertRows = (db: Kysely<Tables>, traceNos: readonly string[]) =>
    sql`insert into span (${columns}) select ${columns} from ${sheets}
      where span.trace_no in ${numbersIn(flavour, traceNos)}`.execute(db);
  return {
    async insert(db, traces) {
      const rows = traces.map(({ traceNo, bodyNo, ...place }) =>
        encodeRow(tables.sheetTrace, { trace_no: traceNo, body_no: bodyNo, ...place }),
      );
      for (const some of statements(rows)) await insert(db, some);
    },
    async layOut(db, traceNos) {
      await insertRows(db, traceNos);
      await forget(db, traceNos);
    },
    async becomeRows(db, traceNos) {
      await insertRows(db, traceNos);
      await sql`update sheet_trace set spans = 0 where trace_no in ${numbersIn(flavour, traceNos)}`.execute(db);
    },
    forget,
  };
}
