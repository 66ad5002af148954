import { sql, type Kysely } from 'kysely';
import type { Span, SpanBatch } from '../../domain/traces/span.ts';
import { growSummary, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import type { Weight } from '../group-commit.ts';
import {
  columnNames,
  type EncodedRow,
  encodeRow,
  everyColumn,
  type RowTable,
  rowsFrom,
  statements,
  tuplesIn,
} from '../rows.ts';
import type { Tables } from '../tables.ts';
import { traceRefOf } from '../trace-ref.ts';
import { transaction } from '../transaction.ts';
import { payloadRowOf, spanRowOf } from './span-rows.ts';
import { emptySummaryRow, summaryOf, summaryRowOf, type SummaryRow, type TraceIdentity } from './summary-rows.ts';

interface EncodedSpan {
  readonly identity: TraceIdentity;
  readonly span: Span;
  /** Unique across owners and traces. */
  readonly key: string;
  /** The same as the key of its row. */
  readonly columns: readonly [traceId: string, traceRef: string, spanId: string];
  /** The two rows of the span, encoded. */
  readonly head: EncodedRow;
  readonly payload: EncodedRow;
}

/** One call's spans, ready to be written. */
export interface IngestJob extends Weight {
  readonly spans: readonly EncodedSpan[];
}

/** The tables of the trace store, as rows are written to and read from them. */
export interface TraceTables {
  readonly summary: RowTable<'trace_summary'>;
  readonly span: RowTable<'span'>;
  readonly payload: RowTable<'span_payload'>;
}

type Summaries = ReadonlyMap<string, TraceSummary>;

const keyOf = (traceRef: string, spanId: string): string => `${traceRef}:${spanId}`;

/** Encodes what a call brought. Throws InvalidInput for values no column holds, before anyone else is involved. */
export function encodeBatches(tables: TraceTables, batches: readonly SpanBatch[]): IngestJob {
  const spans = batches.flatMap(({ owner, spans: brought }) => {
    const identities = new Map<string, TraceIdentity>();
    return brought.map((span): EncodedSpan => {
      const { traceId } = span;
      const identity = identities.get(traceId) ?? { traceId, traceRef: traceRefOf(owner, traceId), owner };
      identities.set(traceId, identity);
      const row = spanRowOf(identity.traceRef, span);
      return {
        identity,
        span,
        key: keyOf(row.trace_ref, row.span_id),
        columns: [row.trace_id, row.trace_ref, row.span_id],
        head: encodeRow(tables.span, row),
        payload: encodeRow(tables.payload, payloadRowOf(identity.traceRef, span)),
      };
    });
  });
  const bytes = spans.reduce((total, { head, payload }) => total + head.length + payload.length, 0);
  return { spans, rows: spans.length, bytes };
}

function byKey(left: TraceIdentity, right: TraceIdentity): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  return left.traceRef < right.traceRef ? -1 : 1;
}

function byTrace(spans: Iterable<EncodedSpan>): ReadonlyMap<string, EncodedSpan[]> {
  const grouped = new Map<string, EncodedSpan[]>();
  for (const encoded of spans) {
    const known = grouped.get(encoded.identity.traceRef);
    if (known) known.push(encoded);
    else grouped.set(encoded.identity.traceRef, [encoded]);
  }
  return grouped;
}

/** Commits jobs together: spans first, then the summaries grown by exactly those that were new. */
export function createTraceIngest(
  { orm, flavour, inFlight }: Database,
  tables: TraceTables,
): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  async function insertSummaries(
    db: Kysely<Tables>,
    rows: readonly SummaryRow[],
    present: 'keep' | 'replace',
  ): Promise<void> {
    const replaced = Object.fromEntries(
      columnNames(tables.summary).map((column) => [column, sql.ref(`excluded.${column}`)]),
    );
    for (const encoded of statements(rows.map((row) => encodeRow(tables.summary, row))))
      await db
        .insertInto('trace_summary')
        .columns(columnNames(tables.summary))
        .expression(rowsFrom(flavour, tables.summary, encoded))
        .onConflict((conflict) => {
          const same = conflict.columns(['trace_id', 'trace_ref']);
          return present === 'keep' ? same.doNothing() : same.doUpdateSet(replaced);
        })
        .execute();
  }

  /**
   * The summaries of these traces, so that nobody else can change them until the commit. SQLite's write lock
   * is ours already. PostgreSQL locks rows, so a trace that is new needs a row first; rows are made and
   * locked in the order of their keys, so that two processes cannot wait for each other.
   */
  async function lockSummaries(db: Kysely<Tables>, identities: readonly TraceIdentity[]): Promise<Summaries> {
    if (flavour === 'postgresql') await insertSummaries(db, identities.map(emptySummaryRow), 'keep');
    const keys = identities.map(({ traceId, traceRef }) => [traceId, traceRef]);
    const rows = await db
      .selectFrom('trace_summary')
      .select(everyColumn(tables.summary))
      .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, keys))
      .orderBy('trace_summary.trace_id')
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .$castTo<SummaryRow>()
      .execute();
    return new Map(rows.filter((row) => row.span_count > 0).map((row) => [row.trace_ref, summaryOf(row)]));
  }

  /** Those spans that are not stored yet. Only a trace that has a summary can have spans. */
  async function newOf(
    db: Kysely<Tables>,
    spans: ReadonlyMap<string, EncodedSpan>,
    known: Summaries,
  ): Promise<readonly EncodedSpan[]> {
    const doubtful = [...spans.values()].filter(({ identity }) => known.has(identity.traceRef));
    if (doubtful.length === 0) return [...spans.values()];
    const stored = await db
      .selectFrom('span')
      .select(['trace_ref', 'span_id'])
      .where(
        sql`(trace_id, trace_ref, span_id)`,
        'in',
        tuplesIn(
          flavour,
          3,
          doubtful.map(({ columns }) => columns),
        ),
      )
      .execute();
    const there = new Set(stored.map((row) => keyOf(row.trace_ref, row.span_id)));
    return [...spans.values()].filter(({ key }) => !there.has(key));
  }

  async function insertSpans(db: Kysely<Tables>, spans: readonly EncodedSpan[]): Promise<void> {
    for (const encoded of statements(spans.map(({ head }) => head)))
      await db
        .insertInto('span')
        .columns(columnNames(tables.span))
        .expression(rowsFrom(flavour, tables.span, encoded))
        .execute();
    for (const encoded of statements(spans.map(({ payload }) => payload)))
      await db
        .insertInto('span_payload')
        .columns(columnNames(tables.payload))
        .expression(rowsFrom(flavour, tables.payload, encoded))
        .execute();
  }

  async function write(db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> {
    const spans = new Map<string, EncodedSpan>();
    for (const encoded of jobs.flatMap((job) => job.spans))
      if (!spans.has(encoded.key)) spans.set(encoded.key, encoded);
    const identities = new Map([...spans.values()].map(({ identity }) => [identity.traceRef, identity]));
    const inOrder = [...identities.values()].toSorted(byKey);
    const known = await lockSummaries(db, inOrder);
    const added = await newOf(db, spans, known);
    await insertSpans(db, added);
    const news = byTrace(added);
    const grown = new Map(
      inOrder.flatMap((identity) => {
        const heads = news.get(identity.traceRef)?.map(({ span }) => span) ?? [];
        if (heads.length === 0) return [];
        return [[identity.traceRef, growSummary(known.get(identity.traceRef) ?? null, identity, heads)] as const];
      }),
    );
    await insertSummaries(db, [...grown.values()].map(summaryRowOf), 'replace');
    return grown;
  }

  return async (jobs) => {
    const grown = await inFlight.run(() => transaction(orm, (db) => write(db, jobs)));
    return jobs.map(({ spans }) => {
      const refs = new Set(spans.map(({ identity }) => identity.traceRef));
      return [...refs].flatMap((ref) => grown.get(ref) ?? []);
    });
  };
}
