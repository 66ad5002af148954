import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { withDomainErrors } from '../database/faults.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import type { StoresOptions } from '../options.ts';
import type { createWindowTotalsAdder } from '../spend/budget-windows.ts';
import type { CallUnfolding } from './unfold.ts';
import { deleteSegments, lockWaiting, type WaitingSegment, windowsOf } from './waiting-segments.ts';

const inflate = promisify(zstdDecompress);

/** What unfolding a faulty segment needs. */
export interface FaultyUnfoldingParts {
  readonly unfolding: Pick<CallUnfolding, 'read'>;
  readonly addToWindows: ReturnType<typeof createWindowTotalsAdder>;
  /** Stores the spend rows that are new, with their totals. Resolves to the number of new rows. */
  readonly appendSpend: (db: Kysely<Tables>, calls: readonly CallRecord[]) => Promise<number>;
  /** Stores the spans of calls in the trace store. Idempotent. */
  readonly ingest: (calls: readonly CallRecord[]) => Promise<readonly TraceSummary[]>;
  readonly log: StoresOptions['log'];
}

interface UnfoldedSegment {
  /** Body number of the segment; null when no segment is left. */
  readonly bodyNo: number | null;
  /** Summaries of the traces of the segment's calls. */
  readonly summaries: readonly TraceSummary[];
}

/**
 * Returns a function that unfolds the oldest segment through the spend and trace stores. Calls that a store refuses are
 * found by halving, and left out. Spans are stored first, which is idempotent. Then one transaction stores the spend
 * rows that are new, adds all totals and deletes the segment. So no cost is lost or repeated when the process is
 * killed, or when another process unfolds the same segment. A segment is set aside when it cannot be read, or none of
 * its calls can be stored. The fault may be in the store, so such a segment is not deleted.
 */
export function createFaultyUnfolding(
  { orm, flavour }: Database,
  { unfolding, addToWindows, appendSpend, ingest, log }: FaultyUnfoldingParts,
): () => Promise<UnfoldedSegment> {
  /**
   * Runs work on calls. After a refusal it runs the work on each half separately. Resolves to the results, and to the
   * calls that are refused.
   */
  async function inHalves<Result>(
    calls: readonly CallRecord[],
    work: (calls: readonly CallRecord[]) => Promise<Result>,
  ): Promise<{ readonly results: readonly Result[]; readonly refused: readonly CallRecord[] }> {
    try {
      return { results: [await withDomainErrors(() => work(calls))], refused: [] };
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (calls.length > 1) {
        const half = calls.length >> 1;
        const left = await inHalves(calls.slice(0, half), work);
        const right = await inHalves(calls.slice(half), work);
        return { results: [...left.results, ...right.results], refused: [...left.refused, ...right.refused] };
      }
      for (const { spend } of calls)
        log.warn(
          { err: error, callId: spend.callId, traceId: spend.traceId },
          'A call of the log cannot be stored: it is left out.',
        );
      return { results: [], refused: calls };
    }
  }

  /** As `appendSpend`. A refused statement fails the whole transaction on PostgreSQL; hence the savepoint. */
  async function appendOrUndo(db: Kysely<Tables>, calls: readonly CallRecord[]): Promise<number> {
    await sql`savepoint spend_of_calls`.execute(db);
    try {
      const added = await appendSpend(db, calls);
      await sql`release savepoint spend_of_calls`.execute(db);
      return added;
    } catch (error) {
      await sql`rollback to savepoint spend_of_calls`.execute(db);
      throw error;
    }
  }

  /** Whether no other process has unfolded the segment or set it aside. */
  const isWaiting = async (db: Kysely<Tables>, segment: WaitingSegment): Promise<boolean> =>
    (await lockWaiting(db, flavour, { bodyNo: segment.body_no })).length > 0;

  async function setAside(db: Kysely<Tables>, segment: WaitingSegment): Promise<void> {
    await sql`update call_segment set set_aside = 1 where body_no = ${Number(segment.body_no)}`.execute(db);
  }

  async function setUnreadableAside(segment: WaitingSegment, err: unknown): Promise<void> {
    const isSetAside = await transaction(orm, async (db) => {
      if (!(await isWaiting(db, segment))) return false;
      await setAside(db, segment);
      return true;
    });
    if (isSetAside)
      log.warn({ err, segment: segment.body_no }, 'A segment of the call log was set aside: it cannot be read.');
  }

  /**
   * Stores the spend of a segment's calls and deletes the segment. If `allSpansRefused`, or if all spend rows are
   * refused, it sets the segment aside instead.
   */
  async function settle(
    segment: WaitingSegment,
    calls: readonly CallRecord[],
    allSpansRefused: boolean,
  ): Promise<void> {
    const isSetAside = await transaction(orm, async (db) => {
      if (!(await isWaiting(db, segment))) return false;
      const { results, refused } = allSpansRefused
        ? { results: [], refused: calls }
        : await inHalves(calls, (some) => appendOrUndo(db, some));
      if (refused.length === calls.length) {
        await setAside(db, segment);
        return true;
      }
      // Spend rows do not name their budget windows, but the calls of a segment that have windows are all new or all
      // stored.
      if (results.some((added) => added > 0)) await addToWindows(db, windowsOf(segment.totals));
      await deleteSegments(db, [segment]);
      // The payloads are in the span rows now.
      await sql`delete from export_body where body_no = ${Number(segment.body_no)}`.execute(db);
      return false;
    });
    if (isSetAside)
      log.warn(
        { segment: segment.body_no, calls: calls.length },
        'A segment of the call log was set aside: none of its calls can be stored.',
      );
  }

  return async () => {
    const db = orm.em.fork().getKysely<Tables>();
    const [segment] = await db
      .selectFrom('call_segment')
      .innerJoin('export_body', 'export_body.body_no', 'call_segment.body_no')
      .select([sql<string>`cast(call_segment.body_no as text)`.as('body_no'), 'calls', 'totals', 'export_body.bytes'])
      .where('set_aside', '=', 0)
      .orderBy('call_segment.body_no')
      .limit(1)
      .$castTo<WaitingSegment & { readonly bytes: Uint8Array }>()
      .execute();
    if (segment === undefined) return { bodyNo: null, summaries: [] };
    const bodyNo = Number(segment.body_no);
    let calls: readonly CallRecord[];
    try {
      calls = await withDomainErrors(async () => unfolding.read(db, segment.body_no, await inflate(segment.bytes)));
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      await setUnreadableAside(segment, error);
      return { bodyNo, summaries: [] };
    }
    const spans = await inHalves(calls, ingest);
    const allSpansRefused = spans.refused.length === calls.length;
    await settle(segment, calls, allSpansRefused);
    return { bodyNo, summaries: spans.results.flat() };
  };
}
