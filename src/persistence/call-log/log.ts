import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { Usd } from '../../domain/money.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Database } from '../database/database.ts';
import { withDomainErrors } from '../database/faults.ts';
import type { StoresOptions } from '../options.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { insertSegment, type LoggedCall, segmentsOf } from './segments.ts';
import type { CallUnfolding, StoredSegment } from './unfold.ts';
import type { createWindowTotalsAdder } from '../spend/budget-windows.ts';
import type { createKeyTotalsAdder } from '../spend/store.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/** Append-only log of committed calls. Segments are unfolded into rows later. */
export interface CallLog {
  /** Stores calls in one commit, all or nothing. */
  write(calls: readonly LoggedCall[]): Promise<void>;
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
/** Lock timeout while another process unfolds, in ms. */
const LOCK_TIMEOUT_MS = 60_000;
/** Maximum number of summaries of traces with a client's spans that are kept until the next step. */
const MOST_MERGED = 1_000;
const inflate = promisify(zstdDecompress);

interface WaitingSegment extends StoredSegment {
  readonly totals: string;
}

/**
 * A segment is unfolded once: one transaction writes its rows and deletes it. When that fails, its calls go through the
 * spend and trace stores, which are idempotent. The transaction fails if a row exists already: after a repeated commit,
 * or in a trace to which a client sent spans first.
 */
export function createCallLog(
  { orm, flavour, inFlight }: Database,
  {
    unfolding,
    addToTotals,
    addToWindows,
    isStored,
    storeWithoutLog,
    log,
  }: {
    readonly unfolding: CallUnfolding;
    readonly addToTotals: ReturnType<typeof createKeyTotalsAdder>;
    readonly addToWindows: ReturnType<typeof createWindowTotalsAdder>;
    /** Whether all of these calls are stored already, as after a repeated commit. */
    readonly isStored: (calls: readonly CallRecord[]) => Promise<boolean>;
    /** Stores calls through the spend and trace stores. */
    readonly storeWithoutLog: (calls: readonly CallRecord[]) => Promise<readonly TraceSummary[]>;
    readonly log: StoresOptions['log'];
  },
): CallLog {
  let backlog = 0;
  /** Summaries of traces to which a client sent spans first, since the last step. */
  let merged: readonly TraceSummary[] = [];
  let lastStep: Promise<unknown> = Promise.resolve();

  /** Selects the oldest segments, locked: PostgreSQL by row, SQLite by its single writer. */
  const selectOldest = (db: Kysely<Tables>, most: number): Promise<readonly WaitingSegment[]> =>
    db
      .selectFrom('call_segment')
      .select([sql<string>`cast(body_no as text)`.as('body_no'), 'calls', 'totals'])
      .where('set_aside', '=', 0)
      .orderBy('call_segment.body_no')
      .limit(most)
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .execute();

  const remove = (db: Kysely<Tables>, segments: readonly WaitingSegment[]): Promise<unknown> =>
    sql`delete from call_segment where body_no in (${sql.join(segments.map(({ body_no: number }) => sql.lit(Number(number))))})`.execute(
      db,
    );

  /** Unfolds at most `most` segments. Resolves to the body number of the last one; null when none is left. */
  const unfoldSegments = (most: number): Promise<number | null> =>
    transaction(orm, async (db) => {
      // Another process may hold the locks while it unfolds.
      if (flavour === 'postgresql') await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(db);
      const segments = await selectOldest(db, most);
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
      await remove(db, segments);
      return Number(lastSegment.body_no);
    });

  /** Stores calls. After a refusal it stores each half separately. Resolves to the calls that the stores refuse. */
  async function storeInHalves(calls: readonly CallRecord[]): Promise<readonly CallRecord[]> {
    try {
      const mergedNow = (await storeWithoutLog(calls)).filter(({ spanCount }) => spanCount > 1);
      merged = [...merged, ...mergedNow].slice(-MOST_MERGED);
      return [];
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (calls.length > 1) {
        const half = calls.length >> 1;
        return [...(await storeInHalves(calls.slice(0, half))), ...(await storeInHalves(calls.slice(half)))];
      }
      for (const { spend } of calls)
        log.warn(
          { err: error, callId: spend.callId, traceId: spend.traceId },
          'A call of the log cannot be stored: it is left out.',
        );
      return calls;
    }
  }

  /**
   * Stores the calls of a segment through the spend and trace stores. `repeated`: all of them were stored before.
   * `new`: at least one was not, so the caller adds the window totals of the segment, because the stored calls do not
   * name their windows. Null: the segment cannot be read, or none of its calls can be stored.
   */
  async function storeCallsOfSegment(bodyNo: string, bytes: Uint8Array): Promise<'new' | 'repeated' | null> {
    try {
      const db = orm.em.fork().getKysely<Tables>();
      const calls = await withDomainErrors(async () => unfolding.read(db, bodyNo, await inflate(bytes)));
      const state = (await isStored(calls)) ? 'repeated' : 'new';
      const refused = await storeInHalves(calls);
      if (refused.length < calls.length) return state;
      log.warn(
        { segment: bodyNo, calls: calls.length },
        'A segment of the call log was set aside: none of its calls can be stored.',
      );
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      log.warn({ err: error, segment: bodyNo }, 'A segment of the call log was set aside: it cannot be read.');
    }
    return null;
  }

  /** Unfolds the oldest segment through the spend and trace stores. Resolves as `unfoldSegments`. */
  async function unfoldThroughStores(): Promise<number | null> {
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
    if (segment === undefined) return null;
    const number = Number(segment.body_no);
    const unfolded = await storeCallsOfSegment(segment.body_no, segment.bytes);
    if (unfolded === null) {
      // The segment stays: a store that refuses every call may itself be faulty.
      await sql`update call_segment set set_aside = 1 where body_no = ${number}`.execute(db);
      return number;
    }
    await transaction(orm, async (tx) => {
      if (unfolded === 'new') await addToWindows(tx, windowsOf(segment.totals));
      await remove(tx, [segment]);
      // The payloads are in the span rows now.
      await sql`delete from export_body where body_no = ${number}`.execute(tx);
    });
    return number;
  }

  async function unfoldOldest(): Promise<number | null> {
    // One faulty segment fails a whole transaction. Therefore the oldest segment is retried alone.
    for (const most of [SEGMENTS_PER_STEP, 1])
      try {
        return await withDomainErrors(() => unfoldSegments(most));
      } catch (error) {
        if (error instanceof Unavailable) throw error;
      }
    return unfoldThroughStores();
  }

  async function countBacklog(): Promise<void> {
    const { rows } = await sql<{ calls: number }>`
      select cast(coalesce(sum(calls), 0) as double precision) as calls from call_segment where set_aside = 0
    `.execute(orm.em.fork().getKysely<Tables>());
    backlog = rows[0]?.calls ?? 0;
  }

  /** Runs a step after the previous ones of this process. Resolves to the body number of its last segment, or null. */
  function step(): Promise<number | null> {
    const current = lastStep.then(() =>
      inFlight.write(async () => {
        const number = await unfoldOldest();
        await countBacklog();
        return number;
      }),
    );
    lastStep = current.catch(() => {});
    return current;
  }

  async function lastWritten(): Promise<number | null> {
    const row = await inFlight.run(() =>
      orm.em
        .fork()
        .getKysely<Tables>({ type: 'read' })
        .selectFrom('call_segment')
        .select(sql<number | null>`cast(max(body_no) as double precision)`.as('last'))
        .where('set_aside', '=', 0)
        .executeTakeFirst(),
    );
    return row?.last ?? null;
  }

  return {
    async write(calls) {
      // Segments are built inside the write, so that a close also waits for them.
      await inFlight.write(async () => {
        const segments = await segmentsOf(calls);
        await transaction(orm, async (db) => {
          for (const segment of segments) await insertSegment(db, flavour, segment);
        });
      });
      backlog += calls.length;
    },
    backlog: () => backlog,
    async step() {
      await step();
      const summaries = merged;
      merged = [];
      return summaries;
    },
    async readable() {
      const written = await lastWritten();
      if (written === null) return;
      for (let through: number | null = 0; through !== null && through < written;) through = await step();
    },
  };
}

/** The spend of keys in the totals of a segment. */
const costsOf = (totals: string): readonly { readonly keyHash: string; readonly cost: Usd }[] =>
  (JSON.parse(totals) as readonly { readonly key_hash?: string; readonly total: string }[]).flatMap(
    ({ key_hash: keyHash, total }) => (keyHash === undefined ? [] : { keyHash, cost: BigInt(total) as Usd }),
  );

type WindowTotals = readonly Pick<SpendRow, 'cost' | 'windows'>[];

/** The amounts of budget windows in the totals of a segment. */
const windowsOf = (totals: string): WindowTotals =>
  (
    JSON.parse(totals) as readonly { readonly window?: string; readonly end_ms?: number; readonly total: string }[]
  ).flatMap(({ window: name, end_ms: endMs = 0, total }) =>
    name === undefined ? [] : { cost: BigInt(total) as Usd, windows: [{ name, endMs }] },
  );
