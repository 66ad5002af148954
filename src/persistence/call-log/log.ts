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
import type { createWindowTotals } from '../spend/budget-windows.ts';
import type { createTotals } from '../spend/store.ts';
import type { SpendRow } from '../../domain/spend/spend-row.ts';

/** Append-only log of committed calls. Segments are unfolded into rows later: when the process is idle, or before a read. */
export interface CallLog {
  /** Stores calls in one commit, all or nothing. */
  write(calls: readonly LoggedCall[]): Promise<void>;
  /** Number of calls not unfolded, as far as this process knows. */
  backlog(): number;
  /**
   * Unfolds the oldest segments. Resolves to the summaries, since the last step, of traces into which clients had written
   * before their call was unfolded. Throws Unavailable when the database does not answer.
   */
  step(): Promise<readonly TraceSummary[]>;
  /** Resolves when every segment written before, by any process, is unfolded. */
  readable(): Promise<void>;
}

/** Segments of one transaction; other writes run in between. */
const SEGMENTS_A_STEP = 4;
/** Lock timeout while another process unfolds, in ms. */
const OTHERS_MS = 60_000;
/** Most summaries of merged traces kept until the next step. */
const MOST_MERGED = 1_000;
const inflate = promisify(zstdDecompress);

interface WaitingSegment extends StoredSegment {
  readonly totals: string;
}

/**
 * A segment is unfolded once: one transaction writes its rows and deletes it. When a row of it exists already (a repeated
 * commit, a trace that a client wrote into first), its calls go one by one through the spend and trace stores, which are
 * idempotent.
 */
export function createCallLog(
  { orm, flavour, inFlight }: Database,
  {
    unfolding,
    addToTotals,
    addToWindows,
    isStored,
    storeOneByOne,
    log,
  }: {
    readonly unfolding: CallUnfolding;
    readonly addToTotals: ReturnType<typeof createTotals>;
    readonly addToWindows: ReturnType<typeof createWindowTotals>;
    /** Whether all of these calls are stored: their segment was committed twice. */
    readonly isStored: (calls: readonly CallRecord[]) => Promise<boolean>;
    readonly storeOneByOne: (calls: readonly CallRecord[]) => Promise<readonly TraceSummary[]>;
    readonly log: StoresOptions['log'];
  },
): CallLog {
  let backlog = 0;
  let merged: readonly TraceSummary[] = [];
  let last: Promise<unknown> = Promise.resolve();

  /** The oldest segments, locked: PostgreSQL by row, SQLite by its single writer. */
  const oldest = (db: Kysely<Tables>, most: number): Promise<readonly WaitingSegment[]> =>
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

  /** Number of the last segment unfolded; null when none is left. */
  const unfoldSegments = (most: number): Promise<number | null> =>
    transaction(orm, async (db) => {
      // Another process may hold the locks while it unfolds.
      if (flavour === 'postgresql') await sql`set local lock_timeout = ${sql.lit(OTHERS_MS)}`.execute(db);
      const segments = await oldest(db, most);
      const final = segments.at(-1);
      if (final === undefined) return null;
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
      return Number(final.body_no);
    });

  /** Stores calls one by one; resolves to those that the stores refuse. */
  async function storeApart(calls: readonly CallRecord[]): Promise<readonly CallRecord[]> {
    try {
      const shared = (await storeOneByOne(calls)).filter(({ spanCount }) => spanCount > 1);
      merged = [...merged, ...shared].slice(-MOST_MERGED);
      return [];
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (calls.length > 1) {
        const half = calls.length >> 1;
        return [...(await storeApart(calls.slice(0, half))), ...(await storeApart(calls.slice(half)))];
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
   * Whether at least one call of a segment is in the tables now, and whether one of them is new. The windows of single calls
   * are not in the segment: they count together where one is new.
   */
  async function unfoldedOneByOne(bodyNo: string, bytes: Uint8Array): Promise<'new' | 'repeated' | null> {
    try {
      const db = orm.em.fork().getKysely<Tables>();
      const calls = await withDomainErrors(async () => unfolding.read(db, bodyNo, await inflate(bytes)));
      const state = (await isStored(calls)) ? 'repeated' : 'new';
      const refused = await storeApart(calls);
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

  async function unfoldOneByOne(): Promise<number | null> {
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
    const unfolded = await unfoldedOneByOne(segment.body_no, segment.bytes);
    if (unfolded === null) {
      // The segment stays: a store that refuses every call may itself be faulty.
      await sql`update call_segment set set_aside = 1 where body_no = ${number}`.execute(db);
      return number;
    }
    await transaction(orm, async (own) => {
      if (unfolded === 'new') await addToWindows(own, windowsOf(segment.totals));
      await remove(own, [segment]);
      // The payloads are in the span rows now.
      await sql`delete from export_body where body_no = ${number}`.execute(own);
    });
    return number;
  }

  async function unfoldSome(): Promise<number | null> {
    for (const most of [SEGMENTS_A_STEP, 1])
      try {
        return await withDomainErrors(() => unfoldSegments(most));
      } catch (error) {
        if (error instanceof Unavailable) throw error;
      }
    return unfoldOneByOne();
  }

  async function countBacklog(): Promise<void> {
    const { rows } = await sql<{ calls: number }>`
      select cast(coalesce(sum(calls), 0) as double precision) as calls from call_segment where set_aside = 0
    `.execute(orm.em.fork().getKysely<Tables>());
    backlog = rows[0]?.calls ?? 0;
  }

  /** Steps of one process run one after another. */
  function step(): Promise<number | null> {
    const own = last.then(() =>
      inFlight.write(async () => {
        const number = await unfoldSome();
        await countBacklog();
        return number;
      }),
    );
    last = own.catch(() => {});
    return own;
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
      // Encoding is part of the write, so that a close waits for it too.
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
      for (let done: number | null = 0; done !== null && done < written;) done = await step();
    },
  };
}

const costsOf = (totals: string): readonly { readonly keyHash: string; readonly cost: Usd }[] =>
  (JSON.parse(totals) as readonly { readonly key_hash?: string; readonly total: string }[]).flatMap(
    ({ key_hash: keyHash, total }) => (keyHash === undefined ? [] : { keyHash, cost: BigInt(total) as Usd }),
  );

type WindowTotals = readonly Pick<SpendRow, 'cost' | 'windows'>[];

const windowsOf = (totals: string): WindowTotals =>
  (
    JSON.parse(totals) as readonly { readonly window?: string; readonly end_ms?: number; readonly total: string }[]
  ).flatMap(({ window: name, end_ms: endMs = 0, total }) =>
    name === undefined ? [] : { cost: BigInt(total) as Usd, windows: [{ name, endMs }] },
  );
