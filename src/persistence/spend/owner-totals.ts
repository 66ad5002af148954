import { sql, type RawBuilder } from 'kysely';
import { memberId } from '../../domain/admission/counters.ts';
import type { Usd } from '../../domain/money.ts';
import type { KeyOwnerKind, SummedKind } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { elementsOf, textsIn, tuplesIn } from '../database/rows.ts';

type Flavour = Database['flavour'];

/**
 * Kinds whose totals are stored under their own id. The total of any other kind is the sum over the keys of an owner.
 */
type NamedKind = 'key' | Exclude<SummedKind, KeyOwnerKind>;

const isNamed = (kind: SummedKind | 'key'): kind is NamedKind =>
  kind === 'key' || kind === 'tag' || kind === 'end_user' || kind === 'window';

/** The totals of the segments in the call log: `t.value` is one of them. */
const loggedTotals = (flavour: Flavour): RawBuilder<unknown> =>
  sql`call_segment s cross join ${elementsOf(flavour, sql.ref('s.totals'))} t`;

/**
 * Where totals of each kind are stored: a query without its last condition, and its column of the id. The query returns
 * the id as `one`, and an empty `other`: only ids of members have a second part. `loggedId` is the name of the id in a
 * total of the call log.
 */
const STORED: Readonly<Record<NamedKind, readonly [totals: RawBuilder<unknown>, column: string, loggedId: string]>> = {
  key: [sql`select key_hash as one, '' as other, total from key_spend where`, 'key_hash', 'key_hash'],
  window: [sql`select name as one, '' as other, total from budget_window where`, 'name', 'window'],
  tag: [
    sql`select label as one, '' as other, cost as total from spend_day_label where kind = 'tag' and`,
    'label',
    'label',
  ],
  end_user: [
    sql`select label as one, '' as other, cost as total from spend_day_label where kind = 'end_user' and`,
    'label',
    'label',
  ],
};

/** The spend of keys, labels or windows as `one` and `total`, with the call log. */
function named(flavour: Flavour, kind: NamedKind, ids: readonly string[]): RawBuilder<unknown> {
  const among = (): RawBuilder<unknown> => textsIn(flavour, ids.map(storable));
  const [totals, column, loggedId] = STORED[kind];
  const name = sql`t.value ->> ${sql.lit(loggedId)}`;
  const ofKind = loggedId === 'label' ? sql`and t.value ->> 'kind' = ${kind}` : sql``;
  return sql`
    ${totals} ${sql.ref(column)} in ${among()}
    union all
    select ${name}, '', cast(t.value ->> 'total' as bigint) from ${loggedTotals(flavour)} where ${name} in ${among()} ${ofKind}`;
}

/** The spend of the keys of owners as `one`, `other` and `total`, with the call log. */
function owned(flavour: Flavour): RawBuilder<unknown> {
  return sql`
    select o.one, o.other, k.total from owned o join key_spend k on k.key_hash = o.hash
    union all
    select o.one, o.other, cast(t.value ->> 'total' as bigint)
    from ${loggedTotals(flavour)} join owned o on o.hash = t.value ->> 'key_hash'`;
}

/**
 * The keys of owners, deleted ones too, as `hash`, `one` and `other`: the id of the owner, in two parts for a member.
 */
export function ownedKeys(flavour: Flavour, kind: KeyOwnerKind, ids: readonly string[]): RawBuilder<unknown> {
  const among = (): RawBuilder<unknown> => textsIn(flavour, ids.map(storable));
  switch (kind) {
    case 'team':
      return sql`select hash, team_id as one, '' as other from virtual_key where team_id in ${among()}`;
    case 'user':
      return sql`select hash, user_id as one, '' as other from virtual_key where user_id in ${among()}`;
    case 'member': {
      const pairs = ids.map((id) => (JSON.parse(id) as readonly string[]).map(storable));
      return sql`select hash, team_id as one, user_id as other from virtual_key
        where (team_id, user_id) in ${tuplesIn(flavour, 2, pairs)}`;
    }
    case 'project':
      return sql`select hash, project_id as one, '' as other from virtual_key where project_id in ${among()}`;
    case 'organization':
      return sql`select k.hash, t.organization_id as one, '' as other from team t join virtual_key k on k.team_id = t.id
        where t.organization_id in ${among()}
        union all
        select hash, organization_id as one, '' as other from virtual_key
        where organization_id in ${among()} and team_id is null`;
  }
}

/**
 * The spend of keys, owners, labels and windows, including the call log, so that admission does not wait for unfolding.
 */
export const createTotalsOf =
  ({ reader, flavour, inFlight }: Database) =>
  (kind: SummedKind | 'key', ids: readonly string[]): Promise<ReadonlyMap<string, Usd>> =>
    inFlight.read(async () => {
      const { rows } = await sql<{ one: string; other: string; total: string }>`
        ${isNamed(kind) ? sql`` : sql`with owned as (${ownedKeys(flavour, kind, ids)})`}
        select one, other, cast(sum(total) as text) as total
        from (${isNamed(kind) ? named(flavour, kind, ids) : owned(flavour)}) spent group by one, other
      `.execute(reader());
      return new Map(
        rows.map(({ one, other, total }) => [kind === 'member' ? memberId(one, other) : one, BigInt(total) as Usd]),
      );
    });
