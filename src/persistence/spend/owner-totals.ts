import { sql, type RawBuilder } from 'kysely';
import { memberId } from '../../domain/admission/counters.ts';
import type { Usd } from '../../domain/money.ts';
import type { KeyOwnerKind, SpendStore, StartedKind, SummedKind } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { elementsOf, textsIn, tuplesIn } from '../database/rows.ts';

type Flavour = Database['flavour'];

/*
 * The queries identify an owner by two columns. For a member, `id` is the team and `member_user_id` the user. For any
 * other kind, `member_user_id` is empty.
 */

/**
 * Kinds whose totals are stored under their own id. For any other kind, the total of an owner is the sum over its keys.
 */
type NamedKind = 'key' | Exclude<SummedKind, KeyOwnerKind>;

const isNamed = (kind: SummedKind | 'key'): kind is NamedKind =>
  kind === 'key' || kind === 'tag' || kind === 'end_user' || kind === 'window';

/** The totals of the segments in the call log: `t.value` is a total. */
const loggedTotals = (flavour: Flavour): RawBuilder<unknown> =>
  sql`call_segment s cross join ${elementsOf(flavour, sql.ref('s.totals'))} t`;

/**
 * Where totals of each kind are stored: a query that lacks the condition on the id, and the column of the id.
 * `loggedId` is the name of the id in a total of the call log.
 */
const STORED: Readonly<Record<NamedKind, readonly [totals: RawBuilder<unknown>, column: string, loggedId: string]>> = {
  key: [sql`select key_hash as id, '' as member_user_id, total from key_spend where`, 'key_hash', 'key_hash'],
  window: [sql`select name as id, '' as member_user_id, total from budget_window where`, 'name', 'window'],
  tag: [
    sql`select label as id, '' as member_user_id, cost as total from spend_day_label where kind = 'tag' and`,
    'label',
    'label',
  ],
  end_user: [
    sql`select label as id, '' as member_user_id, cost as total from spend_day_label where kind = 'end_user' and`,
    'label',
    'label',
  ],
};

/** The spend of keys, labels or windows, with the call log. */
function totalsOfNamed(flavour: Flavour, kind: NamedKind, ids: readonly string[]): RawBuilder<unknown> {
  const among = (): RawBuilder<unknown> => textsIn(flavour, ids.map(storable));
  const [totals, column, loggedId] = STORED[kind];
  const name = sql`t.value ->> ${sql.lit(loggedId)}`;
  const ofKind = loggedId === 'label' ? sql`and t.value ->> 'kind' = ${kind}` : sql``;
  return sql`
    ${totals} ${sql.ref(column)} in ${among()}
    union all
    select ${name}, '', cast(t.value ->> 'total' as bigint) from ${loggedTotals(flavour)} where ${name} in ${among()} ${ofKind}`;
}

/** The spend of the keys of owners, with the call log. Reads the relation `owned`. */
function totalsOfOwned(flavour: Flavour): RawBuilder<unknown> {
  return sql`
    select o.id, o.member_user_id, k.total from owned o join key_spend k on k.key_hash = o.hash
    union all
    select o.id, o.member_user_id, cast(t.value ->> 'total' as bigint)
    from ${loggedTotals(flavour)} join owned o on o.hash = t.value ->> 'key_hash'`;
}

/** Tables of the keys with owners: virtual keys, deleted ones included, and the keys of signed tokens. */
const KEY_TABLES = ['virtual_key', 'token_key'] as const;

/** The keys of owners: the key as `hash`, and its owner as `id` and `member_user_id`. */
export function ownedKeys(flavour: Flavour, kind: KeyOwnerKind, ids: readonly string[]): RawBuilder<unknown> {
  // The key of signed tokens has no project.
  const tables = kind === 'project' ? (['virtual_key'] as const) : KEY_TABLES;
  return sql.join(
    tables.map((table) => ownedKeysIn(sql.table(table), kind, { flavour, ids })),
    sql` union all `,
  );
}

/** Keys that owners leave at their deletion, in the columns of `ownedKeys`. */
const earlierKeys = (flavour: Flavour, kind: StartedKind, ids: readonly string[]): RawBuilder<unknown> => {
  const deleted = sql`(select hash, team_id, user_id from virtual_key where deleted_at is not null) deleted_key`;
  return sql`
    ${ownedKeysIn(deleted, kind, { flavour, ids })}
    union all ${ownedKeysIn(sql.table('token_key'), kind, { flavour, ids })}`;
};

function ownedKeysIn(
  keys: RawBuilder<unknown>,
  kind: KeyOwnerKind,
  { flavour, ids }: { readonly flavour: Flavour; readonly ids: readonly string[] },
): RawBuilder<unknown> {
  const among = (): RawBuilder<unknown> => textsIn(flavour, ids.map(storable));
  switch (kind) {
    case 'team':
      return sql`select hash, team_id as id, '' as member_user_id from ${keys} where team_id in ${among()}`;
    case 'user':
      return sql`select hash, user_id as id, '' as member_user_id from ${keys} where user_id in ${among()}`;
    case 'member': {
      const pairs = ids.map((id) => (JSON.parse(id) as readonly string[]).map(storable));
      return sql`select hash, team_id as id, user_id as member_user_id from ${keys}
        where (team_id, user_id) in ${tuplesIn(flavour, 2, pairs)}`;
    }
    case 'project':
      return sql`select hash, project_id as id, '' as member_user_id from ${keys} where project_id in ${among()}`;
    case 'organization':
      return sql`select k.hash, t.organization_id as id, '' as member_user_id from team t join ${keys} k on k.team_id = t.id
        where t.organization_id in ${among()}
        union all
        select hash, organization_id as id, '' as member_user_id from ${keys}
        where organization_id in ${among()} and team_id is null`;
  }
}

/** Sums totals by id. `relations` are the common table expressions that `totals` reads. */
async function readSums(
  { reader, inFlight }: Database,
  kind: SummedKind | 'key',
  { relations = sql``, totals }: { readonly relations?: RawBuilder<unknown>; readonly totals: RawBuilder<unknown> },
): Promise<ReadonlyMap<string, Usd>> {
  const { rows } = await inFlight.read(() =>
    sql<{ id: string; member_user_id: string; total: string }>`
      ${relations}
      select id, member_user_id, cast(sum(total) as text) as total
      from (${totals}) spent group by id, member_user_id
    `.execute(reader()),
  );
  return new Map(
    rows.map(({ id, member_user_id: memberUserId, total }) => [
      kind === 'member' ? memberId(id, memberUserId) : id,
      BigInt(total) as Usd,
    ]),
  );
}

const withOwned = (keys: RawBuilder<unknown>): RawBuilder<unknown> => sql`with owned as (${keys})`;

/**
 * The spend of keys, owners, labels and windows, including the call log, so that admission does not wait for unfolding.
 */
export const createTotalsOf =
  (database: Database) =>
  (kind: SummedKind | 'key', ids: readonly string[]): Promise<ReadonlyMap<string, Usd>> => {
    const { flavour } = database;
    if (isNamed(kind)) return readSums(database, kind, { totals: totalsOfNamed(flavour, kind, ids) });
    const relations = withOwned(ownedKeys(flavour, kind, ids));
    return readSums(database, kind, { relations, totals: totalsOfOwned(flavour) });
  };

/** The spend that earlier owners with these ids left, including the call log. */
export const createTotalsOfEarlierOwners =
  (database: Database): SpendStore['totalsOfEarlierOwners'] =>
  (kind, ids) => {
    const { flavour } = database;
    const relations = withOwned(earlierKeys(flavour, kind, ids));
    return readSums(database, kind, { relations, totals: totalsOfOwned(flavour) });
  };
