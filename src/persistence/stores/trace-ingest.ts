import { sql, type Kysely } from 'kysely';
import type { Span, SpanBatch } from '../../domain/traces/span.ts';
import { growSummary, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import { SpanPayloadEntity } from '../entities/span-payload.ts';
import { SpanEntity } from '../entities/span.ts';
import { TraceSummaryEntity } from '../entities/trace-summary.ts';
import type { Weight } from '../group-commit.ts';
import { columnNames, everyColumn, rowTable, rowsFrom, statements, textsIn } from '../rows.ts';
import type { Tables } from '../tables.ts';
import { traceRefOf } from '../trace-ref.ts';
import { payloadRowOf, spanRowOf } from './span-rows.ts';
import { emptySummaryRow, summaryOf, summaryRowOf, type SummaryRow, type TraceIdentity } from './summary-rows.ts';

interface EncodedSpan {
  readonly identity: TraceIdentity;
  readonly span: Span;
  /** Unique across owners and traces. */
  readonly key: string;
  /** The two rows of the span, as JSON. */
  readonly head: string;
  readonly payload: string;
}

/** One call's spans, ready to be written. */
export interface IngestJob extends Weight {
  readonly spans: readonly EncodedSpan[];
}

type Summaries = ReadonlyMap<string, TraceSummary>;

const keyOf = (traceRef: string, spanId: string): string => `${traceRef}:${spanId}`;

/** Encodes what a call brought. Throws InvalidInput for values no column holds, before anyone else is involved. */
export function encodeBatches(batches: readonly SpanBatch[]): IngestJob {
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
        head: JSON.stringify(row),
        payload: JSON.stringify(payloadRowOf(identity.traceRef, span)),
      };
    });
  });
  const bytes = spans.reduce((total, { head, payload }) => total + head.length + payload.length, 0);
  return { spans, rows: spans.length, bytes };
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
export function createTraceIngest({
  orm,
  flavour,
  inFlight,
}: Database): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  const summaryTable = rowTable(orm, 'trace_summary', TraceSummaryEntity);
  const spanTable = rowTable(orm, 'span', SpanEntity);
  const payloadTable = rowTable(orm, 'span_payload', SpanPayloadEntity);

  async function insertSummaries(
    db: Kysely<Tables>,
    rows: readonly SummaryRow[],
    present: 'keep' | 'replace',
  ): Promise<void> {
    const replaced = Object.fromEntries(
      columnNames(summaryTable).map((column) => [column, sql.ref(`excluded.${column}`)]),
    );
    for (const encoded of statements(rows.map((row) => JSON.stringify(row))))
      await db
        .insertInto('trace_summary')
        .columns(columnNames(summaryTable))
        .expression(rowsFrom(flavour, summaryTable, encoded))
        .onConflict((conflict) => {
          const same = conflict.column('trace_ref');
          return present === 'keep' ? same.doNothing() : same.doUpdateSet(replaced);
        })
        .execute();
  }

  /**
   * The summaries of these traces, so that nobody else can change them until the commit. SQLite's write lock
   * is ours already. PostgreSQL locks rows, so a trace that is new needs a row first; rows are made and
   * locked in the order of their refs, so that two processes cannot wait for each other.
   */
  async function lockSummaries(db: Kysely<Tables>, identities: readonly TraceIdentity[]): Promise<Summaries> {
    if (flavour === 'postgresql') await insertSummaries(db, identities.map(emptySummaryRow), 'keep');
    const refs = identities.map(({ traceRef }) => traceRef);
    const rows = await db
      .selectFrom('trace_summary')
      .select(everyColumn(summaryTable))
      .where('trace_ref', 'in', textsIn(flavour, refs))
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .$castTo<SummaryRow>()
      .execute();
    return new Map(rows.filter((row) => row.span_count > 0).map((row) => [row.trace_ref, summaryOf(row)]));
  }

  /** Inserts spans, leaves those alone that are stored already, and tells which were new. */
  async function insertSpans(
    db: Kysely<Tables>,
    spans: ReadonlyMap<string, EncodedSpan>,
  ): Promise<readonly EncodedSpan[]> {
    const added: EncodedSpan[] = [];
    for (const encoded of statements([...spans.values()].map(({ head }) => head))) {
      const inserted = await db
        .insertInto('span')
        .columns(columnNames(spanTable))
        .expression(rowsFrom(flavour, spanTable, encoded))
        .onConflict((conflict) => conflict.columns(['trace_ref', 'span_id']).doNothing())
        .returning(['trace_ref', 'span_id'])
        .execute();
      added.push(...inserted.flatMap((row) => spans.get(keyOf(row.trace_ref, row.span_id)) ?? []));
    }
    for (const encoded of statements(added.map(({ payload }) => payload)))
      await db
        .insertInto('span_payload')
        .columns(columnNames(payloadTable))
        .expression(rowsFrom(flavour, payloadTable, encoded))
        .execute();
    return added;
  }

  async function write(db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> {
    const spans = new Map<string, EncodedSpan>();
    for (const encoded of jobs.flatMap((job) => job.spans))
      if (!spans.has(encoded.key)) spans.set(encoded.key, encoded);
    const identities = new Map([...spans.values()].map(({ identity }) => [identity.traceRef, identity]));
    const inOrder = [...identities.values()].toSorted((left, right) => (left.traceRef < right.traceRef ? -1 : 1));
    const known = await lockSummaries(db, inOrder);
    const added = byTrace(await insertSpans(db, spans));
    const grown = new Map(
      [...added].flatMap(([traceRef, news]) => {
        const identity = identities.get(traceRef);
        const heads = news.map(({ span }) => span);
        return identity ? [[traceRef, growSummary(known.get(traceRef) ?? null, identity, heads)] as const] : [];
      }),
    );
    const changed = inOrder.flatMap(({ traceRef }) => grown.get(traceRef) ?? []);
    await insertSummaries(db, changed.map(summaryRowOf), 'replace');
    return grown;
  }

  return async (jobs) => {
    const grown = await inFlight.run(() => orm.em.fork().transactional((em) => write(em.getKysely<Tables>(), jobs)));
    return jobs.map(({ spans }) => {
      const refs = new Set(spans.map(({ identity }) => identity.traceRef));
      return [...refs].flatMap((ref) => grown.get(ref) ?? []);
    });
  };
}
