import { CompiledQuery, type Kysely } from 'kysely';
import { addTally, type TraceSummary } from '../../domain/traces/trace.ts';
import { columnNames, encodeRow, type RowTable } from '../database/rows.ts';
import { isDuplicate } from '../database/faults.ts';
import type { Tables } from '../database/tables.ts';
import type { IngestJob, IngestPart } from '../traces/ingest-jobs.ts';
import { type SpanBlock, blockOf } from './blocks.ts';
import { summaryRowOf } from '../traces/summary-rows.ts';

/** Maximum number of exports in one statement: few, so that each statement text stays prepared. */
const MOST_EXPORTS = 4;
/** Maximum number of remembered traces. */
const SLOTS = 65_536;
/** Hex digits of a trace ref that identify a remembered trace: 32 bits. */
const PREFIX_DIGITS = 8;

/** An export whose traces are all new, as far as known, and fit into a block. */
interface WholeExport {
  readonly job: IngestJob & { readonly body: NonNullable<IngestJob['body']> };
  readonly block: SpanBlock;
}

/**
 * Stores exports of new traces in one statement, which is its own transaction (docs/performance.md). Each further
 * statement would be a round trip to SQLite's thread while the write lock is held.
 */
export interface SingleStatementStore {
  /**
   * The jobs as exports for one statement. Null when there are too many jobs, or a job has no body. Also null when a
   * trace occurs twice, is possibly stored already, or does not fit into a block.
   */
  exportsFrom(jobs: readonly IngestJob[]): readonly WholeExport[] | null;
  /** Resolves to the summaries by trace ref. Fails, and stores nothing, when one of the traces is stored already. */
  store(db: Kysely<Tables>, exports: readonly WholeExport[]): Promise<ReadonlyMap<string, TraceSummary>>;
  /** Called with all stored traces, so that `exportsFrom` returns null for later pieces of these traces. */
  remember(traceRefs: Iterable<string>): void;
}

/** `no such table: arriving_export`. Without the trigger: `cannot modify arriving_export because it is a view`. */
const isViewMissing = (error: unknown): boolean => error instanceof Error && /\barriving_export\b/.test(error.message);

/** For SQLite only: `instead of` triggers run several inserts in one statement. */
export function createSingleStatementStore(newSummary: RowTable<'trace_summary'>): SingleStatementStore {
  const columns = columnNames(newSummary);
  const values = columns.map((_name, place) => `value ->> ${place}`);
  const summaryColumns = columns.map((name) => `"${name}"`).join(', ');
  /**
   * View and trigger are temporary, so that a changed row layout needs no migration. Trace numbers increase in the
   * order of the list, so that all of them follow from the last number.
   */
  const temporaryDdl = [
    `create temp view if not exists arriving_export as
      select null as traces, null as places, null as format, null as compression, null as held_by, null as bytes,
        null as heads`,
    `create temp trigger if not exists arriving_export_stored instead of insert on arriving_export begin
      insert into trace_summary (${summaryColumns}) select ${values.join(', ')} from jsonb_each(new.traces);
      insert into export_body (format, compression, held_by, bytes, heads)
        values (new.format, new.compression, new.held_by, new.bytes, new.heads);
      insert into sheet_trace (trace_no, body_no, at, length, spans)
        select (select max(trace_no) from trace_summary) - json_array_length(new.places) + 1 + key,
          (select max(body_no) from export_body), value ->> 0, value ->> 1, value ->> 2
        from jsonb_each(new.places);
    end`,
  ];
  /** `or rollback` avoids SQLite's copies of the changed pages, as described at `insertOrRollback`. */
  const textFor = (exportCount: number): string =>
    `insert or rollback into arriving_export (traces, places, format, compression, held_by, bytes, heads)
      values ${Array.from({ length: exportCount }, () => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`;
  /** Hash table with one entry per slot: 32 bits of the ref of the trace that was stored most recently. */
  const remembered = new Uint32Array(SLOTS);
  /**
   * Whether view and trigger were created on the current connection. They end with their connection, which is replaced
   * after some failures.
   */
  let isCreated = false;

  async function insert(db: Kysely<Tables>, query: CompiledQuery): Promise<void> {
    if (!isCreated) for (const text of temporaryDdl) await db.executeQuery(CompiledQuery.raw(text));
    isCreated = true;
    try {
      await db.executeQuery(query);
    } catch (error) {
      // After any error but a duplicate, the connection may be a new one.
      if (!isDuplicate(error)) isCreated = false;
      throw error;
    }
  }

  /** Without view or trigger SQLite stores nothing of the statement, so that a retry is safe. */
  async function insertOrRepair(db: Kysely<Tables>, query: CompiledQuery): Promise<void> {
    try {
      await insert(db, query);
    } catch (error) {
      if (!isViewMissing(error)) throw error;
      await insert(db, query);
    }
  }

  const prefixOf = (traceRef: string): number => Number.parseInt(traceRef.slice(0, PREFIX_DIGITS), 16);
  const isRemembered = (prefix: number): boolean => remembered[prefix % SLOTS] === prefix;

  function wholeOf(job: IngestJob, seen: Set<string>): WholeExport | null {
    const { body, parts } = job;
    if (body === null) return null;
    for (const { identity } of parts) {
      if (seen.has(identity.traceRef) || isRemembered(prefixOf(identity.traceRef))) return null;
      seen.add(identity.traceRef);
    }
    const block = blockOf(parts);
    return block === null || block.places.size < parts.length ? null : { job: { ...job, body }, block };
  }

  return {
    exportsFrom(jobs) {
      if (jobs.length > MOST_EXPORTS) return null;
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
      const parameters = exports.flatMap(({ job: { parts, body, rows }, block: { heads, places } }) => {
        const traces = parts.map(({ identity, tally }) => {
          const summary = addTally(null, identity, tally);
          stored.set(identity.traceRef, summary);
          return encodeRow(newSummary, summaryRowOf(summary));
        });
        const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength);
        // `rows`, the number of spans, is the value of `held_by`.
        return [`[${traces.join(',')}]`, placesText(parts, places), body.format, body.compression, rows, bytes, heads];
      });
      await insertOrRepair(db, CompiledQuery.raw(textFor(exports.length), parameters));
      return stored;
    },
    remember(traceRefs) {
      for (const traceRef of traceRefs) {
        const prefix = prefixOf(traceRef);
        remembered[prefix % SLOTS] = prefix;
      }
    },
  };
}

/** The places in the block, as JSON in the order of the traces. */
function placesText(parts: readonly IngestPart[], places: SpanBlock['places']): string {
  return JSON.stringify(
    parts.map((part) => {
      const place = places.get(part);
      return [place?.at, place?.length, place?.spans];
    }),
  );
}
