import { expressionBuilder, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Visibility } from '../../domain/caller.ts';
import { storable } from '../../domain/storable.ts';
import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import type { Span } from '../../domain/traces/span.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import type { TraceSearch } from '../../domain/traces/trace-search.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import { visibleAndAnnotated } from '../annotations/annotated-traces.ts';
import { NOTES_FROM_SPANS } from '../call-notes/noted-recount.ts';
import type { Database } from '../database/database.ts';
import { createGroupCommit } from '../database/group-commit.ts';
import { rowReader } from '../packed-rows/row-reader.ts';
import { rowTable, tableWithout } from '../database/rows.ts';
import type { IngestLimit } from '../options.ts';
import { type IngestJob, jobOfBatches, jobOfExport } from './ingest-jobs.ts';
import { withBodyPayloads } from './bodies.ts';
import { summaryOf } from './summary-rows.ts';
import { agentsOf, bigint, bucketsOf, filterCondition, RANKS } from './search.ts';
import { countSessionsOf, sessionsOf } from './sessions.ts';
import { createTraceRemoval } from './removal.ts';
import { createTraceIngest, type TraceTables } from './ingest.ts';
import { createTraceReads, type FoundSpan, ownerOf, visibleTo } from './reads.ts';

const INGEST_LIMIT: IngestLimit = { rows: 20_000, bytes: 256 << 20 };
/** Maximum rows of a group commit: enough to share the cost of a commit, few enough to keep the wait short. */
const GROUP_ROWS = 4_000;

/** A trace store that a shutdown can wait for. */
export interface DrainableTraceStore extends TraceStore {
  /** Resolves when no ingest is in flight. */
  idle(): Promise<void>;
}

function bodyOf(spans: readonly FoundSpan[]): ExportBody {
  const { format, compression, bytes } = spans.find((span) => span.bytes !== null) ?? {};
  if (!format || !compression || !bytes) throw new Error('The body of a span is missing.');
  return { format, compression, bytes };
}

/** Trace store in SQL: group commits on the writer, reads on the read connection. */
export function createTraceStore(
  database: Database,
  bodies: BodyReader | undefined,
  {
    limit = INGEST_LIMIT,
    spanBlocks = true,
    notesFrom = NOTES_FROM_SPANS,
    packedRows = true,
  }: {
    readonly limit?: IngestLimit | undefined;
    readonly spanBlocks?: boolean | undefined;
    readonly notesFrom?: number | null | undefined;
    readonly packedRows?: boolean | undefined;
  } = {},
): DrainableTraceStore {
  const { orm, flavour, inFlight, reader, readRows } = database;
  const tables: TraceTables = {
    summary: rowTable(orm, 'trace_summary'),
    span: rowTable(orm, 'span'),
    body: rowTable(orm, 'export_body'),
    blockTrace: rowTable(orm, 'sheet_trace'),
  };
  const summaryRows = rowReader(flavour, tableWithout(tables.summary, 'trace_no'), packedRows);
  const reads = createTraceReads(database, tables, packedRows);
  const commits = createGroupCommit<IngestJob, readonly TraceSummary[]>({
    commit: createTraceIngest(database, tables, { bodies, spanBlocks, notesFrom }),
    limit,
    groupRows: GROUP_ROWS,
  });
  const removal = createTraceRemoval(database, tables, bodies);
  const visible = (visibility: Visibility) => visibleTo(visibility.kind, sql`${ownerOf(visibility)}`);

  /** The filters of a search and the caller's visibility as one condition on summaries. */
  async function visibleAndPassing(
    visibility: Visibility,
    { startMs, filters }: Pick<TraceSearch, 'startMs' | 'filters'>,
  ): Promise<RawBuilder<SqlBool>> {
    const { annotation: conditions } = filters;
    const isVisible = sql<SqlBool>`${visible(visibility)(expressionBuilder())}`;
    const isVisibleAndAnnotated =
      conditions === null
        ? isVisible
        : await visibleAndAnnotated(reader(), flavour, { visibility, startMs, conditions }, isVisible);
    return sql<SqlBool>`${isVisibleAndAnnotated} and ${filterCondition(flavour, filters)}`;
  }
  const submit = (job: IngestJob): Promise<readonly TraceSummary[]> =>
    job.rows === 0 ? Promise.resolve([]) : commits.submit(job);

  /** The spans with their payloads. At least one of the spans in a body must have the bytes of the body. */
  const withPayloads = (found: readonly FoundSpan[]): Promise<readonly Span[]> =>
    withBodyPayloads(bodies, found, { bodyIdOf: ({ body_no: bodyNo }) => bodyNo, bodyOf });

  return {
    ingest: async (batches) => submit(jobOfBatches(batches)),
    ingestExport: async (owner, packed) => submit(jobOfExport(owner, await commits.awaitInput(packed))),
    listSummaries: reads.listSummaries,
    searchSummaries: (visibility, search, limitRows) =>
      readRows(async (db) => {
        const { startMs, endMs, order, after } = search;
        const rank = RANKS[order];
        const rows = await db
          .selectFrom('trace_summary')
          .select(summaryRows.selection)
          .where(await visibleAndPassing(visibility, search))
          .where('start_ms', '>=', startMs)
          .where('start_ms', '<', endMs)
          .$if(after !== null, (query) =>
            query.where(
              sql<boolean>`(${rank}, trace_summary.trace_ref) < (${bigint(after?.rank ?? 0n)}, ${storable(after?.traceRef ?? '')})`,
            ),
          )
          .orderBy(rank, 'desc')
          .orderBy('trace_summary.trace_ref', 'desc')
          .limit(limitRows)
          .execute();
        return rows.map((row) => summaryOf(summaryRows.rowOf(row)));
      }),
    series: (visibility, series) =>
      readRows(async (db) => bucketsOf(db, series, await visibleAndPassing(visibility, series))),
    agents: (visibility, search, limitRows) =>
      readRows(async (db) => {
        const condition = await visibleAndPassing(visibility, search);
        return agentsOf(db, flavour, { search, condition, limit: limitRows });
      }),
    sessions: (visibility, search, limitRows) =>
      readRows(async (db) => {
        const condition = await visibleAndPassing(visibility, search);
        return sessionsOf(db, flavour, { search, condition, limit: limitRows });
      }),
    countSessions: (visibility, search) =>
      readRows(async (db) => countSessionsOf(db, search, await visibleAndPassing(visibility, search))),
    findSummaries: reads.findSummaries,
    listSpans: reads.listSpans,
    listSpanPage: reads.listSpanPage,
    async findSpan(traces, spanId) {
      const found = await reads.findSpan(traces, spanId);
      const [span = null] = found === undefined ? [] : await withPayloads([found]);
      return span;
    },
    async findSpans(trace, spanIds) {
      const found = await withPayloads(await reads.findSpans(trace, spanIds));
      const byId = new Map(found.map((span) => [span.spanId, span]));
      return spanIds.flatMap((id) => byId.get(id) ?? []);
    },
    removeStartedBefore: (beforeMs, most) => inFlight.write(() => removal.removeStartedBefore(beforeMs, most)),
    remove: (keys) => inFlight.write(() => removal.remove(keys)),
    redact: (keys, at) =>
      inFlight.write(async () => {
        await removal.redact(keys, at.getTime());
        return reads.summariesOf(keys);
      }),
    idle: () => commits.idle(),
  };
}
