import { CompiledQuery, type Kysely } from 'kysely';
import { MAX_LABEL_CHARACTERS } from '../../domain/spend/label.ts';
import type { SqlFlavour } from '../database/database.ts';
import { type EncodedRow, rowsFrom, type RowTable, textsOf } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

/*
 * Sums of calls by day (UTC), for reports and budgets. They are updated in the transaction that stores the spend rows,
 * and stay when old spend rows are removed. Several processes may add to them in any order.
 */

export const DAY_MS = 86_400_000;

/** Maximum length of a text in a key column, in characters: an index entry of PostgreSQL has at most 2,704 bytes. */
export const MOST_KEY_CHARACTERS = MAX_LABEL_CHARACTERS;

/**
 * Name of the relation of new spend in the statements: one row of sums for each day and combination of
 * `NEW_SPEND_KEYS`.
 */
export const NEW_SPEND = 'new_spend';

const truncated = (column: string): string => `substr(coalesce(${column}, ''), 1, ${MOST_KEY_CHARACTERS})`;

/** Key columns that `spend_day` and `spend_day_label` share, without the day. */
const SHARED_KEYS = ['key_hash', 'team_id', 'user_id', 'provider', 'model', 'model_group', 'call_type'] as const;

/** Columns of a spend row whose values are equal in all calls of a row of `new_spend`. */
export const NEW_SPEND_KEYS = [...SHARED_KEYS, 'status', 'tags', 'end_user'] as const;

/** Columns of a spend row that `new_spend` sums. */
export const NEW_SPEND_COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost',
] as const;

/** SQL of the start of the UTC day of a time, Unix ms. */
export const dayOf = (time: string): string => `${time} - ${time} % ${DAY_MS}`;

/** Columns of `new_spend`: its keys, the day, then the sums. */
const NEW_SPEND_COLUMNS = [
  ...NEW_SPEND_KEYS,
  'started_at',
  'calls',
  ...NEW_SPEND_COUNTS,
  'total_ms',
  'last_ms',
] as const;

/** Key columns of both `spend_day` and `spend_day_label`, each with its value from a row of `new_spend`. */
const KEYS: readonly (readonly [name: string, value: string])[] = [
  ['started_at', 'started_at'],
  ...SHARED_KEYS.map((name) => [name, truncated(name)] as const),
];

/** Sum columns, each with its value for a single spend row. */
export const DAY_SUM_COLUMNS: readonly (readonly [name: string, value: string])[] = [
  ['calls', '1'],
  ['failures', "case when status = 'failure' then 1 else 0 end"],
  ['input_tokens', 'coalesce(input_tokens, 0)'],
  ['output_tokens', 'coalesce(output_tokens, 0)'],
  ['cache_read_tokens', 'coalesce(cache_read_tokens, 0)'],
  ['cache_write_tokens', 'coalesce(cache_write_tokens, 0)'],
  ['cost', 'coalesce(cost, 0)'],
  ['success_ms', "case when status = 'success' then ended_at - started_at else 0 end"],
];

/** Sum columns, each with its value from a row of `new_spend`. */
const NEW_SPEND_SUMS: readonly (readonly [name: string, value: string])[] = [
  ['calls', 'calls'],
  ['failures', "case when status = 'failure' then calls else 0 end"],
  ...NEW_SPEND_COUNTS.map((name) => [name, name] as const),
  ['success_ms', "case when status = 'success' then total_ms else 0 end"],
];

/** Key columns except the day, each with its value from a spend row, for a union with sums. */
export const DAY_KEY_COLUMNS: readonly (readonly [name: string, value: string])[] = SHARED_KEYS.map((name) => [
  name,
  truncated(name),
]);

/** A table of sums, and the relation whose rows are added to it. */
interface Target {
  readonly table: 'spend_day' | 'spend_day_label';
  readonly keys: readonly (readonly [name: string, value: string])[];
  readonly from: string;
}

/**
 * The statement that adds the new spend to a table. It sorts by key, so that all processes lock rows in the same order.
 * `where 1 = 1` keeps SQLite from reading `on conflict` as a join condition.
 */
function addition({ table, keys, from }: Target): string {
  const names = [...keys.map(([name]) => name), ...NEW_SPEND_SUMS.map(([name]) => name), 'last_ms'];
  const keyNumbers = keys.map((_key, at) => at + 1).join(', ');
  const sums = NEW_SPEND_SUMS.map(([, value]) => `cast(sum(${value}) as bigint)`);
  const values = [...keys.map(([, value]) => value), ...sums, 'max(last_ms)'];
  const updates = NEW_SPEND_SUMS.map(([name]) => `${name} = ${table}.${name} + excluded.${name}`);
  const lastUpdate = `last_ms = case when excluded.last_ms > ${table}.last_ms then excluded.last_ms else ${table}.last_ms end`;
  return `insert into ${table} (${names.join(', ')})
    select ${values.join(', ')} from ${from} where 1 = 1 group by ${keyNumbers} order by ${keyNumbers}
    on conflict (${keys.map(([name]) => name).join(', ')}) do update set ${[...updates, lastUpdate].join(', ')}`;
}

/** The query of `new_spend` from spend rows. */
export function newSpendOf(rows: string): string {
  const keys = [...NEW_SPEND_KEYS, `${dayOf('started_at')} as started_at`];
  const counts = NEW_SPEND_COUNTS.map((name) => `sum(coalesce(${name}, 0)) as ${name}`);
  const times = ['sum(ended_at - started_at) as total_ms', 'max(ended_at) as last_ms'];
  return `select ${[...keys, 'count(*) as calls', ...counts, ...times].join(', ')}
    from (${rows}) spent group by ${keys.map((_key, at) => at + 1).join(', ')}`;
}

/** Statements that add `new_spend` to the sums: by key and model, then by tag and end user. */
export function dailyAdditions(flavour: SqlFlavour): readonly string[] {
  const tags = `${NEW_SPEND} cross join ${textsOf(flavour, 'tags')} as tag`;
  const columns = NEW_SPEND_COLUMNS.map((name) => `${NEW_SPEND}.${name}`).join(', ');
  const labelled = `(
      select 'tag' as kind, tag.value as label, ${columns} from ${tags} where tags is not null
      union all
      select 'end_user' as kind, end_user as label, ${columns} from ${NEW_SPEND} where end_user is not null
    ) labelled`;
  return [
    addition({
      table: 'spend_day',
      keys: [...KEYS, ['tagged', 'case when tags is null then 0 else 1 end']],
      from: NEW_SPEND,
    }),
    addition({
      table: 'spend_day_label',
      keys: [['kind', 'kind'], ['label', truncated('label')], ...KEYS],
      from: labelled,
    }),
  ];
}

/** Returns a function that adds encoded spend rows, all of which are new, to the sums of their days. */
export function createDailySumsAdder(
  flavour: SqlFlavour,
  spendRows: RowTable<'spend_row'>,
): (db: Kysely<Tables>, rows: readonly EncodedRow[]) => Promise<void> {
  let texts: readonly string[] | null = null;
  const textOf = (db: Kysely<Tables>, statement: string): string => {
    const rows = rowsFrom(flavour, spendRows, []).compile(db).sql;
    return `with ${NEW_SPEND} as materialized (${newSpendOf(rows)}) ${statement}`;
  };
  return async (db, rows) => {
    if (rows.length === 0) return;
    texts ??= dailyAdditions(flavour).map((statement) => textOf(db, statement));
    for (const text of texts) await db.executeQuery(CompiledQuery.raw(text, [`[${rows.join(',')}]`]));
  };
}
