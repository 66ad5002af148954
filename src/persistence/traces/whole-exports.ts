import { CompiledQuery, type Kysely } from 'kysely';
import { addTally, type TraceSummary } from '../../domain/traces/trace.ts';
import { columnNames, encodeRow, type RowTable } from '../database/rows.ts';
import { isDuplicate } from '../database/faults.ts';
import type { Tables } from '../database/tables.ts';
import type { IngestJob, IngestPart } from './ingest-jobs.ts';
import { type Sheet, sheetOf } from './span-blocks.ts';
import { summaryRowOf } from './summary-rows.ts';

/** A commit that is one statement carries at most so many bodies: few enough that its text comes again and is kept. */
const MOST_BODIES = 4;
/** How many traces are remembered; a power of two. */
const SLOTS = 65_536;
/** Digits of a trace's handle that tell it from others: what 32 bits hold. */
const HANDLE_DIGITS = 8;

/** An export of which nothing was stored before, and that fits into a sheet. */
interface WholeExport {
  readonly job: IngestJob & { readonly body: NonNullable<IngestJob['body']> };
  readonly sheet: Sheet;
}

/**
 * Stores exports all of whose traces begin with them in one statement, which is its own transaction: nothing is asked
 * beforehand, and no number is brought here only to be sent back. Each statement of a transaction is a way to another
 * thread and back, during which nobody else may write.
 */
export interface WholeExports {
  /** These jobs, where one statement may store them; null where a trace of theirs may be there, or one does not fit. */
  among(jobs: readonly IngestJob[]): readonly WholeExport[] | null;
  /** Gives the summaries by their handles. Fails for all when a trace of theirs is there, and stores nothing then. */
  store(db: Kysely<Tables>, exports: readonly WholeExport[]): Promise<ReadonlyMap<string, TraceSummary>>;
  /** To be told of every trace that is stored: who sends one in pieces is not asked for a whole one again. */
  remember(traceRefs: Iterable<string>): void;
}

/** `no such table: arriving_export`, or `cannot modify arriving_export because it is a view` without its trigger. */
const isViewMissing = (error: unknown): boolean => error instanceof Error && /\barriving_export\b/.test(error.message);

/** Only for SQLite: its triggers do in the statement what others ask for in several. */
export function createWholeExports(newSummary: RowTable<'trace_summary'>): WholeExports {
  const columns = columnNames(newSummary);
  const values = columns.map((_name, place) => `value ->> ${place}`);
  const summaries = columns.map((name) => `"${name}"`).join(', ');
  /**
   * Of one connection, and gone with it: how a row of it is laid out is code, and no part of what is kept. Numbers of
   * traces are counted up in the order of the list, so that the last of them tells all.
   */
  const schema = [
    `create temp view if not exists arriving_export as
      select null as traces, null as places, null as format, null as compression, null as held_by, null as bytes,
        null as heads`,
    `create temp trigger if not exists arriving_export_stored instead of insert on arriving_export begin
      insert into trace_summary (${summaries}) select ${values.join(', ')} from jsonb_each(new.traces);
      insert into export_body (format, compression, held_by, bytes, heads)
        values (new.format, new.compression, new.held_by, new.bytes, new.heads);
      insert into sheet_trace (trace_no, body_no, at, length, spans)
        select (select max(trace_no) from trace_summary) - json_array_length(new.places) + 1 + key,
          (select max(body_no) from export_body), value ->> 0, value ->> 1, value ->> 2
        from jsonb_each(new.places);
    end`,
  ];
  const textFor = (bodies: number): string =>
    `insert or rollback into arriving_export (traces, places, format, compression, held_by, bytes, heads)
      values ${Array.from({ length: bodies }, () => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`;
  /** By the last digits of its handle, what else is known of the trace that was stored last of those that share them. */
  const remembered = new Uint32Array(SLOTS);
  /** View and trigger exist as long as their connection, which is replaced after some failures. */
  let isMade = false;

  async function insert(db: Kysely<Tables>, query: CompiledQuery): Promise<void> {
    if (!isMade) for (const text of schema) await db.executeQuery(CompiledQuery.raw(text));
    isMade = true;
    try {
      await db.executeQuery(query);
    } catch (error) {
      if (!isDuplicate(error)) isMade = false;
      throw error;
    }
  }

  /** Where view or trigger are missing SQLite stores nothing of the statement, so it is safe to repeat it. */
  async function insertOrRepair(db: Kysely<Tables>, query: CompiledQuery): Promise<void> {
    try {
      await insert(db, query);
    } catch (error) {
      if (!isViewMissing(error)) throw error;
      await insert(db, query);
    }
  }

  const nameOf = (traceRef: string): number => Number.parseInt(traceRef.slice(0, HANDLE_DIGITS), 16);
  const isRemembered = (name: number): boolean => remembered[name % SLOTS] === name;

  function wholeOf(job: IngestJob, seen: Set<string>): WholeExport | null {
    const { body, parts } = job;
    if (body === null) return null;
    for (const { identity } of parts) {
      if (seen.has(identity.traceRef) || isRemembered(nameOf(identity.traceRef))) return null;
      seen.add(identity.traceRef);
    }
    const sheet = sheetOf(parts);
    return sheet === null || sheet.places.size < parts.length ? null : { job: { ...job, body }, sheet };
  }

  return {
    among(jobs) {
      if (jobs.length > MOST_BODIES) return null;
      const seen = new Set<string>();
      const exports: WholeExport[] = [];
      for (const job of jobs) {
        const whole = wholeOf(job, seen);
        if (whole === null) return null;
        exports.push(whole);
      }
      return exports;
    },
    async store(db, exports) {
      const stored = new Map<string, TraceSummary>();
      const parameters = exports.flatMap(({ job: { parts, body, rows }, sheet: { heads, places } }) => {
        const traces = parts.map(({ identity, tally }) => {
          const summary = addTally(null, identity, tally);
          stored.set(identity.traceRef, summary);
          return encodeRow(newSummary, summaryRowOf(summary));
        });
        const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
        return [`[${traces.join(',')}]`, placesText(parts, places), body.format, body.compression, rows, bytes, heads];
      });
      await insertOrRepair(db, CompiledQuery.raw(textFor(exports.length), parameters));
      return stored;
    },
    remember(traceRefs) {
      for (const traceRef of traceRefs) {
        const name = nameOf(traceRef);
        remembered[name % SLOTS] = name;
      }
    },
  };
}

/** Where each trace stands in the sheet, in the order of the traces. */
function placesText(parts: readonly IngestPart[], places: Sheet['places']): string {
  return JSON.stringify(
    parts.map((part) => {
      const place = places.get(part);
      return [place?.at, place?.length, place?.spans];
    }),
  );
}
