import { type AliasedRawBuilder, type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { FreeTierCalls, FreeTierStore, Reserved } from '../../domain/free-tier/free-tier.ts';
import type { Database } from '../database/database.ts';
import { createGroupCommit, type Weight } from '../database/group-commit.ts';
import { columnNames, encodeValues, rowsFrom, rowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

/** Maximum number of reservations that wait for their commit. Their bytes are not limited. */
const QUEUE_LIMIT = { rows: 20_000, bytes: Number.MAX_SAFE_INTEGER };
/** Maximum number of reservations in one commit. */
const GROUP_ROWS = 1_000;

interface ReservationRequest extends Weight {
  readonly asked: FreeTierCalls;
  readonly limit: number;
}

type FreeTierRow = Selectable<Tables['free_tier_use']>;

const nameOf = ({ day, ipHash }: { readonly day: string; readonly ipHash: string }): string => `${day}/${ipHash}`;

/** One row per client and day, in the order of their keys, so that two processes lock rows in one order. */
function sumsByClient(calls: readonly FreeTierCalls[]): readonly FreeTierCalls[] {
  const sums = new Map<string, FreeTierCalls>();
  for (const counted of calls) {
    const name = nameOf(counted);
    sums.set(name, { ...counted, calls: counted.calls + (sums.get(name)?.calls ?? 0) });
  }
  return [...sums.values()].toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** Counters of free calls as rows. A reservation reads and writes its counters in a single statement. */
export function createFreeTierStore({ orm, flavour, readRows, writeRows, transact }: Database): FreeTierStore {
  const table = rowTable(orm, 'free_tier_use');

  /** The calls as rows. `used` and `granted` are both the number of calls of a client and day, at most `most`. */
  function rowsOf(calls: readonly FreeTierCalls[], most: number): RawBuilder<unknown> {
    const encoded = sumsByClient(calls).map((sum) => {
      const number = Math.min(sum.calls, most);
      return encodeValues(table, { ...sum, used: number, granted: number });
    });
    return rowsFrom(flavour, table, encoded);
  }

  async function reserveAll(
    db: Kysely<Tables>,
    calls: readonly FreeTierCalls[],
    limit: number,
  ): Promise<Map<string, Reserved>> {
    // A new row grants all calls, which `rowsOf` has limited. A stored row grants at most what is left of the limit.
    const left = sql<number>`${limit} - free_tier_use.used`;
    const grant = sql<number>`case when ${left} <= 0 then 0 when ${left} < excluded.granted then ${left} else excluded.granted end`;
    const rows = await db
      .insertInto('free_tier_use')
      .columns(columnNames(table))
      .expression(rowsOf(calls, limit))
      .onConflict((conflict) =>
        conflict.columns(['day', 'ip_hash']).doUpdateSet({ used: sql`free_tier_use.used + ${grant}`, granted: grant }),
      )
      .returning(['day', 'ip_hash', 'used', 'granted'])
      .execute();
    return new Map(rows.map(({ day, ip_hash: ipHash, used, granted }) => [nameOf({ day, ipHash }), { used, granted }]));
  }

  /**
   * The reservations of one client share what is granted to this client, first come, first served. Each limit has its
   * own statement. Several statements form a transaction, so that none is committed when one fails.
   */
  async function commit(jobs: readonly ReservationRequest[]): Promise<readonly Reserved[]> {
    const jobsByLimit = Map.groupBy(jobs, ({ limit }) => limit);
    const write = jobsByLimit.size === 1 ? writeRows : transact;
    return write(async (db) => {
      const results = new Map<ReservationRequest, Reserved>();
      for (const [limit, jobsWithLimit] of jobsByLimit) {
        const calls = jobsWithLimit.map(({ asked }) => asked);
        const reserved = await reserveAll(db, calls, limit);
        for (const job of jobsWithLimit) {
          const name = nameOf(job.asked);
          const { granted, used } = reserved.get(name) ?? { granted: 0, used: limit };
          const grantedToJob = Math.min(granted, job.asked.calls);
          results.set(job, { granted: grantedToJob, used });
          reserved.set(name, { granted: granted - grantedToJob, used });
        }
      }
      return jobs.map((job) => results.get(job) ?? { granted: 0, used: job.limit });
    });
  }

  const reservations = createGroupCommit<ReservationRequest, Reserved>({
    commit,
    limit: QUEUE_LIMIT,
    groupRows: GROUP_ROWS,
  });

  return {
    reserve: (asked, limit) => reservations.submit({ asked, limit, rows: 1, bytes: 0 }),
    async release(unused) {
      if (unused.length === 0) return;
      const returned = sql<FreeTierRow>`(${rowsOf(unused, Number.MAX_SAFE_INTEGER)})`.as('returned');
      await transact(async (db) => {
        if (flavour === 'postgresql') await lockInOrder(db, returned);
        await db
          .updateTable('free_tier_use')
          .from(returned)
          .set(({ eb, ref }) => ({ used: eb('free_tier_use.used', '-', ref('returned.used')) }))
          .whereRef('free_tier_use.day', '=', 'returned.day')
          .whereRef('free_tier_use.ip_hash', '=', 'returned.ip_hash')
          .execute();
      });
    },
    usedOn: (day, ipHash) =>
      readRows(async (db) => {
        const row = await db
          .selectFrom('free_tier_use')
          .select('used')
          .where('day', '=', day)
          .where('ip_hash', '=', ipHash)
          .executeTakeFirst();
        return row?.used ?? 0;
      }),
    removeBefore: (day, most) =>
      writeRows(async (db) => {
        const removed = await db
          .deleteFrom('free_tier_use')
          .where(({ eb, refTuple, selectFrom }) =>
            eb(
              refTuple('day', 'ip_hash'),
              'in',
              selectFrom('free_tier_use as old')
                .select(['old.day', 'old.ip_hash'])
                .where('old.day', '<', day)
                .orderBy('old.day')
                .orderBy('old.ip_hash')
                .limit(most)
                .$asTuple('day', 'ip_hash'),
            ),
          )
          .returning('day')
          .execute();
        return removed.length;
      }),
  };
}

/** Locks the rows in the order of their keys. An update locks in any order, so two updates could deadlock. */
async function lockInOrder(db: Kysely<Tables>, returned: AliasedRawBuilder<FreeTierRow, 'returned'>): Promise<void> {
  await db
    .selectFrom('free_tier_use')
    .innerJoin(returned, (join) =>
      join.onRef('free_tier_use.day', '=', 'returned.day').onRef('free_tier_use.ip_hash', '=', 'returned.ip_hash'),
    )
    .select('free_tier_use.day')
    .orderBy('free_tier_use.day')
    .orderBy('free_tier_use.ip_hash')
    .forUpdate('free_tier_use')
    .execute();
}
