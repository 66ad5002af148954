import { type RawBuilder, sql } from 'kysely';
import type { SpendField, SpendFilter, SpendGrouping } from '../../domain/spend/spend-reports.ts';
import { storable } from '../../domain/storable.ts';
import type { SqlFlavour } from '../database/database.ts';
import { textsIn, textsOf } from '../database/rows.ts';
import { DAY_MS, MOST_KEY_CHARACTERS, DAY_KEY_COLUMNS, DAY_SUM_COLUMNS } from './daily-sums.ts';

type Sql = RawBuilder<unknown>;

/** Fields by which the sums of days can be filtered and grouped. */
const FIELDS: ReadonlySet<SpendField> = new Set([
  'key',
  'user',
  'team',
  'organization',
  'agent',
  'endUser',
  'tag',
  'model',
  'modelGroup',
  'provider',
  'callType',
]);

/** A relation named `spend_row`: the sums of the whole days of a period, and each call of its partial days. */
export interface DailyRelation {
  readonly relation: Sql;
  /** Conditions that a query of the relation must still apply. */
  readonly filter: SpendFilter;
  /** Column of the tag. */
  readonly tag: Sql;
  readonly sums: Sql;
}

/** Which sums: `all` of all calls, `tagged` of the calls with tags, `tag` by tag, `end_user` by end user. */
type SumsKind = 'all' | 'tagged' | 'tag' | 'end_user';

/** Whether the sums store a value completely. Longer values are truncated. */
const isStoredWhole = (value: string): boolean => value.length <= MOST_KEY_CHARACTERS;

/** The kind of sums that a grouping needs; null when it needs the calls. */
function sumsKindOf({ by, filter }: SpendGrouping): SumsKind | null {
  const { any, none = {}, some = [] } = filter;
  const tags = any.tag;
  const byTag = by.includes('tag');
  const ofEndUsers = any.endUser !== undefined || some.includes('endUser');
  if (none.tag !== undefined) return null;
  // In a sum over several tags, a call with two of these tags would count twice.
  if (tags !== undefined && !byTag && tags.length !== 1) return null;
  // No sums are by tag and by end user together.
  const ofTags = byTag || tags !== undefined;
  if (ofTags && (ofEndUsers || by.includes('endUser'))) return null;
  if (ofTags) return none.endUser === undefined ? 'tag' : null;
  if (ofEndUsers) return some.includes('tag') ? null : 'end_user';
  // These groupings include calls without an end user, which the sums by end user lack.
  if (by.includes('endUser') || none.endUser !== undefined) return null;
  return some.includes('tag') ? 'tagged' : 'all';
}

const isWholeDays = (ms: number): boolean => ms % DAY_MS === 0;

/** Whether the sums of days have every field, value and bucket of a grouping. */
function daySumsSuffice({ by, filter, bucket }: SpendGrouping): boolean {
  const { any, none = {}, some = [], requestId, sessionId, minCost, maxCost } = filter;
  if ([requestId, sessionId, minCost, maxCost].some((condition) => condition !== undefined)) return false;
  if (bucket !== undefined && !(isWholeDays(bucket.ms) && isWholeDays(bucket.offsetMs))) return false;
  const fields = [...by, ...some, ...Object.keys(any), ...Object.keys(none)] as readonly SpendField[];
  if (!fields.every((field) => FIELDS.has(field))) return false;
  return [...Object.values(any), ...Object.values(none)].flat().every(isStoredWhole);
}

/** The whole days of a period, and the partial days before and after them. */
interface Parts {
  readonly days: readonly [from: number | null, to: number | null];
  readonly partialDays: readonly (readonly [from: number, to: number])[];
}

/** Null for a period without a whole day. */
function partsOf({ from, to }: Pick<SpendFilter, 'from' | 'to'>): Parts | null {
  const [fromMs, toMs] = [from?.getTime() ?? null, to?.getTime() ?? null];
  const daysFromMs = fromMs === null ? null : Math.ceil(fromMs / DAY_MS) * DAY_MS;
  const daysToMs = toMs === null ? null : Math.floor(toMs / DAY_MS) * DAY_MS;
  if (daysFromMs !== null && daysToMs !== null && daysFromMs >= daysToMs) return null;
  const before = fromMs !== null && daysFromMs !== null && fromMs < daysFromMs ? [[fromMs, daysFromMs] as const] : [];
  const after = toMs !== null && daysToMs !== null && daysToMs < toMs ? [[daysToMs, toMs] as const] : [];
  return { days: [daysFromMs, daysToMs], partialDays: [...before, ...after] };
}

/** Columns of the sums of days, under the names of the relation. */
const DAY_COLUMNS = [
  ...DAY_KEY_COLUMNS.map(([name]) => name),
  'started_at',
  ...DAY_SUM_COLUMNS.map(([name]) => name),
  'last_ms',
];

/** The same columns of a call. */
const CALL_COLUMNS = [
  ...DAY_KEY_COLUMNS,
  ['started_at', 'started_at'] as const,
  ...DAY_SUM_COLUMNS,
  ['last_ms', 'ended_at'] as const,
].map(([name, value]) => `${value} as ${name}`);

/** Sums of whole days. */
function ofDays(kind: SumsKind, [from, to]: Parts['days'], labels: Sql | null): Sql {
  const isLabel = kind === 'tag' || kind === 'end_user';
  const conditions: Sql[] = [sql`1 = 1`];
  if (isLabel) conditions.push(sql`kind = ${kind}`);
  if (labels !== null) conditions.push(sql`label in ${labels}`);
  if (kind === 'tagged') conditions.push(sql`tagged = 1`);
  if (from !== null) conditions.push(sql`started_at >= ${from}`);
  if (to !== null) conditions.push(sql`started_at < ${to}`);
  const label = isLabel ? 'label' : 'null';
  return sql`select ${sql.raw(DAY_COLUMNS.join(', '))}, ${sql.raw(label)} as label
    from ${sql.raw(isLabel ? 'spend_day_label' : 'spend_day')} where ${sql.join(conditions, sql` and `)}`;
}

/** SQL of the label of a call. */
const LABEL_OF_CALL: Readonly<Record<SumsKind, string>> = {
  all: 'null',
  tagged: 'null',
  tag: 'tag.value',
  end_user: 'end_user',
};

/** The calls of a partial day, each as a row of sums. By tag, a call has one row for each of its tags. */
function ofCalls(kind: SumsKind, [from, to]: Parts['partialDays'][number], flavour: SqlFlavour): Sql {
  const conditions: Sql[] = [sql`started_at >= ${from}`, sql`started_at < ${to}`];
  if (kind === 'tagged' || kind === 'tag') conditions.push(sql`tags is not null`);
  if (kind === 'end_user') conditions.push(sql`end_user is not null`);
  const each = `${textsOf(flavour, 'tags')} as tag`;
  const label = LABEL_OF_CALL[kind];
  return sql`select ${sql.raw(CALL_COLUMNS.join(', '))}, ${sql.raw(label)} as label
    from spend_row ${sql.raw(kind === 'tag' ? `cross join ${each}` : '')} where ${sql.join(conditions, sql` and `)}`;
}

/** Sum of whole numbers as a double, which both drivers read as a number. It is exact below 2^53. */
const total = (name: string): Sql =>
  sql`cast(coalesce(sum(${sql.ref(`spend_row.${name}`)}), 0) as double precision) as ${sql.ref(name)}`;

const SUMS = sql`
  ${sql.join(DAY_SUM_COLUMNS.flatMap(([name]) => (name === 'cost' ? [] : [total(name)])))},
  cast(coalesce(sum(spend_row.cost), 0) as text) as cost,
  cast(max(spend_row.last_ms) as double precision) as last_ms`;

/** The labels that a filter names; null for all labels, and for sums without labels. */
function wantedLabels(kind: SumsKind, { any }: SpendFilter): readonly string[] | null {
  switch (kind) {
    case 'all':
    case 'tagged':
      return null;
    case 'tag':
      return any.tag ?? null;
    case 'end_user':
      return any.endUser ?? null;
  }
}

/** The filter without its conditions on period and labels, which the relation applies. */
function withoutLabels({ any, some = [], ...filter }: SpendFilter): SpendFilter {
  const { tag: _tag, endUser: _endUser, ...others } = any;
  return { ...filter, from: null, to: null, any: others, some: some.filter((field) => !isLabelField(field)) };
}

const isLabelField = (field: SpendField): boolean => field === 'tag' || field === 'endUser';

/** The relation for a grouping; null when the grouping needs the calls. */
export function dailyRelation(grouping: SpendGrouping, flavour: SqlFlavour): DailyRelation | null {
  const { filter } = grouping;
  const kind = daySumsSuffice(grouping) ? sumsKindOf(grouping) : null;
  const parts = partsOf(filter);
  if (kind === null || parts === null) return null;
  const wanted = wantedLabels(kind, filter);
  const labels = wanted === null ? null : textsIn(flavour, wanted.map(storable));
  const union = [ofDays(kind, parts.days, labels), ...parts.partialDays.map((part) => ofCalls(kind, part, flavour))];
  const endUser = kind === 'end_user' ? sql`all_parts.label as end_user` : sql`null as end_user`;
  // `ofDays` filters by label to use its index. This condition filters the calls of partial days.
  const where = labels === null ? sql`` : sql`where all_parts.label in ${labels}`;
  return {
    relation: sql`(select all_parts.*, ${endUser} from (${sql.join(union, sql` union all `)}) as all_parts ${where}) as spend_row`,
    filter: withoutLabels(filter),
    tag: sql`spend_row.label`,
    sums: SUMS,
  };
}
