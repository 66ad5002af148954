import { type RawBuilder, sql } from 'kysely';
import { memberId } from '../../domain/admission/counters.ts';
import type { Usd } from '../../domain/money.ts';
import { type CountedKind, isLabelKind, type SpendStart } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database, SqlFlavour } from '../database/database.ts';
import { elementsOf, textsOf } from '../database/rows.ts';
import { DAY_MS } from './daily-sums.ts';
import { ownedKeys } from './owner-totals.ts';

type Sql = RawBuilder<unknown>;

/** The two columns of an owner, as `ownedKeys` returns them. */
function ownerIdColumns(kind: CountedKind, id: string): readonly [id: string, memberUserId: string] {
  if (kind !== 'member') return [storable(id), ''];
  const [team = '', user = ''] = JSON.parse(id) as readonly string[];
  return [storable(team), storable(user)];
}

/**
 * Owners, each with the start of its window and the start of the first whole day in this window, Unix ms. All owners
 * are one parameter.
 */
function wanted(flavour: SqlFlavour, kind: CountedKind, starts: readonly SpendStart[]): Sql {
  const rows = starts.map(({ id, from }) => {
    const ms = from.getTime();
    return [...ownerIdColumns(kind, id), ms, Math.ceil(ms / DAY_MS) * DAY_MS];
  });
  return sql`select t.value ->> 0 as id, t.value ->> 1 as member_user_id, cast(t.value ->> 2 as bigint) as start_ms,
    cast(t.value ->> 3 as bigint) as day_ms from ${elementsOf(flavour, sql`${JSON.stringify(rows)}`)} as t`;
}

/**
 * The calls `r` of partial days `s`: from the start of a window to its first whole day. Each distinct partial day reads
 * its range of the index.
 */
const PARTIAL_DAYS = sql`(select distinct start_ms, day_ms from wanted where start_ms < day_ms) s
  join spend_row r on r.started_at >= s.start_ms and r.started_at < s.day_ms`;

/** The costs of keys or their owners. */
const OWNED = sql`
  select w.id, w.member_user_id, d.cost from wanted w join owned o on o.id = w.id and o.member_user_id = w.member_user_id
    join spend_day d on d.key_hash = o.hash and d.started_at >= w.day_ms
  union all
  select w.id, w.member_user_id, r.cost from ${PARTIAL_DAYS} join owned o on o.hash = r.key_hash
    join wanted w on w.id = o.id and w.member_user_id = o.member_user_id and w.start_ms = s.start_ms`;

/** The costs of calls with a label. */
function labelled(flavour: SqlFlavour, kind: 'tag' | 'end_user'): Sql {
  const tags = sql`cross join ${sql.raw(textsOf(flavour, 'r.tags'))} as tag`;
  const label = kind === 'tag' ? sql`tag.value` : sql`r.end_user`;
  return sql`
    select w.id, w.member_user_id, d.cost from wanted w
      join spend_day_label d on d.kind = ${sql.lit(kind)} and d.label = w.id and d.started_at >= w.day_ms
    union all
    select w.id, w.member_user_id, r.cost from ${PARTIAL_DAYS} ${kind === 'tag' ? tags : sql``}
      join wanted w on w.id = ${label} and w.start_ms = s.start_ms`;
}

/** Keys in the form of `ownedKeys`, each as its own owner. */
const keysAsOwners = (): Sql => sql`select distinct id as hash, id, '' as member_user_id from wanted`;

/** The relation `owned` of the keys to count; null for labels, whose query does not read it. */
function ownedRelation(flavour: SqlFlavour, kind: CountedKind, ids: readonly string[]): Sql | null {
  if (isLabelKind(kind)) return null;
  return kind === 'key' ? keysAsOwners() : ownedKeys(flavour, kind, ids);
}

/** The spend of each key, owner or label since the start of its window, in one statement. */
export const createSpendSince =
  ({ flavour, readRows }: Database) =>
  (kind: CountedKind, starts: readonly SpendStart[]): Promise<ReadonlyMap<string, Usd>> =>
    readRows(async (db) => {
      const ids = starts.map(({ id }) => id);
      const owned = ownedRelation(flavour, kind, ids);
      const { rows } = await sql<{ id: string; member_user_id: string; total: string | null }>`
        with wanted as (${wanted(flavour, kind, starts)})
          ${owned === null ? sql`` : sql`, owned as (${owned})`}
        select id, member_user_id, cast(sum(cost) as text) as total
        from (${isLabelKind(kind) ? labelled(flavour, kind) : OWNED}) spent group by id, member_user_id
      `.execute(db);
      return new Map(
        rows.map(({ id, member_user_id: memberUserId, total }) => [
          kind === 'member' ? memberId(id, memberUserId) : id,
          BigInt(total ?? 0) as Usd,
        ]),
      );
    });
