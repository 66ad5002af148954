import { CompiledQuery, sql, type Kysely } from 'kysely';
import type { BodyReader } from '../../domain/traces/packed.ts';
import { addTally, type TraceIdentity, type TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/faults.ts';
import {
  columnNames,
  encodeRow,
  everyColumn,
  type Insertion,
  insertionInto,
  insertOrRollback,
  type RowTable,
  statementBatches,
  tableWithout,
  tuplesIn,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { spansOfRows } from '../../domain/traces/span-rows.ts';
import { createNotedRecount } from '../call-notes/noted-recount.ts';
import { createBlockWriter, type SpanBlock, blockOf } from '../span-blocks/blocks.ts';
import { bodyOfNew } from './bodies.ts';
import { createBodyWriter, type HeldBody } from './body-insertion.ts';
import { createCountReader } from './call-counts.ts';
import { changedByJob, type IngestJob, type IngestPart, newParts } from './ingest-jobs.ts';
import { type PiecedTrace, recountCalls } from './recount.ts';
import { createSpanWriter, spanGroup } from './span-insertion.ts';
import { createWholeRecount } from './whole-recount.ts';
import { emptySummaryRow, type NewSummaryRow, summaryOf, summaryRowOf, type SummaryRow } from './summary-rows.ts';
import { createSingleStatementStore } from '../span-blocks/single-statement.ts';

/** The tables of the trace store. */
export interface TraceTables {
  readonly summary: RowTable<'trace_summary'>;
  readonly span: RowTable<'span'>;
  readonly body: RowTable<'export_body'>;
  readonly blockTrace: RowTable<'sheet_trace'>;
}

interface IngestOptions {
  readonly bodies: BodyReader | undefined;
  /** See `StoresOptions`. */
  readonly spanBlocks: boolean;
  readonly notesFrom: number | null;
}

/** A stored trace and its number. */
interface KnownTrace {
  readonly traceNo: string;
  readonly summary: TraceSummary;
}

type Summaries = ReadonlyMap<string, TraceSummary>;
type NumberedRow = Pick<SummaryRow, 'trace_no' | 'trace_ref'>;

function byKey(left: TraceIdentity, right: TraceIdentity): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  return left.traceRef < right.traceRef ? -1 : 1;
}

/** Values of the traces of a commit, by trace ref. */
interface CommittedTraces {
  /** The traces that were stored before. */
  readonly known: ReadonlyMap<string, KnownTrace>;
  /** The summaries after this commit. */
  readonly grown: Summaries;
  readonly numbers: ReadonlyMap<string, string>;
}

/**
 * The traces of a commit whose calls may be counted twice: traces that were stored before, or that have several pieces
 * in this commit.
 */
function piecedTraces(fresh: readonly IngestPart[], committed: CommittedTraces): readonly PiecedTrace[] {
  const byTrace = Map.groupBy(fresh, ({ identity }) => identity.traceRef);
  return [...byTrace].flatMap(([ref, pieces]): readonly PiecedTrace[] => {
    const [known, after, number] = [committed.known.get(ref), committed.grown.get(ref), committed.numbers.get(ref)];
    const isOnePiece = known === undefined && pieces.length === 1;
    if (after === undefined || number === undefined || isOnePiece) return [];
    const before = known?.summary ?? null;
    const added = () => pieces.flatMap(({ rows }) => spansOfRows(after.traceId, rows).map(({ head }) => head));
    return [{ number, before, after, added }];
  });
}

/** Commits jobs together: bodies, new spans, and summaries, to which only the new spans are added. */
export function createTraceIngest(
  { orm, flavour, inFlight }: Database,
  tables: TraceTables,
  { bodies, spanBlocks, notesFrom }: IngestOptions,
): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  const newSummary = tableWithout(tables.summary, 'trace_no');
  const replaced = sql.join(
    columnNames(newSummary).map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
  );
  const numbered = sql`returning cast(trace_no as text) as trace_no, trace_ref`;
  const insert = {
    summary: insertionInto(flavour, newSummary, numbered, insertOrRollback(flavour)),
    summaryIfAbsent: insertionInto(flavour, newSummary, sql`on conflict (trace_id, trace_ref) do nothing`),
    summaryUpsert: insertionInto(
      flavour,
      newSummary,
      sql`on conflict (trace_id, trace_ref) do update set ${replaced} ${numbered}`,
    ),
  };
  const spans = createSpanWriter(flavour, tables.span);
  const blockWriter = createBlockWriter(flavour, tables);
  const storeBodies = createBodyWriter(flavour);
  const readCounts = createCountReader(flavour, tables.span);
  const whole = createWholeRecount(flavour, readCounts);
  const recount =
    notesFrom === null
      ? whole
      : createNotedRecount(flavour, { fromSpans: notesFrom, whole, readCounts, blocks: blockWriter });
  const singleStatement = flavour === 'sqlite' && spanBlocks ? createSingleStatementStore(newSummary) : null;
  let lockText: string | null = null;

  /** Inserts summaries, in several statements when they are many. Resolves to trace numbers by ref. */
  async function storeSummaries(
    db: Kysely<Tables>,
    into: Insertion,
    rows: readonly NewSummaryRow[],
  ): Promise<ReadonlyMap<string, string>> {
    const numbers = new Map<string, string>();
    for (const batch of statementBatches(rows.map((row) => encodeRow(newSummary, row))))
      for (const row of await into<NumberedRow>(db, batch)) numbers.set(row.trace_ref, row.trace_no);
    return numbers;
  }

  /**
   * The stored traces, locked until the commit. On SQLite the transaction has the write lock already. PostgreSQL locks
   * rows, so a new trace first gets an empty row. Rows are inserted and locked in the order of their keys, so that
   * processes cannot deadlock.
   */
  async function lockTraces(
    db: Kysely<Tables>,
    identities: readonly TraceIdentity[],
  ): Promise<ReadonlyMap<string, KnownTrace>> {
    if (flavour === 'postgresql') await storeSummaries(db, insert.summaryIfAbsent, identities.map(emptySummaryRow));
    // The text is built once. Its only parameter is the list of keys.
    lockText ??= db
      .selectFrom('trace_summary')
      .select(everyColumn(tables.summary))
      .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, []))
      .orderBy('trace_summary.trace_id')
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .compile().sql;
    const keys = identities.map(({ traceId, traceRef }) => [traceId, traceRef]);
    const { rows } = await db.executeQuery<SummaryRow>(CompiledQuery.raw(lockText, [JSON.stringify(keys)]));
    const stored = rows.filter((row) => row.span_count > 0);
    return new Map(stored.map((row) => [row.trace_ref, { traceNo: row.trace_no, summary: summaryOf(row) }]));
  }

  /**
   * Ids of the stored spans of known traces, by trace ref: those that the jobs contain, and possibly others. Other
   * traces have no stored spans.
   */
  async function storedSpans(
    db: Kysely<Tables>,
    jobs: readonly IngestJob[],
    known: ReadonlyMap<string, KnownTrace>,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const wanted = new Map<string, string[]>();
    for (const { parts } of jobs)
      for (const { identity, spanIds } of parts) {
        const trace = known.get(identity.traceRef);
        if (trace !== undefined) wanted.set(trace.traceNo, [...(wanted.get(trace.traceNo) ?? []), ...spanIds]);
      }
    if (wanted.size === 0) return new Map();
    const stored = await spans.stored(db, wanted);
    return new Map([...known].map(([traceRef, { traceNo }]) => [traceRef, stored.get(traceNo) ?? new Set<string>()]));
  }

  /** The bodies of exports with new spans, by index of the job. */
  async function bodiesToKeep(
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    blocks: ReadonlyMap<number, SpanBlock>,
  ): Promise<ReadonlyMap<number, HeldBody>> {
    const held = new Map<number, HeldBody>();
    for (const [jobIndex, parts] of fresh.entries()) {
      const job = jobs[jobIndex];
      const heldBy = parts.reduce((total, { spanIds }) => total + spanIds.length, 0);
      if (!job?.body || heldBy === 0) continue;
      const body = await bodyOfNew(bodies, { body: job.body, sent: job.parts, fresh: parts });
      held.set(jobIndex, { body, heldBy, heads: blocks.get(jobIndex)?.heads ?? null });
    }
    return held;
  }

  /** The blocks, by index of the job: the spans with which traces begin, if their payloads are in a body. */
  function blocksOfNew(
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    known: ReadonlyMap<string, KnownTrace>,
  ): ReadonlyMap<number, SpanBlock> {
    const knownRefs = new Set(known.keys());
    const blocks = new Map<number, SpanBlock>();
    if (!spanBlocks) return blocks;
    for (const [jobIndex, parts] of fresh.entries()) {
      const partsOfNewTraces = parts.filter(({ identity }) => !knownRefs.has(identity.traceRef));
      for (const { identity } of partsOfNewTraces) knownRefs.add(identity.traceRef);
      const block = jobs[jobIndex]?.body ? blockOf(partsOfNewTraces) : null;
      if (block !== null) blocks.set(jobIndex, block);
    }
    return blocks;
  }

  /** Stores the new spans of each job. `known` contains the traces that were stored before. */
  async function storeParts(
    db: Kysely<Tables>,
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    known: ReadonlyMap<string, KnownTrace>,
    intoSummaries: Insertion,
  ): Promise<Summaries> {
    const grown = new Map<string, TraceSummary>();
    for (const { identity, tally } of fresh.flat()) {
      const before = grown.get(identity.traceRef) ?? known.get(identity.traceRef)?.summary ?? null;
      grown.set(identity.traceRef, addTally(before, identity, tally));
    }
    const numbers = await storeSummaries(db, intoSummaries, [...grown.values()].map(summaryRowOf));
    // Every part has a trace number, and every block a body number. The JSON `null` would make the insert fail.
    const numberOf = ({ identity }: IngestPart): string => numbers.get(identity.traceRef) ?? 'null';
    const blocks = blocksOfNew(jobs, fresh, known);
    const held = await bodiesToKeep(jobs, fresh, blocks);
    const bodyNos = await storeBodies(db, [...held.values()]);
    const bodyNoOfJob = new Map([...held.keys()].map((jobIndex, at) => [jobIndex, bodyNos[at] ?? null]));
    const inBlocks = [...blocks].flatMap(([jobIndex, { places }]) => {
      const bodyNo = bodyNoOfJob.get(jobIndex) ?? 'null';
      return [...places].map(([part, place]) => ({ traceNo: numberOf(part), bodyNo, ...place }));
    });
    await blockWriter.insert(db, inBlocks);
    const groups = fresh.flatMap((parts, jobIndex) =>
      parts
        .filter((part) => blocks.get(jobIndex)?.places.has(part) !== true)
        .map((part) => spanGroup(numberOf(part), bodyNoOfJob.get(jobIndex) ?? null, part.rows)),
    );
    await spans.insert(db, groups);
    const pieced = piecedTraces(fresh.flat(), { known, grown, numbers });
    for (const summary of await recountCalls(db, recount, pieced)) grown.set(summary.traceRef, summary);
    return grown;
  }

  /** Stores spans of new traces. Throws when one of the traces is stored already. */
  const storeNewTraces = (db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> =>
    storeParts(db, jobs, newParts(jobs, new Map()), new Map(), insert.summary);

  /** Stores the spans that are not stored yet, of new and of stored traces. */
  async function storeNewSpans(db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> {
    const identities = new Map(
      jobs.flatMap(({ parts }) => parts.map(({ identity }) => [identity.traceRef, identity] as const)),
    );
    const known = await lockTraces(db, [...identities.values()].toSorted(byKey));
    const fresh = newParts(jobs, await storedSpans(db, jobs, known));
    // On PostgreSQL `lockTraces` has inserted a row for each trace. On SQLite the write lock excludes other inserts.
    const into = flavour === 'sqlite' && known.size === 0 ? insert.summary : insert.summaryUpsert;
    return storeParts(db, jobs, fresh, known, into);
  }

  async function commit(jobs: readonly IngestJob[]): Promise<Summaries> {
    const exports = singleStatement?.exportsFrom(jobs) ?? null;
    if (singleStatement !== null && exports !== null) {
      try {
        return await singleStatement.store(orm.em.fork().getKysely<Tables>(), exports);
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
    if (jobs.every(({ startsNewTraces }) => startsNewTraces)) {
      try {
        return await transaction(orm, (db) => storeNewTraces(db, jobs));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
    return transaction(orm, (db) => storeNewSpans(db, jobs));
  }

  return async (jobs) => {
    const grown = await inFlight.write(() => commit(jobs));
    singleStatement?.remember(grown.keys());
    return changedByJob(jobs, grown);
  };
}
