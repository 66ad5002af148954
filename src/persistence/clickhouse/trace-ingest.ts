import { randomBytes } from 'node:crypto';
import { storable } from '../../domain/storable.ts';
import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
import { mayRepeatCalls, withCallsCountedOnce } from '../../domain/traces/recount.ts';
import type { SpanHead } from '../../domain/traces/span.ts';
import { rowTexts } from '../../domain/traces/span-rows.ts';
import type { TraceStore } from '../../domain/traces/store.ts';
import { joinLabels, labelsIn, NO_LABELS } from '../../domain/traces/trace-labels.ts';
import { addTally, tallyOf, type TraceIdentity, type TraceSummary } from '../../domain/traces/trace.ts';
import { ownerColumns } from '../database/owner-columns.ts';
import { columnNames, encodeRow } from '../database/rows.ts';
import { bodyOfNew } from '../traces/bodies.ts';
import { changedByJob, type IngestJob, type IngestPart, newParts } from '../traces/ingest-jobs.ts';
import { emptySummaryRow, summaryRowOf } from '../traces/summary-rows.ts';
import type { ClickHouse } from './client.ts';
import { spansByRef } from './spans-by-ref.ts';
import { storedLabels } from './stored-labels.ts';
import { inBatches, knownSummaries } from './trace-lookup.ts';
import {
  BODY_COLUMNS,
  type ClickHouseTables,
  LISTED_PREFIX,
  rowWith,
  SPAN_PREFIX,
  SUMMARY_PREFIX,
} from './trace-tables.ts';

const NS_PER_MS = 1_000_000n;
/** Values of the column `deleted` of `trace_by_start`. */
const [NOT_DELETED, DELETED] = [0, 1];

/** A trace that a commit touches. */
interface ChangedTrace {
  readonly identity: TraceIdentity;
  /** Its stored summary; null for a new trace, and for a trace that has stored spans only. */
  readonly before: TraceSummary | null;
  /** Number of its stored spans. */
  readonly storedSpans: number;
  /** Its new spans. */
  readonly fresh: readonly IngestPart[];
}

/**
 * A trace after a commit. `trace_by_start` may still list the trace under former starts, in Unix ms: the rows with
 * these starts are deleted.
 */
interface IngestedTrace {
  readonly summary: TraceSummary;
  readonly formerStartsMs: readonly number[];
}

/** Whether the stored summary counts all stored spans. */
const countsAllStored = ({ before, storedSpans }: ChangedTrace): boolean => (before?.spanCount ?? 0) === storedSpans;

const startMsOf = ({ startNs }: Pick<TraceSummary, 'startNs'>): number => Number(startNs / NS_PER_MS);
const sizeOf = (parts: readonly IngestPart[]): number =>
  parts.reduce((total, { spanIds }) => total + spanIds.length, 0);

/** Returns a clock of ascending, distinct arrival times in Unix microseconds. */
function createArrivalClock(): () => number {
  let last = 0;
  return () => {
    last = Math.max(last + 1, Date.now() * 1_000);
    return last;
  };
}

/** An id that is unique across processes. Ids sort by arrival time. */
const bodyIdAt = (arrived: number): string =>
  `${arrived.toString(16).padStart(16, '0')}${randomBytes(8).toString('hex')}`;

const FIRST_BODY_VERSION = 0;

function bodyRow(
  { format, compression, bytes }: ExportBody,
  about: { readonly bodyId: string; readonly arrived: number; readonly parts: readonly IngestPart[] },
): string {
  const traceIds = about.parts.map(({ identity }) => storable(identity.traceId));
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return JSON.stringify([about.bodyId, about.arrived, FIRST_BODY_VERSION, traceIds, format, compression, base64]);
}

/**
 * Commits jobs together, without transactions: bodies first, then spans in one atomic insert (several above the size
 * limit), then the summaries that make traces visible. Before the summaries, the spans of each trace are counted. The
 * number is unexpected if another process wrote to the trace at the same time, or a killed process left it without
 * summary. The new summary is then computed from all spans of the trace. Of two summaries, the one with more spans
 * wins.
 */
export function createClickHouseIngest(
  server: ClickHouse,
  tables: ClickHouseTables,
  {
    bodies,
    findSpan,
  }: {
    readonly bodies: BodyReader | undefined;
    /** A stored span, from the writing server. */
    readonly findSpan: TraceStore['findSpan'];
  },
): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  const nextArrival = createArrivalClock();
  const spanColumns = [...SPAN_PREFIX, ...columnNames(tables.span)];
  const summaryColumns = [...SUMMARY_PREFIX, ...columnNames(tables.summary)];
  const listedColumns = [...LISTED_PREFIX, ...columnNames(tables.summary)];

  /** Ids of the stored spans of these traces, by trace ref. */
  async function storedSpans(traceIds: Iterable<string>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const rows = await inBatches(traceIds, (ids) =>
      server.rows<{ trace_ref: string; span_ids: readonly string[] }>(
        `select trace_ref, groupUniqArray(span_id) as span_ids from span
         where trace_id in {ids:Array(String)} group by trace_ref`,
        { ids },
      ),
    );
    return new Map(rows.map(({ trace_ref: ref, span_ids: ids }) => [ref, new Set(ids)]));
  }

  async function countSpans(traceIds: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const rows = await inBatches(traceIds, (ids) =>
      server.rows<{ trace_ref: string; spans: string }>(
        `select trace_ref, uniqExact(span_id) as spans from span
         where trace_id in {ids:Array(String)} group by trace_ref`,
        { ids },
      ),
    );
    return new Map(rows.map(({ trace_ref: ref, spans }) => [ref, Number(spans)]));
  }

  /** The new spans of each job, and the traces whose summary has to be written. */
  async function lookUp(jobs: readonly IngestJob[]) {
    const identities = new Map(jobs.flatMap(({ parts }) => parts.map(({ identity }) => [identity.traceRef, identity])));
    const stored = await storedSpans([...identities.values()].map(({ traceId }) => storable(traceId)));
    const known = [...identities.values()].filter(({ traceRef }) => stored.has(traceRef));
    const summaries = await knownSummaries(
      server,
      tables,
      known.map(({ traceId }) => storable(traceId)),
    );
    const fresh = newParts(jobs, new Map(known.map(({ traceRef: ref }) => [ref, stored.get(ref) ?? new Set()])));
    const freshOf = Map.groupBy(fresh.flat(), ({ identity }) => identity.traceRef);
    const touched = [...identities].map(([ref, identity]): ChangedTrace => ({
      identity,
      before: summaries.get(ref) ?? null,
      storedSpans: stored.get(ref)?.size ?? 0,
      fresh: freshOf.get(ref) ?? [],
    }));
    // A summary is also written when the stored summary does not count all stored spans.
    return { fresh, touched: touched.filter((trace) => trace.fresh.length > 0 || !countsAllStored(trace)) };
  }

  /** Stores the new spans of each job: first all bodies, then all spans. */
  async function storeSpans(
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    arrived: number,
  ): Promise<void> {
    const bodyRows: string[] = [];
    const spans: string[] = [];
    for (const [position, parts] of fresh.entries()) {
      const { body = null, parts: sent = [] } = jobs[position] ?? {};
      const bodyId = body === null || parts.length === 0 ? '' : bodyIdAt(arrived);
      if (body !== null && bodyId !== '')
        bodyRows.push(bodyRow(await bodyOfNew(bodies, { body, sent, fresh: parts }), { bodyId, arrived, parts }));
      for (const { identity, rows } of parts) {
        const { traceId, traceRef, owner } = identity;
        const { team_id: teamId, key_hash: keyHash } = ownerColumns(owner);
        const prefix = [storable(traceId), traceRef, teamId, keyHash, arrived, bodyId];
        for (const row of rowTexts(rows)) spans.push(rowWith(prefix, row));
      }
    }
    server.assertFits(bodyRows);
    server.assertFits(spans);
    if (bodyRows.length > 0) await server.insert('export_body', BODY_COLUMNS, bodyRows);
    if (spans.length > 0) await server.insert('span', spanColumns, spans);
  }

  const spansOf = async (identity: TraceIdentity): Promise<readonly SpanHead[]> =>
    (await spansByRef(server, tables, [identity])).get(identity.traceRef) ?? [];

  /** The summary of a trace from all of its stored spans. */
  async function sumUp({ identity, before, fresh }: ChangedTrace): Promise<IngestedTrace> {
    const heads = await spansOf(identity);
    const labels = [
      before ?? NO_LABELS,
      await storedLabels(identity, heads, findSpan),
      ...fresh.map(({ tally }) => tally),
    ];
    const summary = { ...addTally(null, identity, tallyOf(heads)), ...labels.map(labelsIn).reduce(joinLabels) };
    // Another process may list the trace under the start of any of its spans.
    const starts = new Set(heads.map(startMsOf));
    starts.delete(startMsOf(summary));
    return { summary: { ...summary, redactedAt: before?.redactedAt ?? null }, formerStartsMs: [...starts] };
  }

  /**
   * The summary after a commit. `count` is the number of spans that are stored now. If it is unexpected, all spans are
   * read.
   */
  async function grow(trace: ChangedTrace, count: number): Promise<IngestedTrace> {
    const { identity, before, storedSpans: storedBefore, fresh } = trace;
    const isExpectedCount = storedBefore + sizeOf(fresh) === count;
    if (!countsAllStored(trace) || !isExpectedCount) return sumUp(trace);
    const summary = fresh.reduce<TraceSummary | null>((sum, { tally }) => addTally(sum, identity, tally), before);
    if (summary === null) return sumUp(trace);
    // Spans of several pieces may describe one call.
    const pieces = fresh.length + (before === null ? 0 : 1);
    const mayCountTwice = pieces > 1 && mayRepeatCalls(summary);
    const hasMoved = before !== null && startMsOf(before) !== startMsOf(summary);
    return {
      summary: mayCountTwice ? withCallsCountedOnce(summary, await spansOf(identity)) : summary,
      formerStartsMs: hasMoved ? [startMsOf(before)] : [],
    };
  }

  async function storeSummaries(grown: readonly IngestedTrace[], arrived: number): Promise<void> {
    const listed: string[] = [];
    const summaries: string[] = [];
    for (const { summary, formerStartsMs } of grown) {
      const row = encodeRow(tables.summary, summaryRowOf(summary));
      const version = summary.spanCount;
      listed.push(rowWith([arrived, version, NOT_DELETED], row));
      summaries.push(rowWith([arrived, version], row));
      for (const startMs of formerStartsMs) {
        const emptied = encodeRow(tables.summary, { ...emptySummaryRow(summary), start_ms: startMs });
        listed.push(rowWith([arrived, version, DELETED], emptied));
      }
    }
    // `trace_by_start` first: a row of `trace_summary` means that the commit is complete.
    await server.insert('trace_by_start', listedColumns, listed);
    await server.insert('trace_summary', summaryColumns, summaries);
  }

  return async (jobs) => {
    const { fresh, touched } = await lookUp(jobs);
    if (touched.length === 0) return jobs.map(() => []);
    const arrived = nextArrival();
    await storeSpans(jobs, fresh, arrived);
    const counts = await countSpans(touched.map(({ identity }) => storable(identity.traceId)));
    const grown: IngestedTrace[] = [];
    for (const trace of touched) grown.push(await grow(trace, counts.get(trace.identity.traceRef) ?? 0));
    await storeSummaries(grown, arrived);
    return changedByJob(jobs, new Map(grown.map(({ summary }) => [summary.traceRef, summary])));
  };
}
