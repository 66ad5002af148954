import type { Visibility } from '../../domain/caller.ts';
import { InvalidInput, Unavailable } from '../../domain/errors.ts';
import { storable } from '../../domain/storable.ts';
import type { BodyReader } from '../../domain/traces/packed.ts';
import type { Span } from '../../domain/traces/span.ts';
import type { TraceKey } from '../../domain/traces/store.ts';
import type { TraceSearch } from '../../domain/traces/trace-search.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { AnnotatedSearch } from '../annotations/annotated-traces.ts';
import type { Orm } from '../database/database.ts';
import { createMutex, type Mutex } from '../database/mutex.ts';
import { createGroupCommit } from '../database/group-commit.ts';
import { createInFlight } from '../database/in-flight.ts';
import { columnNames } from '../database/rows.ts';
import type { IngestLimit, StoresOptions } from '../options.ts';
import { type IngestJob, type IngestPart, jobOf, jobOfBatches, jobOfExport } from '../traces/ingest-jobs.ts';
import { withBodyPayloads } from '../traces/bodies.ts';
import type { SpanRow } from '../traces/span-rows.ts';
import type { NewSummaryRow } from '../traces/summary-rows.ts';
import type { DrainableTraceStore } from '../traces/store.ts';
import { findBody } from './bodies.ts';
import { type ClickHouse, type ClickHouseLocation, openClickHouse } from './client.ts';
import { updateSchema } from './schema.ts';
import { spanPage, spansByRef } from './spans-by-ref.ts';
import { createClickHouseIngest } from './trace-ingest.ts';
import { knownSummaries, selected, summaryReader } from './trace-lookup.ts';
import { createClickHouseRemoval } from './trace-removal.ts';
import {
  agentsOf,
  allOf,
  beganIn,
  bucketsOf,
  type Condition,
  isOneOf,
  filterCondition,
  RANKS,
  visibleTo,
} from './trace-search.ts';
import { countSessionsOf, sessionsOf } from './sessions.ts';
import { clickHouseTables, numbersOf } from './trace-tables.ts';
import { createViews } from './views.ts';

const INGEST_LIMIT: IngestLimit = { rows: 100_000, bytes: 256 << 20 };
/** Maximum rows of a group commit: many, because each insert creates a part that the server has to merge. */
const GROUP_ROWS = 20_000;
/**
 * Maximum number of annotations that a filter may match. Their trace refs are sent with the query, because annotations
 * are in the database and not in ClickHouse.
 */
const MOST_ANNOTATED = 10_000;

/** A span with its owner and body. */
type FoundSpan = SpanRow & {
  readonly trace_id: string;
  readonly team_id: string;
  readonly key_hash: string;
  readonly body_id: string;
};

/** The trace store in ClickHouse. */
export interface ClickHouseTraceStore extends DrainableTraceStore {
  /** As `ingest`, for spans that are encoded already. */
  ingestParts(parts: readonly IngestPart[]): Promise<readonly TraceSummary[]>;
  /** Waits for running work, then closes the connections. */
  close(): Promise<void>;
}

interface Options extends Pick<StoresOptions, 'log'> {
  readonly bodies: BodyReader | undefined;
  /** The traces of at most `most` matching annotations; null when more match. */
  readonly annotated: (search: AnnotatedSearch, most: number) => Promise<readonly TraceKey[] | null>;
  readonly limit: IngestLimit | undefined;
  /** For changes of bodies, by all processes. */
  readonly bodyMutex: Mutex;
}

/**
 * Traces in ClickHouse. The schema is updated now, or before the first use if the server cannot be reached now: the
 * gateway serves models also without traces. Throws Unavailable when the server refuses the user.
 */
export async function openClickHouseTraces(
  location: ClickHouseLocation,
  orm: Orm,
  { bodies, annotated, log, limit = INGEST_LIMIT, bodyMutex }: Options,
): Promise<ClickHouseTraceStore> {
  const server = await openClickHouse(location);
  // For the statement that creates the database of `location`.
  const outside = await openClickHouse(location, 'default');
  // For reads of callers. Reads that precede a write use `server`.
  const reader = location.readerUrl ? await openClickHouse({ ...location, url: location.readerUrl }) : server;
  const tables = clickHouseTables(orm);
  const inFlight = createInFlight();
  const { columns, read } = summaryReader(tables);
  const spanNumbers = numbersOf<FoundSpan>(tables.span);
  let ready: Promise<void> | null = null;
  /** Resolves when the schema is updated. A failed update is repeated with the next call. */
  function schemaReady(): Promise<void> {
    ready ??= migrate().catch((error: unknown) => {
      ready = null;
      throw error;
    });
    return ready;
  }
  async function migrate(): Promise<void> {
    await updateSchema(server, { outside, database: location.database }, tables);
    await createViews(server, log);
    await completeRedactions();
  }
  /** Completes the redactions that a killed process left. Waits only for the search: other processes may be busy. */
  async function completeRedactions(): Promise<void> {
    const failed = (err: unknown): void =>
      log.warn({ err }, 'Interrupted redactions of traces could not be completed: the next start tries again.');
    try {
      const work = await removal.completeRedactions();
      if (work !== null) inFlight.run(work).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
  const withSchema = <Result>(work: () => Promise<Result>): Promise<Result> =>
    inFlight.run(async () => {
      await schemaReady();
      return work();
    });

  const ingest = createClickHouseIngest(server, tables, {
    bodies,
    findSpan: (traces, spanId) => findSpan(server, traces, spanId),
  });
  // For read-modify-write work: an ingest must not restore a text of a summary that is being redacted.
  const traceMutex = createMutex();
  const removal = createClickHouseRemoval(server, bodies, { bodyMutex, traceMutex });
  const commits = createGroupCommit<IngestJob, readonly TraceSummary[]>({
    commit: (jobs) => withSchema(() => traceMutex(() => ingest(jobs))),
    limit,
    groupRows: GROUP_ROWS,
  });
  const submit = (job: IngestJob): Promise<readonly TraceSummary[]> =>
    job.rows === 0 ? Promise.resolve([]) : commits.submit(job);

  /**
   * The filters of a search and the caller's visibility as one condition. Throws InvalidInput if too many annotations
   * match.
   */
  async function visibleAndPassing(
    visibility: Visibility,
    { startMs, filters }: Pick<TraceSearch, 'startMs' | 'filters'>,
  ): Promise<Condition> {
    const condition = allOf(visibleTo(visibility), filterCondition(filters));
    const { annotation: conditions } = filters;
    if (conditions === null) return condition;
    const traces = await annotated({ visibility, startMs, conditions }, MOST_ANNOTATED);
    if (traces === null)
      throw new InvalidInput(
        `More than ${MOST_ANNOTATED} annotations match: narrow the filter, or begin the window later.`,
      );
    return allOf(condition, isOneOf(traces));
  }

  const spanColumns = `trace_id, team_id, key_hash, body_id, ${selected(columnNames(tables.span))}`;

  async function findSpan(client: ClickHouse, traces: readonly TraceKey[], spanId: string): Promise<Span | null> {
    if (traces.length === 0) return null;
    return withSchema(async () => {
      const found = await client.rows<FoundSpan>(
        `select ${spanColumns} from span final
         where trace_id in {ids:Array(String)} and trace_ref in {refs:Array(String)} and span_id = {id:String}
         order by trace_ref limit 1`,
        {
          ids: traces.map(({ traceId }) => storable(traceId)),
          refs: traces.map(({ traceRef }) => traceRef),
          id: storable(spanId),
        },
      );
      return (await withPayloads(client, found.map(spanNumbers)))[0] ?? null;
    });
  }

  const findSpans = ({ traceId, traceRef }: TraceKey, spanIds: readonly string[]): Promise<readonly Span[]> =>
    withSchema(async () => {
      const found = await reader.rows<FoundSpan>(
        `select ${spanColumns} from span final
         where trace_id = {trace:String} and trace_ref = {ref:String} and span_id in {ids:Array(String)}`,
        { trace: storable(traceId), ref: traceRef, ids: spanIds.map(storable) },
      );
      const spans = await withPayloads(reader, found.map(spanNumbers));
      const byId = new Map(spans.map((span) => [span.spanId, span]));
      return spanIds.flatMap((id) => byId.get(id) ?? []);
    });

  /** The spans with their payloads. */
  const withPayloads = (client: ClickHouse, found: readonly FoundSpan[]): Promise<readonly Span[]> =>
    withBodyPayloads(bodies, found, {
      bodyIdOf: ({ body_id: id }) => id,
      bodyOf: ([{ body_id: id }]) => findBody(client, id),
    });

  async function close(): Promise<void> {
    await commits.idle();
    await inFlight.drain();
    await Promise.all([...new Set([server, outside, reader])].map((client) => client.close()));
  }
  try {
    await schemaReady();
  } catch (error) {
    // Null: the server refuses the user, and a retry does not help.
    if (!(error instanceof Unavailable) || error.retryAfterSeconds === null) {
      await close();
      throw error;
    }
    const reason = error.cause instanceof Error ? error.cause.message : '';
    log.warn({ reason }, 'The trace store cannot be used: no traces are available until it recovers.');
  }

  return {
    ingest: async (batches) => submit(jobOfBatches(batches)),
    ingestExport: async (owner, packed) => submit(jobOfExport(owner, await commits.awaitInput(packed))),
    ingestParts: async (parts) => submit(jobOf(parts, { body: null, startsNewTraces: false })),
    listSummaries: (visibility, { startMs, endMs, after }, limitRows) =>
      withSchema(async () => {
        const where = allOf(beganIn(startMs, endMs), visibleTo(visibility));
        // `newest_first` is the negative start.
        const afterCursor =
          after === null
            ? ''
            : `and newest_first >= -{at:Int64} and (newest_first > -{at:Int64} or trace_ref < {ref:String})`;
        const rows = await reader.rows<NewSummaryRow>(
          `select ${columns} from trace_by_start final where ${where.text} ${afterCursor}
           order by newest_first, trace_ref desc limit {limit:UInt32}`,
          { ...where.params, at: after?.startMs ?? 0, ref: after?.traceRef ?? '', limit: limitRows },
        );
        return read(rows);
      }),
    searchSummaries: (visibility, search, limitRows) =>
      withSchema(async () => {
        const { startMs, endMs, order, after } = search;
        const where = allOf(beganIn(startMs, endMs), await visibleAndPassing(visibility, search));
        const rank = RANKS[order];
        const afterCursor = after === null ? '' : `and (${rank}, trace_ref) < ({rank:Int64}, {ref:String})`;
        const rows = await reader.rows<NewSummaryRow>(
          `select ${columns} from trace_by_start final where ${where.text} ${afterCursor}
           order by ${rank} desc, trace_ref desc limit {limit:UInt32}`,
          { ...where.params, rank: String(after?.rank ?? 0n), ref: after?.traceRef ?? '', limit: limitRows },
        );
        return read(rows);
      }),
    series: (visibility, series) =>
      withSchema(async () => bucketsOf(reader, series, await visibleAndPassing(visibility, series))),
    agents: (visibility, search, most) =>
      withSchema(async () => {
        const condition = await visibleAndPassing(visibility, search);
        return agentsOf(reader, { search, condition, limit: most });
      }),
    sessions: (visibility, search, most) =>
      withSchema(async () => {
        const condition = await visibleAndPassing(visibility, search);
        return sessionsOf(reader, { search, condition, limit: most });
      }),
    countSessions: (visibility, search) =>
      withSchema(async () => countSessionsOf(reader, search, await visibleAndPassing(visibility, search))),
    findSummaries: (visibility, traceId, traceRef) =>
      withSchema(async () => {
        const seen = visibleTo(visibility);
        const ofRef = traceRef === null ? '' : 'and trace_ref = {ref:String}';
        const rows = await reader.rows<NewSummaryRow>(
          `select ${columns} from trace_summary final where trace_id = {id:String} and (${seen.text}) ${ofRef}
           order by start_ms desc, trace_ref desc`,
          { ...seen.params, id: storable(traceId), ref: traceRef ?? '' },
        );
        return read(rows);
      }),
    listSpans: (traces) => withSchema(() => spansByRef(reader, tables, traces)),
    listSpanPage: (trace, after, most) => withSchema(() => spanPage(reader, tables, { trace, after, limit: most })),
    findSpan: (traces, spanId) => findSpan(reader, traces, spanId),
    findSpans,
    removeStartedBefore: (beforeMs, most) => withSchema(() => removal.removeStartedBefore(beforeMs, most)),
    remove: (traces) => withSchema(() => removal.remove(traces)),
    redact: (traces, at) =>
      withSchema(async () => {
        await removal.redact(traces, at.getTime());
        const known = await knownSummaries(
          server,
          tables,
          traces.map(({ traceId }) => storable(traceId)),
        );
        return traces.flatMap(({ traceRef }) => known.get(traceRef) ?? []);
      }),
    idle: () => commits.idle(),
    close,
  };
}
