import { type Expression, type ExpressionBuilder, expressionBuilder, type Kysely, sql, type SqlBool } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import { storable } from '../../domain/storable.ts';
import { payloadOfText } from '../../domain/traces/span-rows.ts';
import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import type { SpanHead, SpanPayload } from '../../domain/traces/span.ts';
import type { TraceKey, TraceStore } from '../../domain/traces/store.ts';
import type { TraceFilters } from '../../domain/traces/trace-search.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database.ts';
import { ExportBodyEntity } from '../entities/export-body.ts';
import { SpanEntity } from '../entities/span.ts';
import { TraceSummaryEntity } from '../entities/trace-summary.ts';
import { createGroupCommit } from '../group-commit.ts';
import { everyColumn, rowTable, tableWithout, tuplesIn } from '../rows.ts';
import type { IngestLimit } from '../stores.ts';
import type { Tables } from '../tables.ts';
import { type IngestJob, jobOfBatches, jobOfExport } from './ingest-jobs.ts';
import { type SpanRow, spanHeadOf } from './span-rows.ts';
import { summaryOf, type SummaryRow } from './summary-rows.ts';
import { agentsOf, bigint, bucketsOf, passing, RANKS } from './trace-search.ts';
import { createTraceRemoval } from './trace-removal.ts';
import { createTraceIngest, type TraceTables } from './trace-ingest.ts';

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

/** A span with the trace and the body it belongs to. */
type FoundSpan = SpanRow &
  Pick<SummaryRow, 'trace_id' | 'team_id' | 'key_hash'> & {
    readonly format: ExportBody['format'] | null;
    readonly compression: ExportBody['compression'] | null;
    readonly bytes: Uint8Array | null;
  };

/** Traces as rows: written in shared commits, read on the connection for reads. */
export function createTraceStore(
  database: Database,
  bodies: BodyReader | undefined,
  limit: IngestLimit = INGEST_LIMIT,
): ClosableTraceStore {
  const { orm, flavour, inFlight } = database;
  const tables: TraceTables = {
    summary: rowTable(orm, 'trace_summary', TraceSummaryEntity),
    span: rowTable(orm, 'span', SpanEntity),
    body: rowTable(orm, 'export_body', ExportBodyEntity),
  };
  const heads = tableWithout(tables.span, 'trace_no', 'body_no', 'body_at', 'payload');
  const commits = createGroupCommit<IngestJob, readonly TraceSummary[]>({
    commit: createTraceIngest(database, tables, bodies),
    limit,
    groupRows: GROUP_ROWS,
  });
  const removal = createTraceRemoval(database, bodies);
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });
  const summaries = (visibility: Visibility) =>
    reading()
      .selectFrom('trace_summary')
      .select(everyColumn(tables.summary))
      .where(visibleTo(visibility))
      .orderBy('trace_summary.start_ms', 'desc')
      .orderBy('trace_summary.trace_ref', 'desc')
      .$castTo<SummaryRow>();
  const visibleAndPassing = (visibility: Visibility, filters: TraceFilters) =>
    sql<SqlBool>`${visibleTo(visibility)(expressionBuilder())} and ${passing(flavour, filters)}`;
  const submit = (job: IngestJob): Promise<readonly TraceSummary[]> =>
    job.rows === 0 ? Promise.resolve([]) : commits.submit(job);
  const spansOf = (traces: readonly TraceKey[]) =>
    reading()
      .selectFrom('trace_summary')
      .innerJoin('span', 'span.trace_no', 'trace_summary.trace_no')
      .where(
        sql`(trace_summary.trace_id, trace_summary.trace_ref)`,
        'in',
        tuplesIn(flavour, 2, traces.map(keyOfTrace)),
      );

  function payloadOf(span: FoundSpan): SpanPayload | Promise<SpanPayload> {
    const { payload, body_at: at, format, compression, bytes } = span;
    if (payload !== null) return payloadOfText(payload);
    if (at === null || format === null || compression === null || bytes === null)
      throw new Error('A span has lost the body it came in.');
    if (bodies === undefined) throw new Error('The store was opened without a reader of bodies.');
    return bodies.payload({ format, compression, bytes }, at, { teamId: span.team_id, keyHash: span.key_hash });
  }

  return {
    ingest: async (batches) => submit(jobOfBatches(batches)),
    ingestExport: async (owner, packed) => submit(jobOfExport(owner, packed)),
    listSummaries: (visibility, { startMs, endMs, after }, limitRows) =>
      inFlight.run(async () => {
        const rows = await summaries(visibility)
          .where('start_ms', '>=', startMs)
          // One bound from above: of two SQLite may descend to the higher and pass by all that lies between.
          .where(({ eb, refTuple, tuple }) =>
            after === null || after.startMs >= endMs
              ? eb('start_ms', '<', endMs)
              : eb(refTuple('start_ms', 'trace_ref'), '<', tuple(after.startMs, after.traceRef)),
          )
          .limit(limitRows)
          .execute();
        return rows.map(summaryOf);
      }),
    searchSummaries: (visibility, { startMs, endMs, filters, order, after }, limitRows) =>
      inFlight.run(async () => {
        const rank = RANKS[order];
        const rows = await reading()
          .selectFrom('trace_summary')
          .select(everyColumn(tables.summary))
          .where(visibleTo(visibility))
          .where('start_ms', '>=', startMs)
          .where('start_ms', '<', endMs)
          .where(passing(flavour, filters))
          .$if(after !== null, (query) =>
            query.where(
              sql<boolean>`(${rank}, trace_summary.trace_ref) < (${bigint(after?.rank ?? 0n)}, ${after?.traceRef ?? ''})`,
            ),
          )
          .orderBy(rank, 'desc')
          .orderBy('trace_summary.trace_ref', 'desc')
          .limit(limitRows)
          .$castTo<SummaryRow>()
          .execute();
        return rows.map(summaryOf);
      }),
    series: (visibility, series) =>
      inFlight.run(() => bucketsOf(reading(), series, visibleAndPassing(visibility, series.filters))),
    agents: (visibility, search, limitRows) =>
      inFlight.run(() => {
        const condition = visibleAndPassing(visibility, search.filters);
        return agentsOf(reading(), flavour, { search, condition, limit: limitRows });
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
        const rows = await spansOf(traces)
          .select(['trace_summary.trace_id', 'trace_summary.trace_ref'])
          .select(everyColumn(heads))
          .orderBy('span.start_ns')
          .orderBy('span.span_id')
          .$castTo<SpanRow & Pick<SummaryRow, 'trace_id' | 'trace_ref'>>()
          .execute();
        const spans = new Map<string, SpanHead[]>(traces.map(({ traceRef }) => [traceRef, []]));
        for (const row of rows) spans.get(row.trace_ref)?.push(spanHeadOf(row.trace_id, row));
        return spans;
      }),
    listSpanPage: (trace, after, limitRows) =>
      inFlight.run(async () => {
        const rows = await spansOf([trace])
          .select(everyColumn(heads))
          .$if(after !== null, (query) =>
            query.where(
              sql<boolean>`(span.start_ns, span.span_id) > (${bigint(after?.startNs ?? 0n)}, ${after?.spanId ?? ''})`,
            ),
          )
          .orderBy('span.start_ns')
          .orderBy('span.span_id')
          .limit(limitRows)
          .$castTo<SpanRow>()
          .execute();
        return rows.map((row) => spanHeadOf(trace.traceId, row));
      }),
    async findSpan(traces, spanId) {
      const found = await inFlight.run(() =>
        spansOf(traces)
          .leftJoin('export_body', 'export_body.body_no', 'span.body_no')
          .where('span.span_id', '=', spanId)
          .select(['trace_summary.trace_id', 'trace_summary.team_id', 'trace_summary.key_hash'])
          .select(everyColumn(tables.span))
          .select(['export_body.format', 'export_body.compression', 'export_body.bytes'])
          .orderBy('trace_summary.trace_ref')
          .limit(1)
          .$castTo<FoundSpan>()
          .executeTakeFirst(),
      );
      return found ? { ...spanHeadOf(found.trace_id, found), ...(await payloadOf(found)) } : null;
    },
    forget: (beforeMs, most) => inFlight.run(() => removal.forget(beforeMs, most)),
    remove: (keys) => inFlight.run(() => removal.remove(keys)),
    redact: (keys, at) =>
      inFlight.run(async () => {
        await removal.redact(keys, at.getTime());
        const rows = await summaries({ kind: 'all' })
          .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, keys.map(keyOfTrace)))
          .execute();
        return rows.map(summaryOf);
      }),
    idle: () => commits.idle(),
  };
}
