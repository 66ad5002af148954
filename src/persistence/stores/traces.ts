import { type Expression, type ExpressionBuilder, type Kysely, type Selectable, sql, type SqlBool } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import type { TraceKey, TraceStore } from '../../domain/traces/store.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import { SpanPayloadEntity } from '../entities/span-payload.ts';
import { SpanEntity } from '../entities/span.ts';
import { TraceSummaryEntity } from '../entities/trace-summary.ts';
import { createGroupCommit } from '../group-commit.ts';
import { everyColumn, rowTable, tuplesIn } from '../rows.ts';
import type { IngestLimit } from '../stores.ts';
import type { Tables } from '../tables.ts';
import { storable } from './encoding.ts';
import { payloadOf, spanHeadOf } from './span-rows.ts';
import { summaryOf, type SummaryRow } from './summary-rows.ts';
import { createTraceIngest, encodeBatches, type IngestJob, type TraceTables } from './trace-ingest.ts';

const INGEST_LIMIT: IngestLimit = { rows: 20_000, bytes: 256 << 20 };
/** Long enough to share the cost of a commit, short enough that the first in it does not wait for long. */
const GROUP_ROWS = 4_000;

/** What a reader may see, as a condition on summaries; each kind has its index, whose own condition it repeats. */
function visibleTo(visibility: Visibility) {
  return (where: ExpressionBuilder<Tables, 'trace_summary'>): Expression<SqlBool> => {
    switch (visibility.kind) {
      case 'all':
        return where.lit(true);
      case 'team':
        return where.and([where('team_id', '=', visibility.teamId), sql<SqlBool>`team_id <> ''`]);
      case 'key':
        return where.and([sql<SqlBool>`team_id = ''`, where('key_hash', '=', visibility.keyHash)]);
    }
  };
}

const keyOfTrace = ({ traceId, traceRef }: TraceKey): readonly string[] => [storable(traceId), traceRef];

/** The trace store with what its owner needs at the end. */
export interface ClosableTraceStore extends TraceStore {
  /** Resolves when no ingest is under way. */
  idle(): Promise<void>;
}

/** Traces as rows: written in shared commits, read on the connection for reads. */
export function createTraceStore(database: Database, limit: IngestLimit = INGEST_LIMIT): ClosableTraceStore {
  const { orm, flavour, inFlight } = database;
  const tables: TraceTables = {
    summary: rowTable(orm, 'trace_summary', TraceSummaryEntity),
    span: rowTable(orm, 'span', SpanEntity),
    payload: rowTable(orm, 'span_payload', SpanPayloadEntity),
  };
  const commits = createGroupCommit<IngestJob, readonly TraceSummary[]>({
    commit: createTraceIngest(database, tables),
    limit,
    groupRows: GROUP_ROWS,
  });
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });
  const summaries = (visibility: Visibility) =>
    reading()
      .selectFrom('trace_summary')
      .select(everyColumn(tables.summary))
      .where(visibleTo(visibility))
      .orderBy('trace_summary.start_ms', 'desc')
      .orderBy('trace_summary.trace_ref', 'desc')
      .$castTo<SummaryRow>();

  return {
    async ingest(batches) {
      const job = encodeBatches(tables, batches);
      return job.rows === 0 ? [] : commits.submit(job);
    },
    listSummaries: (visibility, { startMs, endMs, after }, limitRows) =>
      inFlight.run(async () => {
        const rows = await summaries(visibility)
          .where('start_ms', '>=', startMs)
          .where('start_ms', '<', endMs)
          .$if(after !== null, (query) =>
            query.where(({ eb, refTuple, tuple }) =>
              eb(refTuple('start_ms', 'trace_ref'), '<', tuple(after?.startMs ?? 0, after?.traceRef ?? '')),
            ),
          )
          .limit(limitRows)
          .execute();
        return rows.map(summaryOf);
      }),
    findSummaries: (visibility, traceId, traceRef) =>
      inFlight.run(async () => {
        const rows = await summaries(visibility)
          .where('trace_id', '=', traceId)
          .$if(traceRef !== null, (query) => query.where('trace_ref', '=', traceRef))
          .execute();
        return rows.map(summaryOf);
      }),
    listSpans: (traces) =>
      inFlight.run(async () => {
        const rows = await reading()
          .selectFrom('span')
          .select(everyColumn(tables.span))
          .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, traces.map(keyOfTrace)))
          .orderBy('span.start_ns')
          .orderBy('span.span_id')
          .$castTo<Selectable<Tables['span']>>()
          .execute();
        const spans = new Map<string, SpanHead[]>(traces.map(({ traceRef }) => [traceRef, []]));
        for (const row of rows) spans.get(row.trace_ref)?.push(spanHeadOf(row));
        return spans;
      }),
    findSpan: (traces, spanId) =>
      inFlight.run(async () => {
        const row = await reading()
          .selectFrom('span')
          .innerJoin('span_payload', (join) =>
            join
              .onRef('span_payload.trace_id', '=', 'span.trace_id')
              .onRef('span_payload.trace_ref', '=', 'span.trace_ref')
              .onRef('span_payload.span_id', '=', 'span.span_id'),
          )
          .select([...everyColumn(tables.span), ...everyColumn(tables.payload)])
          .where(sql`(span.trace_id, span.trace_ref)`, 'in', tuplesIn(flavour, 2, traces.map(keyOfTrace)))
          .where('span.span_id', '=', spanId)
          .orderBy('span.trace_ref')
          .limit(1)
          .$castTo<Selectable<Tables['span'] & Tables['span_payload']>>()
          .executeTakeFirst();
        return row ? { ...spanHeadOf(row), ...payloadOf(row) } : null;
      }),
    idle: () => commits.idle(),
  };
}
