import { sql, type Kysely } from 'kysely';
import type { FreeTierCalls, FreeTierStore, Reserved } from '../../domain/free-tier/free-tier.ts';
import type { Database } from '../database/database.ts';
import { FreeTierUseEntity } from './entities/free-tier-use.ts';
import { createGroupCommit, type Weight } from '../database/group-commit.ts';
import { columnNames, encodeRow, rowsFrom, rowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';

/** Reservations that may wait for their commit, and how many one commit takes. */
const WAITING = { rows: 20_000, bytes: Number.MAX_SAFE_INTEGER };
const GROUP_ROWS = 1_000;

interface Asked extends Weight {
  readonly asked: FreeTierCalls;
  readonly limit: number;
}

const nameOf = ({ day, ipHash }: { readonly day: string; readonly ipHash: string }): string => `${day}/${ipHash}`;

/** One row per client and day, in the order of their keys: two processes then lock rows in one order. */
function added(calls: readonly FreeTierCalls[]): readonly FreeTierCalls[] {
  const sums = new Map<string, FreeTierCalls>();
  for (const asked of calls) {
    const name = nameOf(asked);
    sums.set(name, { ...asked, calls: asked.calls + (sums.get(name)?.calls ?? 0) });
  }
  return [...sums.values()].toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** Counts of free calls as rows that only single statements change. */
export function createFreeTierStore({ orm, flavour, inFlight }: Database): FreeTierStore {
  const table = rowTable(orm, 'free_tier_use', FreeTierUseEntity);
  const writing = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();

  /** Rows to insert from; what is to be added stands in both numbers. */
  function rowsOf(calls: readonly FreeTierCalls[], most: number) {
    const encoded = added(calls).map((asked) => {
      const number = Math.min(asked.calls, most);
      return encodeRow(table, { day: asked.day, ip_hash: asked.ipHash, used: number, granted: number });
    });
    return rowsFrom(flavour, table, encoded);
  }

  async function reserveAll(calls: readonly FreeTierCalls[], limit: number): Promise<Map<string, Reserved>> {
    const left = sql<number>`${limit} - free_tier_use.used`;
    const grant = sql<number>`case when ${left} <= 0 then 0 when ${left} < excluded.granted then ${left} else excluded.granted end`;
    const rows = await writing()
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

  /** Several that ask for one client share what it got, first come, first served. */
  async function commit(jobs: readonly Asked[]): Promise<readonly Reserved[]> {
    const results = new Map<Asked, Reserved>();
    for (const limit of new Set(jobs.map((job) => job.limit))) {
      const alike = jobs.filter((job) => job.limit === limit);
      const reserved = await inFlight.write(() =>
        reserveAll(
          alike.map(({ asked }) => asked),
          limit,
        ),
      );
      for (const job of alike) {
        const name = nameOf(job.asked);
        const { granted, used } = reserved.get(name) ?? { granted: 0, used: limit };
        const mine = Math.min(granted, job.asked.calls);
        results.set(job, { granted: mine, used });
        reserved.set(name, { granted: granted - mine, used });
      }
    }
    return jobs.map((job) => results.get(job) ?? { granted: 0, used: job.limit });
  }

  const reservations = createGroupCommit<Asked, Reserved>({ commit, limit: WAITING, groupRows: GROUP_ROWS });

  return {
    reserve: (asked, limit) => reservations.submit({ asked, limit, rows: 1, bytes: 0 }),
    giveBack: (unused) =>
      inFlight.write(async () => {
        if (unused.length === 0) return;
        const returned = rowsOf(unused, Number.MAX_SAFE_INTEGER);
        const same = sql`free_tier_use.day = returned.day and free_tier_use.ip_hash = returned.ip_hash`;
        await transaction(orm, async (db) => {
          // An update locks rows in no certain order; in this one nobody waits for each other.
          if (flavour === 'postgresql')
            await sql`
              select 1 from free_tier_use, (${returned}) as returned where ${same}
              order by free_tier_use.day, free_tier_use.ip_hash for update of free_tier_use
            `.execute(db);
          await sql`
            update free_tier_use set used = free_tier_use.used - returned.used
            from (${returned}) as returned where ${same}
          `.execute(db);
        });
      }),
    usedOn: (day, ipHash) =>
      inFlight.run(async () => {
        const row = await orm.em
          .fork()
          .getKysely<Tables>({ type: 'read' })
          .selectFrom('free_tier_use')
          .select('used')
          .where('day', '=', day)
          .where('ip_hash', '=', ipHash)
          .executeTakeFirst();
        return row?.used ?? 0;
      }),
    forgetBefore: (day, most) =>
      inFlight.write(async () => {
        const gone = await sql<{ day: string }>`
          delete from free_tier_use where (day, ip_hash) in (
            select day, ip_hash from free_tier_use where day < ${day} order by day, ip_hash limit ${most}
          ) returning day
        `.execute(writing());
        return gone.rows.length;
      }),
  };
}
