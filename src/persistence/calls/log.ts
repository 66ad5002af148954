import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { sql, type Kysely } from 'kysely';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { Usd } from '../../domain/money.ts';
import type { Database } from '../database/database.ts';
import { reaching } from '../database/faults.ts';
import type { StoresOptions } from '../stores.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { insertSegment, type PackedRoot, segmentsOf } from './segments.ts';
import type { CallUnpacking } from './unpacking.ts';
import type { createTotals } from '../spend/store.ts';

/** Calls that are committed, and taken apart later: when the process is calm, or somebody reads. */
export interface CallLog {
  /** Stores calls in one commit, all or nothing. */
  write(calls: readonly PackedRoot[]): Promise<void>;
  /** How many calls wait to be taken apart, as far as this process knows. */
  backlog(): number;
  /** Takes some of them apart, the oldest first. Throws Unavailable when the database is away. */
  step(): Promise<void>;
  /** Resolves when all that was written before is in the tables that are read, whoever wrote it. */
  readable(): Promise<void>;
}

/** Segments of one transaction: others want to write in between. */
const SEGMENTS_A_STEP = 4;
/** How long this process waits for another one that takes segments apart, in ms. */
const OTHERS_MS = 60_000;
const open = promisify(zstdDecompress);

interface WaitingSegment {
  readonly body_no: string;
  readonly totals: string;
}

/**
 * A segment is taken apart once: its rows are written and it goes in one transaction. Where something of it is stored
 * already (a call that was sent twice, a trace that its caller wrote into first), its calls take the general way, which
 * may be gone twice without harm.
 */
export function createCallLog(
  { orm, flavour, inFlight }: Database,
  {
    unpacking,
    addToTotals,
    storeOneByOne,
    log,
  }: {
    readonly unpacking: CallUnpacking;
    readonly addToTotals: ReturnType<typeof createTotals>;
    readonly storeOneByOne: (calls: readonly CallRecord[]) => Promise<unknown>;
    readonly log: StoresOptions['log'];
  },
): CallLog {
  let backlog = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** The oldest that wait; PostgreSQL lets nobody else take them apart meanwhile, SQLite has one writer. */
  const oldest = (db: Kysely<Tables>, most: number): Promise<readonly WaitingSegment[]> =>
    db
      .selectFrom('call_segment')
      .select([sql<string>`cast(body_no as text)`.as('body_no'), 'totals'])
      .where('set_aside', '=', 0)
      .orderBy('call_segment.body_no')
      .limit(most)
      .$if(flavour === 'postgresql', (query) => query.forUpdate())
      .execute();

  const remove = (db: Kysely<Tables>, segments: readonly WaitingSegment[]): Promise<unknown> =>
    sql`delete from call_segment where body_no in (${sql.join(segments.map(({ body_no: number }) => sql.lit(Number(number))))})`.execute(
      db,
    );

  /** The number of the last segment that was taken apart; null when none waits. */
  const takeApart = (most: number): Promise<number | null> =>
    transaction(orm, async (db) => {
      // Another process may hold the segments for as long as it takes them apart; a reader waits for that.
      if (flavour === 'postgresql') await sql`set local lock_timeout = ${sql.lit(OTHERS_MS)}`.execute(db);
      const segments = await oldest(db, most);
      const final = segments.at(-1);
      if (final === undefined) return null;
      await unpacking.unpack(
        db,
        segments.map(({ body_no: number }) => number),
      );
      await addToTotals(
        db,
        segments.flatMap(({ totals }) => costsOf(totals)),
      );
      await remove(db, segments);
      return Number(final.body_no);
    });

  /** Gives those that the store takes by no way. */
  async function storeApart(calls: readonly CallRecord[]): Promise<readonly CallRecord[]> {
    try {
      await storeOneByOne(calls);
      return [];
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (calls.length > 1) {
        const half = calls.length >> 1;
        return [...(await storeApart(calls.slice(0, half))), ...(await storeApart(calls.slice(half)))];
      }
      for (const { spend } of calls)
        log.warn({ err: error, callId: spend.callId, traceId: spend.traceId }, 'a call cannot be taken apart');
      return calls;
    }
  }

  /** Whether at least some calls of a segment are in the tables now. */
  async function takenApart(bodyNo: string, bytes: Uint8Array): Promise<boolean> {
    try {
      const db = orm.em.fork().getKysely<Tables>();
      const calls = await reaching(async () => unpacking.read(db, bodyNo, await open(bytes)));
      const refused = await storeApart(calls);
      if (refused.length < calls.length) return true;
      log.warn({ segment: bodyNo, calls: calls.length }, 'a commit of calls was set aside: none can be taken apart');
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      log.warn({ err: error, segment: bodyNo }, 'a commit of calls was set aside: it cannot be read');
    }
    return false;
  }

  async function takeOneByOne(): Promise<number | null> {
    const db = orm.em.fork().getKysely<Tables>();
    const [segment] = await db
      .selectFrom('call_segment')
      .innerJoin('export_body', 'export_body.body_no', 'call_segment.body_no')
      .select([sql<string>`cast(call_segment.body_no as text)`.as('body_no'), 'totals', 'export_body.bytes'])
      .where('set_aside', '=', 0)
      .orderBy('call_segment.body_no')
      .limit(1)
      .$castTo<WaitingSegment & { readonly bytes: Uint8Array }>()
      .execute();
    if (segment === undefined) return null;
    const number = Number(segment.body_no);
    const taken = await takenApart(segment.body_no, segment.bytes);
    if (!taken) {
      // Left for somebody to look at: a store that takes none is not believed to judge them.
      await sql`update call_segment set set_aside = 1 where body_no = ${number}`.execute(db);
      return number;
    }
    await transaction(orm, async (own) => {
      await remove(own, [segment]);
      // Their payloads are in their rows now.
      await sql`delete from export_body where body_no = ${number}`.execute(own);
    });
    return number;
  }

  async function takeSome(): Promise<number | null> {
    for (const most of [SEGMENTS_A_STEP, 1])
      try {
        return await reaching(() => takeApart(most));
      } catch (error) {
        if (error instanceof Unavailable) throw error;
      }
    return takeOneByOne();
  }

  async function counted(): Promise<void> {
    const { rows } = await sql<{ calls: number }>`
      select cast(coalesce(sum(calls), 0) as double precision) as calls from call_segment where set_aside = 0
    `.execute(orm.em.fork().getKysely<Tables>());
    backlog = rows[0]?.calls ?? 0;
  }

  /** One after the other: two of this process would only wait for each other. */
  function step(): Promise<number | null> {
    const own = last.then(() =>
      inFlight.write(async () => {
        const number = await takeSome();
        await counted();
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
      // All of it is under way: a database that closes waits for what is being packed, too.
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
    },
    async readable() {
      const written = await lastWritten();
      if (written === null) return;
      for (let done: number | null = 0; done !== null && done < written;) done = await step();
    },
  };
}

const costsOf = (totals: string): readonly { readonly keyHash: string; readonly cost: Usd }[] =>
  (JSON.parse(totals) as readonly { readonly key_hash: string; readonly total: string }[]).map(
    ({ key_hash: keyHash, total }) => ({ keyHash, cost: BigInt(total) as Usd }),
  );
