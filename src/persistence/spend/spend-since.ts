import { type RawBuilder, sql } from 'kysely';
import { memberId } from '../../domain/admission/counters.ts';
import type { Usd } from '../../domain/money.ts';
import { type CountedKind, isLabelKind, type SpendStart } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database, SqlFlavour } from '../database/database.ts';
import { elementsOf, textsIn, textsOf } from '../database/rows.ts';
import { DAY_MS } from './daily-sums.ts';
import { ownedKeys } from './owner-totals.ts';

type Sql = RawBuilder<unknown>;

/** The id of an owner in two parts, as `ownedKeys` returns it; the second part is empty except for a member. */
function partsOf(kind: CountedKind, id: string): readonly [one: string, other: string] {
  if (kind !== 'member') return [storable(id), ''];
  const [team = '', user = ''] = JSON.parse(id) as readonly string[];
  return [storable(team), storable(user)];
}

/** Owners with the start of their window and of the first whole day in it, Unix ms. All owners are one parameter. */
function wanted(flavour: SqlFlavour, kind: CountedKind, starts: readonly SpendStart[]): Sql {
  const rows = starts.map(({ id, from }) => {
    const ms = from.getTime();
    return [...partsOf(kind, id), ms, Math.ceil(ms / DAY_MS) * DAY_MS];
  });
  return sql`select t.value ->> 0 as one, t.value ->> 1 as other, cast(t.value ->> 2 as bigint) as start_ms,
    cast(t.value ->> 3 as bigint) as day_ms from ${elementsOf(flavour, sql`${JSON.stringify(rows)}`)} as t`;
}

/**
 * The parts of days at the start of windows, with their calls as `r`: each distinct part reads its range of the index.
 */
const EDGES = sql`(select distinct start_ms, day_ms from wanted where start_ms < day_ms) s
  join spend_row r on r.started_at >= s.start_ms and r.started_at < s.day_ms`;

/** The costs of keys or their owners as `one`, `other` and `cost`. */
const OWNED = sql`
  select w.one, w.other, d.cost from wanted w join owned o on o.one = w.one and o.other = w.other
    join spend_day d on d.key_hash = o.hash and d.started_at >= w.day_ms
  union all
  select w.one, w.other, r.cost from ${EDGES} join owned o on o.hash = r.key_hash
    join wanted w on w.one = o.one and w.other = o.other and w.start_ms = s.start_ms`;

/** The costs of calls with a label, as `one`, `other` and `cost`. */
function labelled(flavour: SqlFlavour, kind: 'tag' | 'end_user'): Sql {
  const tags = sql`cross join ${sql.raw(textsOf(flavour, 'r.tags'))} as tag`;
  const label = kind === 'tag' ? sql`tag.value` : sql`r.end_user`;
  return sql`
    select w.one, w.other, d.cost from wanted w
      join spend_day_label d on d.kind = ${sql.lit(kind)} and d.label = w.one and d.started_at >= w.day_ms
    union all
    select w.one, w.other, r.cost from ${EDGES} ${kind === 'tag' ? tags : sql``}
      join wanted w on w.one = ${label} and w.start_ms = s.start_ms`;
}

const keysThemselves = (flavour: SqlFlavour, hashes: readonly string[]): Sql =>
  sql`select hash, hash as one, '' as other from virtual_key where hash in ${textsIn(flavour, hashes.map(storable))}`;

/** The spend of each key, owner or label since the start of its window, in one statement. */
export const createSpendSince =
  ({ flavour, readRows }: Database) =>
  (kind: CountedKind, starts: readonly SpendStart[]): Promise<ReadonlyMap<string, Usd>> =>
    readRows(async (db) => {
      const ids = starts.map(({ id }) => id);
      const owned = (): Sql =>
        kind === 'key' || isLabelKind(kind) ? keysThemselves(flavour, ids) : ownedKeys(flavour, kind, ids);
      const { rows } = await sql<{ one: string; other: string; total: string | null }>`
        with wanted as (${wanted(flavour, kind, starts)})
          ${isLabelKind(kind) ? sql`` : sql`, owned as (${owned()})`}
        select one, other, cast(sum(cost) as text) as total
        from (${isLabelKind(kind) ? labelled(flavour, kind) : OWNED}) spent group by one, other
      `.execute(db);
      return new Map(
        rows.map(({ one, other, total }) => [
          kind === 'member' ? memberId(one, other) : one,
          BigInt(total ?? 0) as Usd,
        ]),
      );
    });
