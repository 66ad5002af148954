import { sql, type RawBuilder } from 'kysely';
import { memberId } from '../../domain/admission/counters.ts';
import type { Usd } from '../../domain/money.ts';
import type { KeyOwnerKind, OwnerKind } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { textsIn, tuplesIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type Flavour = Database['flavour'];

type LabelKind = Exclude<OwnerKind, KeyOwnerKind>;

const isLabel = (kind: OwnerKind): kind is LabelKind => kind === 'tag' || kind === 'end_user' || kind === 'window';

/** The spend of budget windows as `one` and `total`, with the call log. */
function windowed(flavour: Flavour, names: readonly string[]): RawBuilder<unknown> {
  const among = (): RawBuilder<unknown> => textsIn(flavour, names);
  return sql`
    select name as one, '' as other, total from budget_window where name in ${among()}
    union all
    select t.value ->> 'window', '', cast(t.value ->> 'total' as bigint)
    from call_segment s cross join ${eachTotal(flavour)} t where t.value ->> 'window' in ${among()}`;
}

/** The spend of labels as `one` and `total`, with the call log. */
function labelled(flavour: Flavour, kind: LabelKind, ids: readonly string[]): RawBuilder<unknown> {
  if (kind === 'window') return windowed(flavour, ids);
  const among = (): RawBuilder<unknown> => textsIn(flavour, ids.map(storable));
  return sql`
    select label as one, '' as other, cost as total from spend_day_label where kind = ${kind} and label in ${among()}
    union all
    select t.value ->> 'label', '', cast(t.value ->> 'total' as bigint)
    from call_segment s cross join ${eachTotal(flavour)} t
    where t.value ->> 'kind' = ${kind} and t.value ->> 'label' in ${among()}`;
}

const eachTotal = (flavour: Flavour): RawBuilder<unknown> =>
  flavour === 'postgresql' ? sql`lateral jsonb_array_elements(s.totals::jsonb)` : sql`json_each(s.totals)`;

/** The spend of the keys of owners as `one`, `other` and `total`, with the call log. */
function owned(flavour: Flavour): RawBuilder<unknown> {
  return sql`
    select o.one, o.other, k.total from owned o join key_spend k on k.key_hash = o.hash
    union all
    select o.one, o.other, cast(t.value ->> 'total' as bigint)
    from call_segment s cross join ${eachTotal(flavour)} t join owned o on o.hash = t.value ->> 'key_hash'`;
}

/** The keys of owners, deleted ones too, as `hash`, `one` and `other`: the id of the owner, in two parts for a member. */
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
 * The spend of owners: the sum over their keys, with the call log. Calls that are unfolded one by one count twice until
 * their segment is deleted.
 */
export const createOwnerTotals =
  ({ orm, flavour, inFlight }: Database) =>
  (kind: OwnerKind, ids: readonly string[]): Promise<ReadonlyMap<string, Usd>> =>
    inFlight.read(async () => {
      const { rows } = await sql<{ one: string; other: string; total: string }>`
        ${isLabel(kind) ? sql`` : sql`with owned as (${ownedKeys(flavour, kind, ids)})`}
        select one, other, cast(sum(total) as text) as total
        from (${isLabel(kind) ? labelled(flavour, kind, ids) : owned(flavour)}) spent group by one, other
      `.execute(orm.em.fork().getKysely<Tables>({ type: 'read' }));
      return new Map(
        rows.map(({ one, other, total }) => [kind === 'member' ? memberId(one, other) : one, BigInt(total) as Usd]),
      );
    });
