import { sql } from 'kysely';
import { isTier } from '../../domain/auto-routers/tiers.ts';
import type { AutoRouterStore } from '../../domain/auto-routers/auto-router-store.ts';
import type { Usd } from '../../domain/money.ts';
import type { Database } from '../database/database.ts';
import { createDatabaseMutex } from '../database/mutex.ts';

/** One group of routed calls. `cost` is in picodollars. */
interface StoredSum {
  readonly router_id: string;
  readonly router: string;
  readonly tier: string | null;
  readonly cause: string;
  readonly model: string;
  readonly calls: number;
  readonly failures: number;
  readonly cost: string;
}

/** Store of auto routers. Their decisions are in the spend rows of the routed calls. */
export function createAutoRouterStore(database: Database): AutoRouterStore {
  const { flavour, readRows } = database;
  const decision = flavour === 'postgresql' ? sql`cast(routing as json)` : sql`routing`;
  const member = (name: string) => sql`${decision} ->> ${sql.lit(name)}`;
  return {
    exclusively: createDatabaseMutex(database, 'auto routers'),
    routedCalls: ({ fromMs, toMs }, maxSums) =>
      readRows(async (db) => {
        const { rows } = await sql<StoredSum>`
          select ${member('routerId')} as router_id, ${member('router')} as router, ${member('tier')} as tier,
            ${member('cause')} as cause, ${member('model')} as model,
            cast(count(*) as double precision) as calls,
            cast(sum(case when status = 'failure' then 1 else 0 end) as double precision) as failures,
            cast(coalesce(sum(cost), 0) as text) as cost
          from spend_row
          where routing is not null and started_at >= ${fromMs} and started_at < ${toMs}
          group by 1, 2, 3, 4, 5 order by calls desc, router_id, tier, cause, model limit ${maxSums}`.execute(db);
        return rows.map(({ router_id: routerId, tier, cost, ...row }) => ({
          ...row,
          routerId,
          tier: isTier(tier) ? tier : null,
          cost: BigInt(cost) as Usd,
        }));
      }),
  };
}
