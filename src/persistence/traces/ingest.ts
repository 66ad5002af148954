import { CompiledQuery, sql, type Kysely } from 'kysely';
import type { BodyReader, ExportBody } from '../../domain/traces/packed.ts';
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
  statements,
  tableWithout,
  tuplesIn,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { mayTellAgain } from '../../domain/traces/recount.ts';
import { spansOfRows } from '../../domain/traces/span-rows.ts';
import { createBodyWriter, type HeldBody } from './body-insertion.ts';
import { createCallNotes, IS_NOTED } from '../calls/notes.ts';
import { type IngestJob, type IngestPart, newParts } from './ingest-jobs.ts';
import { type PiecedTrace, recountCalls } from './recount.ts';
import { createSpanWriter, spanGroup } from './span-insertion.ts';
import { createSheetWriter, type Sheet, sheetOf } from './span-blocks.ts';
import { emptySummaryRow, type NewSummaryRow, summaryOf, summaryRowOf, type SummaryRow } from './summary-rows.ts';
import { createWholeExports } from './whole-exports.ts';

/** The tables of the trace store, as rows are written to and read from them. */
export interface TraceTables {
  readonly summary: RowTable<'trace_summary'>;
  readonly span: RowTable<'span'>;
  readonly body: RowTable<'export_body'>;
  readonly sheetTrace: RowTable<'sheet_trace'>;
}

/** A trace that was there before, its number, and whether its calls are noted. */
interface KnownTrace {
  readonly traceNo: string;
  readonly summary: TraceSummary;
  readonly noted: boolean;
}

type Summaries = ReadonlyMap<string, TraceSummary>;
type NumberedRow = Pick<SummaryRow, 'trace_no' | 'trace_ref'>;
/** `noted` where the engine tells it at once. */
type LockedRow = SummaryRow & { readonly noted?: number };

function byKey(left: TraceIdentity, right: TraceIdentity): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  return left.traceRef < right.traceRef ? -1 : 1;
}

/** Of what is stored, the traces that were there before or come in several pieces now. */
function piecedTraces(
  fresh: readonly IngestPart[],
  stored: {
    readonly known: ReadonlyMap<string, KnownTrace>;
    readonly grown: Summaries;
    readonly numbers: ReadonlyMap<string, string>;
  },
): readonly PiecedTrace[] {
  const byTrace = Map.groupBy(fresh, ({ identity }) => identity.traceRef);
  return [...byTrace].flatMap(([ref, pieces]): readonly PiecedTrace[] => {
    const [there, after, number] = [stored.known.get(ref), stored.grown.get(ref), stored.numbers.get(ref)];
    if (after === undefined || number === undefined || (there === undefined && pieces.length === 1)) return [];
    const { summary: before = null, noted = false } = there ?? {};
    if (!noted && !mayTellAgain(after)) return [];
    const added = pieces.flatMap(({ rows }) => spansOfRows(after.traceId, rows).map(({ head }) => head));
    return [{ number, before, noted, after, added }];
  });
}

/**
 * Commits jobs together: the summaries grown by exactly the spans that are new, the bodies these came in, the spans.
 */
export function createTraceIngest(
  { orm, flavour, inFlight }: Database,
  tables: TraceTables,
  bodies: BodyReader | undefined,
): (jobs: readonly IngestJob[]) => Promise<readonly (readonly TraceSummary[])[]> {
  const newSummary = tableWithout(tables.summary, 'trace_no');
  const replaced = sql.join(
    columnNames(newSummary).map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
  );
  const numbered = sql`returning cast(trace_no as text) as trace_no, trace_ref`;
  const insert = {
    summary: insertionInto(flavour, newSummary, numbered, insertOrRollback(flavour)),
    summaryIfAbsent: insertionInto(flavour, newSummary, sql`on conflict (trace_id, trace_ref) do nothing`),
    summaryInPlace: insertionInto(
      flavour,
      newSummary,
      sql`on conflict (trace_id, trace_ref) do update set ${replaced} ${numbered}`,
    ),
  };
  const spans = createSpanWriter(flavour, tables.span);
  const sheetWriter = createSheetWriter(flavour, tables);
  const storeBodies = createBodyWriter(flavour);
  const notesOf = createCallNotes(flavour);
  const whole = flavour === 'sqlite' ? createWholeExports(newSummary) : null;
  let lockText: string | null = null;

  /** Runs an insert in as many statements as the rows need; gives the numbers of the traces by their refs. */
  async function storeSummaries(
    db: Kysely<Tables>,
    into: Insertion,
    rows: readonly NewSummaryRow[],
  ): Promise<ReadonlyMap<string, string>> {
    const numbers = new Map<string, string>();
    for (const some of statements(rows.map((row) => encodeRow(newSummary, row))))
      for (const row of await into<NumberedRow>(db, some)) numbers.set(row.trace_ref, row.trace_no);
    return numbers;
  }

  /**
   * The traces that are there, so that nobody else can change them until the commit. SQLite's write lock is ours
   * already. PostgreSQL locks rows, so a trace that is new needs a row first; rows are made and locked in the order
   * of their keys, so that two processes cannot wait for each other.
   */
  async function lockTraces(
    db: Kysely<Tables>,
    identities: readonly TraceIdentity[],
  ): Promise<ReadonlyMap<string, KnownTrace>> {
    if (flavour === 'postgresql') await storeSummaries(db, insert.summaryIfAbsent, identities.map(emptySummaryRow));
    // Made once, as an insertion's is: its only parameter is the list of keys.
    lockText ??= db
      .selectFrom('trace_summary')
      .select(everyColumn(tables.summary))
      .$if(flavour === 'sqlite', (query) => query.select(sql.raw(IS_NOTED).as('noted')))
      .where(sql`(trace_id, trace_ref)`, 'in', tuplesIn(flavour, 2, []))
      .orderBy('trace_summary.trace_id')
      .orderBy('trace_summary.trace_ref')
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .compile().sql;
    const keys = identities.map(({ traceId, traceRef }) => [traceId, traceRef]);
    const { rows } = await db.executeQuery<LockedRow>(CompiledQuery.raw(lockText, [JSON.stringify(keys)]));
    const there = rows.filter((row) => row.span_count > 0);
    // A row that had to be waited for is as it was left, but what is asked beside it as it was before the wait.
    const noted =
      flavour === 'postgresql' && there.length > 0 ? await notesOf(db).begun(there.map((row) => row.trace_no)) : null;
    return new Map(
      there.map((row) => {
        const isNoted = noted === null ? Boolean(row.noted) : noted.has(row.trace_no);
        return [row.trace_ref, { traceNo: row.trace_no, summary: summaryOf(row), noted: isNoted }];
      }),
    );
  }

  /** The spans of these jobs that are stored, by trace ref. Only a trace that was there before can have some. */
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

  /** A body without traces it brings nothing new of: who removes one of those would not find it here. */
  async function onlyNew({ parts }: IngestJob, body: ExportBody, fresh: readonly IngestPart[]): Promise<ExportBody> {
    const held = new Set(fresh.map(({ identity }) => identity.traceId));
    const known = parts.flatMap(({ identity: { traceId } }) => (held.has(traceId) ? [] : [traceId]));
    if (known.length === 0) return body;
    if (bodies === undefined) throw new Error('The store was opened without a reader of bodies.');
    return bodies.without(body, known);
  }

  /** The bodies of exports that brought something new, by the places of their jobs. */
  async function bodiesToKeep(
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    sheets: ReadonlyMap<number, Sheet>,
  ): Promise<ReadonlyMap<number, HeldBody>> {
    const held = new Map<number, HeldBody>();
    for (const [place, parts] of fresh.entries()) {
      const job = jobs[place];
      const heldBy = parts.reduce((total, { spanIds }) => total + spanIds.length, 0);
      if (!job?.body || heldBy === 0) continue;
      const body = await onlyNew(job, job.body, parts);
      held.set(place, { body, heldBy, heads: sheets.get(place)?.heads ?? null });
    }
    return held;
  }

  /** The sheets, by the places of their jobs: what comes first of a trace, where a body has its payloads. */
  function sheetsOfNew(
    jobs: readonly IngestJob[],
    fresh: readonly (readonly IngestPart[])[],
    known: ReadonlyMap<string, KnownTrace>,
  ): ReadonlyMap<number, Sheet> {
    const begun = new Set(known.keys());
    const sheets = new Map<number, Sheet>();
    for (const [place, parts] of fresh.entries()) {
      const first = parts.filter(({ identity }) => !begun.has(identity.traceRef));
      for (const { identity } of first) begun.add(identity.traceRef);
      const sheet = jobs[place]?.body ? sheetOf(first) : null;
      if (sheet !== null) sheets.set(place, sheet);
    }
    return sheets;
  }

  /** Stores what is new of each job. `known` are the traces that were there before. */
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
    const numberOf = ({ identity }: IngestPart): string => numbers.get(identity.traceRef) ?? 'null';
    const sheets = sheetsOfNew(jobs, fresh, known);
    const held = await bodiesToKeep(jobs, fresh, sheets);
    const bodyNos = await storeBodies(db, [...held.values()]);
    const bodyNoAt = new Map([...held.keys()].map((place, at) => [place, bodyNos[at] ?? null]));
    const inSheets = [...sheets].flatMap(([place, { places }]) => {
      const bodyNo = bodyNoAt.get(place) ?? 'null';
      return [...places].map(([part, at]) => ({ traceNo: numberOf(part), bodyNo, ...at }));
    });
    await sheetWriter.insert(db, inSheets);
    const groups = fresh.flatMap((parts, place) =>
      parts
        .filter((part) => sheets.get(place)?.places.has(part) !== true)
        .map((part) => spanGroup(numberOf(part), bodyNoAt.get(place) ?? null, part.rows)),
    );
    await spans.insert(db, groups);
    const pieced = piecedTraces(fresh.flat(), { known, grown, numbers });
    for (const summary of await recountCalls(db, { notes: notesOf(db), sheets: sheetWriter }, pieced))
      grown.set(summary.traceRef, summary);
    return grown;
  }

  /** Spans nobody can have stored before. Fails for all when one of their traces is there all the same. */
  const storeFresh = (db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> =>
    storeParts(db, jobs, newParts(jobs, new Map()), new Map(), insert.summary);

  async function storeNew(db: Kysely<Tables>, jobs: readonly IngestJob[]): Promise<Summaries> {
    const identities = new Map(
      jobs.flatMap(({ parts }) => parts.map(({ identity }) => [identity.traceRef, identity] as const)),
    );
    const known = await lockTraces(db, [...identities.values()].toSorted(byKey));
    const fresh = newParts(jobs, await storedSpans(db, jobs, known));
    // PostgreSQL has made a row for each by now. SQLite's lock has kept others from making one.
    const into = flavour === 'sqlite' && known.size === 0 ? insert.summary : insert.summaryInPlace;
    return storeParts(db, jobs, fresh, known, into);
  }

  async function commit(jobs: readonly IngestJob[]): Promise<Summaries> {
    const exports = whole?.among(jobs) ?? null;
    if (whole !== null && exports !== null) {
      try {
        return await whole.store(orm.em.fork().getKysely<Tables>(), exports);
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
    if (jobs.every(({ begins }) => begins)) {
      try {
        return await transaction(orm, (db) => storeFresh(db, jobs));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
    return transaction(orm, (db) => storeNew(db, jobs));
  }

  return async (jobs) => {
    const grown = await inFlight.write(() => commit(jobs));
    whole?.remember(grown.keys());
    return jobs.map(({ parts }) => {
      const refs = new Set(parts.map(({ identity }) => identity.traceRef));
      return [...refs].flatMap((ref) => grown.get(ref) ?? []);
    });
  };
}
