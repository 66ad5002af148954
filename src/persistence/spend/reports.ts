import { sql, type RawBuilder } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import {
  type FieldValues,
  SPEND_FIELDS,
  type SpendField,
  type SpendFilter,
  type SpendGroup,
  type SpendGrouping,
  type SpendPage,
  type SpendReports,
  type SpendSort,
} from '../../domain/spend/spend-reports.ts';
import { amountText, storable } from '../../domain/storable.ts';
import type { Database, SqlFlavour } from '../database/database.ts';
import { everyColumn, rowTable, textsIn, textsOf } from '../database/rows.ts';
import { dailyRelation } from './daily-reports.ts';
import { ownedKeys } from './owner-totals.ts';
import { spendRowOf, type StoredRow } from './spend-rows.ts';

type Sql = RawBuilder<unknown>;

/** Columns of the fields, except tags. */
const COLUMNS: Readonly<Record<Exclude<SpendField, 'tag'>, Sql>> = {
  organization: sql`case when coalesce(spend_row.team_id, '') = ''
    then coalesce((select virtual_key.organization_id from virtual_key where virtual_key.hash = spend_row.key_hash),
      (select token_key.organization_id from token_key where token_key.hash = spend_row.key_hash))
    else (select team.organization_id from team where team.id = spend_row.team_id) end`,
  agent: sql`(select virtual_key.settings ->> 'agentId' from virtual_key where virtual_key.hash = spend_row.key_hash)`,
  key: sql`spend_row.key_hash`,
  user: sql`spend_row.user_id`,
  team: sql`spend_row.team_id`,
  endUser: sql`spend_row.end_user`,
  session: sql`spend_row.session_id`,
  model: sql`(spend_row.provider || '/' || spend_row.model)`,
  modelGroup: sql`spend_row.model_group`,
  provider: sql`spend_row.provider`,
  deployment: sql`spend_row.deployment_id`,
  callType: sql`spend_row.call_type`,
  status: sql`spend_row.status`,
  errorCode: sql`spend_row.error_code`,
  cacheHit: sql`case when spend_row.cache_hit_key is null then null else 'hit' end`,
};

const SORTS: Readonly<Record<SpendSort, Sql>> = {
  startTime: sql`spend_row.started_at`,
  endTime: sql`spend_row.ended_at`,
  spend: sql`coalesce(spend_row.cost, 0)`,
  total_tokens: sql`(coalesce(spend_row.input_tokens, 0) + coalesce(spend_row.output_tokens, 0))`,
  model: sql`spend_row.model`,
};

/** The tags of a row as a table `tag` with the column `value`. */
const tagsOf = (flavour: SqlFlavour): Sql => sql`${sql.raw(textsOf(flavour, 'spend_row.tags'))} as tag`;

const matching = (filter: SpendFilter, flavour: SqlFlavour): Sql => sql.join(conditionsOf(filter, flavour), sql` and `);

function conditionsOf(
  { from, to, any, none = {}, some = [], ...more }: SpendFilter,
  flavour: SqlFlavour,
): readonly Sql[] {
  const conditions: Sql[] = [sql`1 = 1`];
  if (from !== null) conditions.push(sql`spend_row.started_at >= ${from.getTime()}`);
  if (to !== null) conditions.push(sql`spend_row.started_at < ${to.getTime()}`);
  for (const [field, values] of valuesIn(any)) conditions.push(hasOneOf(field, values, flavour));
  for (const [field, values] of valuesIn(none)) conditions.push(sql`not ${hasOneOf(field, values, flavour)}`);
  for (const field of some) conditions.push(hasValue(field));
  const { ownedBy, requestId, sessionId, minCost, maxCost, visibleTo } = more;
  if (ownedBy !== undefined) {
    const owned = ownedKeys(flavour, ownedBy.kind, [ownedBy.id]);
    conditions.push(sql`spend_row.key_hash in (select owned.hash from (${owned}) owned)`);
  }
  if (requestId !== undefined) {
    const id = storable(requestId);
    conditions.push(sql`(spend_row.response_id = ${id} or spend_row.call_id = ${id} or spend_row.id = ${id})`);
  }
  if (sessionId !== undefined)
    conditions.push(sql`coalesce(spend_row.session_id, spend_row.trace_id) = ${storable(sessionId)}`);
  const cost = sql`coalesce(spend_row.cost, 0)`;
  if (minCost !== undefined) conditions.push(sql`${cost} >= cast(${amountText(minCost)} as bigint)`);
  if (maxCost !== undefined) conditions.push(sql`${cost} <= cast(${amountText(maxCost)} as bigint)`);
  if (visibleTo !== null) conditions.push(isVisible(visibleTo, flavour));
  return conditions;
}

function isVisible({ keyHash, userId, teamIds = [] }: NonNullable<SpendFilter['visibleTo']>, flavour: SqlFlavour): Sql {
  const visible = [sql`spend_row.key_hash = ${keyHash}`];
  if (userId !== null) visible.push(sql`spend_row.user_id = ${storable(userId)}`);
  if (teamIds.length > 0) visible.push(sql`spend_row.team_id in ${textsIn(flavour, teamIds.map(storable))}`);
  return sql`(${sql.join(visible, sql` or `)})`;
}

/** Condition that a row has a value. In the sums of days, an absent value is an empty text. */
function hasValue(field: SpendField): Sql {
  if (field === 'tag') return sql`spend_row.tags is not null`;
  // The condition of the index of cache hits.
  if (field === 'cacheHit') return sql`spend_row.cache_hit_key is not null`;
  return sql`coalesce(${COLUMNS[field]}, '') <> ''`;
}

/** Fields with values, in a fixed order. */
const valuesIn = (values: FieldValues): readonly (readonly [SpendField, readonly string[]])[] =>
  SPEND_FIELDS.flatMap((field) => {
    const given = values[field];
    return given === undefined ? [] : [[field, given.map(storable)] as const];
  });

/**
 * Condition that a field has one of these values; false, never null, for a row without a value. A model also matches by
 * its name without the provider.
 */
function hasOneOf(field: SpendField, values: readonly string[], flavour: SqlFlavour): Sql {
  const wanted = textsIn(flavour, values);
  if (field === 'tag') return sql`exists (select 1 from ${tagsOf(flavour)} where tag.value in ${wanted})`;
  const own = sql`coalesce(${COLUMNS[field]}, '') in ${wanted}`;
  return field === 'model' ? sql`(${own} or spend_row.model in ${wanted})` : own;
}

/** Condition on the tags in a grouping by tag: only tags that the filter allows get a group. */
function shownTags({ any, none }: SpendFilter, flavour: SqlFlavour): Sql {
  const conditions = [sql`1 = 1`];
  if (any.tag !== undefined) conditions.push(sql`tag.value in ${textsIn(flavour, any.tag.map(storable))}`);
  if (none?.tag !== undefined) conditions.push(sql`tag.value not in ${textsIn(flavour, none.tag.map(storable))}`);
  return sql.join(conditions, sql` and `);
}

interface StoredGroup extends Readonly<Record<string, unknown>> {
  readonly start_ms: number | null;
  readonly calls: number;
  readonly failures: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly cost: string;
  readonly success_ms: number;
  readonly last_ms: number | null;
}

const groupOf = (row: StoredGroup, by: SpendGrouping['by']): SpendGroup => ({
  // In the sums of days, an absent value is an empty text. In old rows, an absent id may be whitespace.
  values: Object.fromEntries(by.map((field) => [field, nullIfBlank(row[`of_${field}`] as string | null)])),
  startMs: row.start_ms,
  calls: row.calls,
  failures: row.failures,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  cacheReadTokens: row.cache_read_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  cost: BigInt(row.cost) as Usd,
  successMs: row.success_ms,
  lastMs: row.last_ms,
});

/** Sum of whole numbers as a double, which both drivers read as a number. It is exact below 2^53. */
const total = (value: Sql): Sql => sql`cast(coalesce(sum(${value}), 0) as double precision)`;

const SUMS = sql`
  cast(count(*) as double precision) as calls,
  ${total(sql`case when spend_row.status = 'failure' then 1 else 0 end`)} as failures,
  ${total(sql`spend_row.input_tokens`)} as input_tokens,
  ${total(sql`spend_row.output_tokens`)} as output_tokens,
  ${total(sql`spend_row.cache_read_tokens`)} as cache_read_tokens,
  ${total(sql`spend_row.cache_write_tokens`)} as cache_write_tokens,
  cast(coalesce(sum(spend_row.cost), 0) as text) as cost,
  ${total(sql`case when spend_row.status = 'success' then spend_row.ended_at - spend_row.started_at else 0 end`)} as success_ms,
  cast(max(spend_row.ended_at) as double precision) as last_ms`;

/** SQL of the start of the bucket of a call, Unix ms. */
const bucketOf = ({ ms, offsetMs }: NonNullable<SpendGrouping['bucket']>): Sql =>
  sql`((spend_row.started_at + ${sql.lit(offsetMs)}) / ${sql.lit(ms)}) * ${sql.lit(ms)} - ${sql.lit(offsetMs)}`;

/** A relation to group: its SQL, the column of the tag, the conditions, and the sums. */
interface GroupedRelation {
  readonly relation: Sql;
  readonly tag: Sql;
  readonly conditions: Sql;
  readonly sums: Sql;
}

/** Reports over spend rows, grouped inside the database. Sums of costs are exact. */
export function createSpendReports({ orm, flavour, inFlight, reader, readRows }: Database): SpendReports {
  const spendRows = rowTable(orm, 'spend_row');
  /** Sort columns of rows with an equal value of `SORTS`. */
  const places = [sql`spend_row.started_at`, sql`spend_row.trace_id`, sql`spend_row.span_id`, sql`spend_row.id`];

  function pageOf({ filter, sort, descending, limit, from }: SpendPage): Sql {
    const direction = descending ? sql`desc` : sql`asc`;
    const order = sql.join([SORTS[sort], ...places].map((place) => sql`${place} ${direction}`));
    const conditions = [matching(filter, flavour)];
    if (typeof from !== 'number') {
      const { startedAt, traceId, spanId, id, rank } = from;
      const after: unknown[] = [startedAt.getTime(), storable(traceId), storable(spanId), storable(id)];
      // A place in the order of the start has no rank, because the start is the first of `places`.
      const ranked = rank === undefined ? places : [SORTS[sort], ...places];
      if (rank !== undefined) after.unshift(sql`cast(${amountText(rank)} as bigint)`);
      conditions.push(sql`(${sql.join(ranked)}) ${descending ? sql`<` : sql`>`} (${sql.join(after)})`);
    }
    return sql`
      select ${sql.join(everyColumn(spendRows))} from spend_row where ${sql.join(conditions, sql` and `)}
      order by ${order} limit ${limit} offset ${typeof from === 'number' ? from : 0}`;
  }

  /** The calls, one row for each tag where they are grouped by tag. */
  function callsOf({ filter, by }: SpendGrouping): GroupedRelation {
    const isByTag = by.includes('tag');
    return {
      relation: sql`spend_row ${isByTag ? sql`cross join ${tagsOf(flavour)}` : sql``}`,
      tag: sql`tag.value`,
      conditions: sql`${matching(filter, flavour)} ${isByTag ? sql`and ${shownTags(filter, flavour)}` : sql``}`,
      sums: SUMS,
    };
  }

  /** The sums of days when they answer the grouping, because they are fewer than the calls; otherwise the calls. */
  function relationOf(grouping: SpendGrouping): GroupedRelation {
    const daily = dailyRelation(grouping, flavour);
    return daily === null ? callsOf(grouping) : { ...daily, conditions: matching(daily.filter, flavour) };
  }

  function groupsOf(grouping: SpendGrouping): Sql {
    const { by, bucket, limit } = grouping;
    const { relation, tag, conditions, sums } = relationOf(grouping);
    const named = by.map((field) => (field === 'tag' ? tag : COLUMNS[field]));
    const keys = bucket === undefined ? named : [...named, bucketOf(bucket)];
    const selected = by.map((field, at) => sql`${named[at]} as ${sql.ref(`of_${field}`)}`);
    const start = bucket === undefined ? sql`null` : sql`cast(${bucketOf(bucket)} as double precision)`;
    return sql`
      select ${sql.join([...selected, sql`${start} as start_ms`, sums])} from ${relation} where ${conditions}
      ${keys.length === 0 ? sql`` : sql`group by ${sql.join(keys)}`}
      order by coalesce(sum(spend_row.cost), 0) desc, calls desc limit ${limit}`;
  }

  return {
    rows: (page) =>
      readRows(async (db) => {
        const { rows } = await (pageOf(page) as RawBuilder<StoredRow>).execute(db);
        return rows.map(spendRowOf);
      }),
    count: (filter, most) =>
      readRows(async (db) => {
        const { rows } = await sql<{ matches: number }>`
          select cast(count(*) as double precision) as matches
          from (select 1 as one from spend_row where ${matching(filter, flavour)} limit ${most}) matching
        `.execute(db);
        return rows[0]?.matches ?? 0;
      }),
    groups: (grouping) =>
      inFlight.read(async () => {
        const { rows } = await (groupsOf(grouping) as RawBuilder<StoredGroup>).execute(reader());
        return rows.map((row) => groupOf(row, grouping.by));
      }),
  };
}
