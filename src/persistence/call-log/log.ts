import { sql } from 'kysely';
import { Unavailable } from '../../domain/errors.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { withDomainErrors } from '../database/faults.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import type { createKeyTotalsAdder } from '../spend/insertion.ts';
import { createFaultyUnfolding, type FaultyUnfoldingParts } from './faulty-segments.ts';
import { insertSegment, type LoggedCall, type Segment, segmentsOf } from './segments.ts';
import type { CallUnfolding } from './unfold.ts';
import { costsOf, deleteSegments, lockWaiting, windowsOf } from './waiting-segments.ts';

/** Append-only log of committed calls. Segments are unfolded into rows later. */
export interface CallLog {
  /** Stores groups of calls in one commit, all or nothing. No segment has calls of two groups. */
  write(groups: readonly (readonly LoggedCall[])[]): Promise<void>;
  /** Number of calls not unfolded, as far as this process knows. */
  backlog(): number;
  /**
   * Unfolds the oldest segments. A client may have sent spans of a call's trace before the call is unfolded. Resolves
   * to the summaries of such traces since the last step. Throws Unavailable when the database does not answer.
   */
  step(): Promise<readonly TraceSummary[]>;
  /**
   * Resolves when every segment that any process wrote before is unfolded, or set aside because its calls cannot be
   * stored.
   */
  readable(): Promise<void>;
}

/** Maximum number of segments of one transaction. Other writes run between the transactions. */
const SEGMENTS_PER_STEP = 4;
/** Maximum number of summaries of traces with a client's spans that are kept until the next step. */
const MOST_MERGED = 1_000;

/** A call of the log begins a trace. Further spans of this trace come from a client. */
const hasClientSpans = ({ spanCount }: TraceSummary): boolean => spanCount > 1;

/**
 * Knowledge that this process left no segment waiting. A read that found none proves it, unless a write of this process
 * ran during the read.
 */
function createEmptiness() {
  let writesStarted = 0;
  let writesRunning = 0;
  /** Number of started writes at the time of the proof; null without a proof. */
  let provenAt: number | null = null;
  return {
    /** Marks a write as started; the returned function marks it as ended. */
    write(): () => void {
      writesStarted += 1;
      writesRunning += 1;
      return () => {
        writesRunning -= 1;
      };
    },
    /** Begins a read. The result is null when the read cannot prove anything, because a write runs. */
    begin: (): number | null => (writesRunning === 0 ? writesStarted : null),
    prove(proof: number | null): void {
      provenAt = proof;
    },
    isProven: (): boolean => provenAt === writesStarted,
  };
}

/**
 * A segment is unfolded once: one transaction writes its rows and deletes it. The transaction fails if a row exists
 * already: after a repeated commit, or in a trace to which a client sent spans first. Then `faulty-segments.ts` unfolds
 * the segment through the spend and trace stores.
 */
export function createCallLog(
  database: Database,
  {
    unfolding,
    addToTotals,
    addToWindows,
    isExclusive,
    ...faulty
  }: FaultyUnfoldingParts & {
    /** See `StoresOptions.isExclusive`. */
    readonly isExclusive: boolean;
    readonly unfolding: CallUnfolding;
    readonly addToTotals: ReturnType<typeof createKeyTotalsAdder>;
  },
): CallLog {
  const { orm, flavour, inFlight } = database;
  let backlog = 0;
  const emptiness = createEmptiness();
  /** Summaries of traces to which a client sent spans first, since the last step. */
  let merged: readonly TraceSummary[] = [];
  let lastStep: Promise<unknown> = Promise.resolve();

  const unfoldFaultySegment = createFaultyUnfolding(database, { unfolding, addToWindows, ...faulty });

  /** Unfolds at most `most` segments. Resolves to the body number of the last of them; null when none is left. */
  const unfoldSegments = (most: number): Promise<number | null> =>
    transaction(orm, async (db) => {
      const segments = await lockWaiting(db, flavour, { most });
      const lastSegment = segments.at(-1);
      if (lastSegment === undefined) return null;
      await unfolding.unfold(db, segments);
      await addToTotals(
        db,
        segments.flatMap(({ totals }) => costsOf(totals)),
      );
      await addToWindows(
        db,
        segments.flatMap(({ totals }) => windowsOf(totals)),
      );
      await deleteSegments(db, segments);
      return Number(lastSegment.body_no);
    });

  async function unfoldOldest(): Promise<number | null> {
    // One faulty segment fails the transaction of all. Therefore the oldest segment is retried alone.
    for (const most of [SEGMENTS_PER_STEP, 1])
      try {
        return await withDomainErrors(() => unfoldSegments(most));
      } catch (error) {
        if (error instanceof Unavailable) throw error;
      }
    const { bodyNo, summaries } = await unfoldFaultySegment();
    merged = [...merged, ...summaries.filter(hasClientSpans)].slice(-MOST_MERGED);
    return bodyNo;
  }

  async function countBacklog(): Promise<void> {
    const { rows } = await sql<{ calls: number }>`
      select cast(coalesce(sum(calls), 0) as double precision) as calls from call_segment where set_aside = 0
    `.execute(orm.em.fork().getKysely<Tables>());
    backlog = rows[0]?.calls ?? 0;
  }

  /**
   * Runs a step after the earlier steps of this process. Resolves to the body number of the last segment of this step,
   * or null when no segment is left.
   */
  function step(): Promise<number | null> {
    const current = lastStep.then(() =>
      inFlight.write(async () => {
        const bodyNo = await unfoldOldest();
        await countBacklog();
        return bodyNo;
      }),
    );
    lastStep = current.catch(() => {});
    return current;
  }

  /** Body number of the last segment that waits; null without one. */
  async function lastWritten(): Promise<number | null> {
    const proof = emptiness.begin();
    const row = await inFlight.run(() =>
      orm.em
        .fork()
        .getKysely<Tables>({ type: 'read' })
        .selectFrom('call_segment')
        .select(sql<number | null>`cast(max(body_no) as double precision)`.as('last'))
        .where('set_aside', '=', 0)
        .executeTakeFirst(),
    );
    const last = row?.last ?? null;
    if (last === null) emptiness.prove(proof);
    return last;
  }

  return {
    async write(groups) {
      const written = emptiness.write();
      try {
        // Segments are built inside `inFlight.write`, so that closing the store also waits for them.
        await inFlight.write(async () => {
          const segments: Segment[] = [];
          for (const calls of groups) segments.push(...(await segmentsOf(calls)));
          await transaction(orm, async (db) => {
            for (const segment of segments) await insertSegment(db, flavour, segment);
          });
        });
      } finally {
        written();
      }
      for (const { length } of groups) backlog += length;
    },
    backlog: () => backlog,
    async step() {
      await step();
      const summaries = merged;
      merged = [];
      return summaries;
    },
    async readable() {
      if (isExclusive && flavour !== 'postgresql' && emptiness.isProven()) return;
      const written = await lastWritten();
      if (written === null) return;
      let unfoldedThrough: number | null = 0;
      while (unfoldedThrough !== null && unfoldedThrough < written) unfoldedThrough = await step();
    },
  };
}
