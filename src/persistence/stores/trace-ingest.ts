import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Span, SpanBatch } from '../../domain/traces/span.ts';
import { growSummary, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import { isDuplicate } from '../faults.ts';
import type { Weight } from '../group-commit.ts';
import {
  columnNames,
  type EncodedRow,
  encodeRow,
  everyColumn,
  type Insertion,
  insertionInto,
  type RowTable,
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
  /** Every span begins a trace of its own. */
  readonly begins: boolean;
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
  return { spans, rows: spans.length, bytes, begins: batches.every(({ begins }) => begins === true) };
}

function byKey(left: TraceIdentity, right: TraceIdentity): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  return left.traceRef < right.traceRef ? -1 : 1;
}

function distinct(jobs: readonly IngestJob[]): readonly EncodedSpan[] {
  const spans = new Map<string, EncodedSpan>();
  for (const job of jobs) for (const encoded of job.spans) if (!spans.has(encoded.key)) spans.set(encoded.key, encoded);
  return [...spans.values()];
}

function byTrace(encodedSpans: readonly EncodedSpan[]) {
  const traces = new Map<string, { readonly identity: TraceIdentity; readonly spans: Span[] }>();
  for (const { identity, span } of encodedSpans) {
    const known = traces.get(identity.traceRef);
    if (known) known.spans.push(span);
    else traces.set(identity.traceRef, { identity, spans: [span] });
  }
  return traces;
}

/** Commits jobs together: spans first, then the summaries grown by exactly those that were new. */
export function createTraceIngest(
  { orm, flavour, inFlight }: Database,
  tables: TraceTables,
): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  const replaced = sql.join(
    columnNames(tables.summary).map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
  );
  const onSummary = (then: RawBuilder<unknown>) =>
    insertionInto(flavour, tables.summary, sql`on conflict (trace_id, trace_ref) do ${then}`);
  const insert = {
    span: insertionInto(flavour, tables.span),
    payload: insertionInto(flavour, tables.payload),
    summary: insertionInto(flavour, tables.summary),
    summaryIfAbsent: onSummary(sql`nothing`),
    summaryInPlace: onSummary(sql`update set ${replaced}`),
  };

  /** Runs an insert in as many statements as the rows need. */
  async function store(db: Kysely<Tables>, into: Insertion, rows: readonly EncodedRow[]): Promise<void> {
    for (const some of statements(rows)) await into(db, some);
  }

  const storeSummaries = (db: Kysely<Tables>, into: Insertion, rows: readonly SummaryRow[]): Promise<void> =>
    store(
      db,
      into,
      rows.map((row) => encodeRow(tables.summary, row)),
    );

  /**
   * The summaries of these traces, so that nobody else can change them until the commit. SQLite's write lock
   * is ours already. PostgreSQL locks rows, so a trace that is new needs a row first; rows are made and
   * locked in the order of their keys, so that two processes cannot wait for each other.
   */
  async function lockSummaries(db: Kysely<Tables>, identities: readonly TraceIdentity[]): Promise<Summaries> {
    if (flavour === 'postgresql') await storeSummaries(db, insert.summaryIfAbsent, identities.map(emptySummaryRow));
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
    spans: readonly EncodedSpan[],
    known: Summaries,
  ): Promise<readonly EncodedSpan[]> {
    const doubtful = spans.filter(({ identity }) => known.has(identity.traceRef));
    if (doubtful.length === 0) return spans;
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
    return spans.filter(({ key }) => !there.has(key));
  }

  /** Stores spans and what they make of their traces. `known` are the summaries of those that were there before. */
  async function storeSpans(
    db: Kysely<Tables>,
    added: readonly EncodedSpan[],
    known: Summaries,
    intoSummaries: Insertion,
  ): Promise<Summaries> {
    await store(
      db,
      insert.span,
      added.map(({ head }) => head),
    );
    await store(
      db,
      insert.payload,
      added.map(({ payload }) => payload),
    );
    const grown = new Map(
      [...byTrace(added)].map(([traceRef, { identity, spans }]) => [
        traceRef,
        growSummary(known.get(traceRef) ?? null, identity, spans),
      ]),
    );
    await storeSummaries(db, intoSummaries, [...grown.values()].map(summaryRowOf));
    return grown;
  }

  /** Spans nobody can have stored before. Fails for all when one of their traces is there all the same. */
  const storeFresh = (db: Kysely<Tables>, spans: readonly EncodedSpan[]): Promise<Summaries> =>
    storeSpans(db, spans, new Map(), insert.summary);

  async function storeNew(db: Kysely<Tables>, spans: readonly EncodedSpan[]): Promise<Summaries> {
    const identities = new Map(spans.map(({ identity }) => [identity.traceRef, identity]));
    const known = await lockSummaries(db, [...identities.values()].toSorted(byKey));
    return storeSpans(db, await newOf(db, spans, known), known, insert.summaryInPlace);
  }

  async function commit(jobs: readonly IngestJob[]): Promise<Summaries> {
    const spans = distinct(jobs);
    if (jobs.every(({ begins }) => begins)) {
      try {
        return await transaction(orm, (db) => storeFresh(db, spans));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
    return transaction(orm, (db) => storeNew(db, spans));
  }

  return async (jobs) => {
    const grown = await inFlight.run(() => commit(jobs));
    return jobs.map(({ spans }) => {
      const refs = new Set(spans.map(({ identity }) => identity.traceRef));
      return [...refs].flatMap((ref) => grown.get(ref) ?? []);
    });
  };
}
