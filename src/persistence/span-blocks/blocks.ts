import { type AliasedRawBuilder, type Kysely, sql } from 'kysely';
import { bytesOfRows } from '../../domain/traces/span-rows.ts';
import type { SqlFlavour } from '../database/database.ts';
import {
  encodeRow,
  insertionInto,
  insertOrRollback,
  numbersIn,
  type RowTable,
  statementBatches,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import type { IngestPart } from '../traces/ingest-jobs.ts';
import { SPAN_COLUMNS, type SpanRow } from '../traces/span-rows.ts';

/** Limits of a trace in a block. A larger trace is read in pages, so its spans are stored as rows. */
const MOST_SPANS = 100;
const MOST_TRACE_BYTES = 65_536;
/** Size limit of a block: a read of one trace loads the whole block from the file. */
const MOST_BLOCK_BYTES = 524_288;
/** Overwrite the spans of a removed trace, so that other offsets stay valid. */
const EMPTY_LIST = '[]';
const PADDING = ' ';

/** The spans of one trace in a block: `length` bytes from offset `at`. */
export interface BlockPlace {
  readonly at: number;
  readonly length: number;
  readonly spans: number;
}

/** Spans of one export, concatenated. It has the traces that begin with this export and fit into the block. */
export interface SpanBlock {
  /** The encoded spans, without their payloads. */
  readonly heads: Uint8Array;
  readonly places: ReadonlyMap<IngestPart, BlockPlace>;
}

/** The block of the parts that fit into it; null when none fits. */
export function blockOf(parts: readonly IngestPart[]): SpanBlock | null {
  const places = new Map<IngestPart, BlockPlace>();
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const part of parts) {
    const { rows, spanIds } = part;
    // A text has at most as many characters as bytes in UTF-8: a text that is too long is not encoded.
    if (spanIds.length > MOST_SPANS || rows.length > MOST_TRACE_BYTES) continue;
    const bytes = bytesOfRows(rows);
    const { length } = bytes;
    if (length > MOST_TRACE_BYTES || at + length > MOST_BLOCK_BYTES) continue;
    places.set(part, { at, length, spans: spanIds.length });
    pieces.push(bytes);
    at += length;
  }
  return places.size === 0 ? null : { heads: Buffer.concat(pieces, at), places };
}

/** A copy of the block with the spans at these places overwritten. The length stays the same. */
export function withoutPlaces(heads: Uint8Array, places: readonly Pick<BlockPlace, 'at' | 'length'>[]): Buffer {
  const copy = Buffer.from(heads);
  for (const { at, length } of places) copy.fill(PADDING, at, at + length).write(EMPTY_LIST, at);
  return copy;
}

/** A relation with the name `span` and the columns of that table. */
export type SpanSource = AliasedRawBuilder<SpanRow, 'span'>;

/** The two sources of spans. The spans of a trace may come from both. */
export interface SpanSources {
  readonly rows: SpanSource;
  /** Spans in blocks, as a subquery with the columns of `span`. */
  readonly blocks: SpanSource;
}

/** SQL of the spans at a place. Offsets of places begin at 0, positions of SQL at 1. */
const eachSpan = (flavour: SqlFlavour): string =>
  flavour === 'postgresql'
    ? `jsonb_array_elements(convert_from(substring(b.heads from t.at + 1 for t.length), 'UTF8')::jsonb)`
    : 'jsonb_each(cast(substr(b.heads, t.at + 1, t.length) as text))';

/**
 * Joins `sheet_trace t`, the place of a trace in its block, with the block `b` and with each span of the trace. A span
 * is a JSON list in `h.value`. The query must add the condition `b.body_no = t.body_no`.
 */
export const joinedBlocks = (flavour: SqlFlavour): string =>
  `cross join export_body b cross join${flavour === 'postgresql' ? ' lateral' : ''} ${eachSpan(flavour)} h`;

export function spanSources(flavour: SqlFlavour, { columns }: RowTable<'span'>): SpanSources {
  const values = columns.map(({ name, sqlType }) => {
    const place = SPAN_COLUMNS.indexOf(name);
    if (place === -1) return sql`t.${sql.ref(name)}`;
    const value = flavour === 'postgresql' ? `h.value ->> ${place}` : `jsonb_extract(h.value, '$[${place}]')`;
    // Numbers of 64 bits are text in JSON.
    return sql.raw(`cast(${value} as ${sqlType}) as "${name}"`);
  });
  const blocks = sql<SpanRow>`(select ${sql.join(values)} from sheet_trace t ${sql.raw(joinedBlocks(flavour))}
    where b.body_no = t.body_no and t.spans > 0)`;
  return { rows: sql<SpanRow>`span`.as('span'), blocks: blocks.as('span') };
}

/** A trace in a block, by its row numbers. */
interface BlockTrace extends BlockPlace {
  readonly traceNo: string;
  readonly bodyNo: string;
}

/** Writes `sheet_trace`: block and position of each trace's spans. */
export interface BlockWriter {
  insert(db: Kysely<Tables>, traces: readonly BlockTrace[]): Promise<void>;
  /**
   * Copies the spans of these traces into rows and deletes their places. The caller overwrites the spans in the blocks.
   */
  moveToRows(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
  /** Copies the spans of these traces into rows. Their places are kept, with 0 spans, for a later removal. */
  copyToRows(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
  /** Deletes the places of these traces. */
  removePlaces(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void>;
}

export function createBlockWriter(
  flavour: SqlFlavour,
  tables: { readonly span: RowTable<'span'>; readonly blockTrace: RowTable<'sheet_trace'> },
): BlockWriter {
  const { blocks } = spanSources(flavour, tables.span);
  const insert = insertionInto(flavour, tables.blockTrace, undefined, insertOrRollback(flavour));
  const columns = sql.join(tables.span.columns.map(({ name }) => sql.ref(name)));
  async function removePlaces(db: Kysely<Tables>, traceNos: readonly string[]): Promise<void> {
    await db.deleteFrom('sheet_trace').where('trace_no', 'in', numbersIn(flavour, traceNos)).execute();
  }
  const insertRows = (db: Kysely<Tables>, traceNos: readonly string[]) =>
    sql`insert into span (${columns}) select ${columns} from ${blocks}
      where span.trace_no in ${numbersIn(flavour, traceNos)}`.execute(db);
  return {
    async insert(db, traces) {
      const rows = traces.map(({ traceNo, bodyNo, ...place }) =>
        encodeRow(tables.blockTrace, { trace_no: traceNo, body_no: bodyNo, ...place }),
      );
      for (const batch of statementBatches(rows)) await insert(db, batch);
    },
    async moveToRows(db, traceNos) {
      await insertRows(db, traceNos);
      await removePlaces(db, traceNos);
    },
    async copyToRows(db, traceNos) {
      await insertRows(db, traceNos);
      await sql`update sheet_trace set spans = 0 where trace_no in ${numbersIn(flavour, traceNos)}`.execute(db);
    },
    removePlaces,
  };
}
