import {
  ACTIVITY_FIELDS,
  dailyActivity,
  DAY_MS,
  type DayActivity,
  keysByEntity,
  type KeySums,
  byUncachedTokens,
  sumsByKey,
  withoutHits,
  withShownKeys,
} from '../src/domain/spend/daily-activity.ts';
import type { Period } from '../src/domain/spend/report-dates.ts';
import type { SpendField, SpendFilter, SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { activityFilter, type ActivityNames, activityNames, type EntityQuery } from './operation/activity-view.ts';
import { operation } from './operation/operation.ts';
import type { ActivityPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { activityReader } from './operation/spend-access.ts';

/**
 * Maximum number of groups of a report. A day has one group per key, entity, model, provider and endpoint. Further
 * groups, which have the lowest cost, are left out.
 */
const MAX_GROUPS = 100_000;

/** Query of daily activity. */
export interface ActivityQuery extends EntityQuery {
  readonly filter: EntityQuery['filter'] & Period;
  /** Offset of the time zone of the days, in ms. It is added to start times. */
  readonly offsetMs: number;
  /** Number of days with calls to skip. The newest days are skipped first. */
  readonly from: number;
  readonly limit: number;
  /** Maximum number of keys in the breakdowns, those of the highest cost; null for all. */
  readonly keyLimit: number | null;
}

export interface Activity {
  readonly days: readonly DayActivity[];
  /** Number of days with calls, on all pages. */
  readonly totalDays: number;
  /** Number of keys with calls on these days, including keys that are not in the breakdowns. */
  readonly totalKeys: number;
  /** Number of keys with calls, by the name of the entity. */
  readonly keysByEntity: ReadonlyMap<string, number>;
  readonly names: ActivityNames;
}

/** The period from the first of these days to the end of the last. */
const periodOf = (days: readonly SpendGroup[]): Period => {
  const starts = days.map(({ startMs }) => startMs ?? 0);
  return { from: new Date(Math.min(...starts)), to: new Date(Math.max(...starts) + DAY_MS) };
};

/** Calls by day with breakdowns. `activityFilter` decides which calls a caller sees. */
export const readDailyActivity = operation({
  name: 'readDailyActivity',
  access: activityReader,
  async run(scope: Scope<ActivityPlatform>, query: ActivityQuery): Promise<Activity> {
    const { entity, offsetMs, from, limit } = query;
    const requestedPeriod: Period = query.filter;
    const { stores, records } = scope.platform;
    const filter = await activityFilter(scope, query);
    await records.readable();
    const bucket = { ms: DAY_MS, offsetMs };
    const periodMs = requestedPeriod.to.getTime() - requestedPeriod.from.getTime();
    // When one page covers the period, the days need not be listed first.
    const isOnePage = from === 0 && periodMs <= limit * DAY_MS;
    const all = isOnePage ? [] : await stores.spendReports.groups({ filter, by: [], bucket, limit: MAX_GROUPS });
    const shown = all.toSorted((left, right) => (right.startMs ?? 0) - (left.startMs ?? 0)).slice(from, from + limit);
    const period = isOnePage ? requestedPeriod : intersectionOf(requestedPeriod, periodOf(shown));
    const grouping = { filter: { ...filter, from: period.from, to: period.to }, bucket, limit: MAX_GROUPS };
    const isEmpty = !isOnePage && shown.length === 0;
    const groupsBy = (by: readonly SpendField[]): Promise<readonly SpendGroup[]> =>
      isEmpty ? Promise.resolve([]) : stores.spendReports.groups({ ...grouping, by });
    // Tags are grouped by a separate query: a call with several tags would count several times in its day.
    const isTags = entity === 'tag';
    const [groups, tagGroups] = await Promise.all([
      groupsBy(['key', ...ACTIVITY_FIELDS, ...(isTags ? [] : [entity])]),
      isTags ? groupsBy(['key', entity]) : null,
    ]);
    const days = dailyActivity(groups, tagGroups ?? groups, entity);
    return shownActivity(scope, query, { days, totalDays: isOnePage ? days.length : all.length, groups });
  },
});

async function shownActivity(
  scope: Scope<ActivityPlatform>,
  { entity, keyLimit }: ActivityQuery,
  found: Pick<Activity, 'days' | 'totalDays'> & { readonly groups: readonly SpendGroup[] },
): Promise<Activity> {
  const keys = sumsByKey(found.groups);
  const hashes = new Set(keys.slice(0, keyLimit ?? keys.length).map(({ hash }) => hash));
  const days = keyLimit === null ? found.days : found.days.map((day) => withShownKeys(day, hashes));
  const entities = new Set(days.flatMap((day) => day.entities.flatMap(({ name }) => name ?? [])));
  return {
    days,
    totalDays: found.totalDays,
    totalKeys: keys.length,
    keysByEntity: keysByEntity(found.days),
    names: await activityNames(scope, entity, { hashes, entities: [...entities] }),
  };
}

/** Intersection of two periods. */
const intersectionOf = (left: Period, right: Period): Period => ({
  from: right.from > left.from ? right.from : left.from,
  to: right.to < left.to ? right.to : left.to,
});

/** Query of the keys of an activity. */
export interface ActivityKeysQuery extends EntityQuery {
  /** Part of the alias, hash, team or user of a key, case-insensitive; null for all keys. */
  readonly search: string | null;
  /** Sum by which the keys are sorted, descending. `uncachedTokens` leaves out keys without uncached prompt tokens. */
  readonly order: 'cost' | 'uncachedTokens';
  readonly from: number;
  readonly limit: number;
}

/** Keys with the sums of their calls, in the order of the query. */
export interface ActivityKeys {
  readonly keys: readonly KeySums[];
  readonly total: number;
  readonly names: ActivityNames;
}

/** Sums of calls by key. */
export const readActivityKeys = operation({
  name: 'readActivityKeys',
  access: activityReader,
  async run(scope: Scope<ActivityPlatform>, query: ActivityKeysQuery): Promise<ActivityKeys> {
    const { entity, search, order, from, limit } = query;
    const { stores, records } = scope.platform;
    const filter = await activityFilter(scope, query);
    await records.readable();
    const byCost = sumsByKey(await stores.spendReports.groups({ filter, by: ['key'], limit: MAX_GROUPS }));
    const all = order === 'cost' ? byCost : byUncachedTokens(withoutHits(byCost, await hitsOf(scope, filter)));
    const namesOf = (keys: readonly KeySums[]) =>
      activityNames(scope, entity, { hashes: keys.map(({ hash }) => hash), entities: [] });
    if (search === null) {
      const keys = all.slice(from, from + limit);
      return { keys, total: all.length, names: await namesOf(keys) };
    }
    const names = await namesOf(all);
    const part = search.toLowerCase();
    const found = all.filter(({ hash }) => {
      const key = names.keys.get(hash);
      return [hash, key?.alias, key?.teamId, key?.userId].some((text) => text?.toLowerCase().includes(part) === true);
    });
    return { keys: found.slice(from, from + limit), total: found.length, names };
  },
});

/** Sums of the calls that a cached answer answered, by key. No provider received their input. */
const hitsOf = async ({ platform }: Scope<ActivityPlatform>, filter: SpendFilter): Promise<readonly KeySums[]> =>
  sumsByKey(
    await platform.stores.spendReports.groups({
      filter: { ...filter, some: [...(filter.some ?? []), 'cacheHit'] },
      by: ['key'],
      limit: MAX_GROUPS,
    }),
  );

/** Query of an activity export. */
export interface ActivityExportQuery extends EntityQuery {
  /** Further field to group by; null for one row per day and entity. */
  readonly by: 'key' | 'model' | 'user' | null;
  /** Offset of the time zone of the days, in ms. It is added to start times. Null does not group by day. */
  readonly offsetMs: number | null;
}

export interface ActivityExport {
  /** Grouped by day unless `offsetMs` is null, by entity and by the field of the query. Highest cost first. */
  readonly groups: readonly SpendGroup[];
  readonly names: ActivityNames;
  /** Aliases by user id when the query groups by user; null for a user without an alias. */
  readonly userAliases: ReadonlyMap<string, string | null>;
}

/** Sums of calls by entity, and by day unless `offsetMs` is null, for tables. */
export const readActivityTable = operation({
  name: 'readActivityTable',
  access: activityReader,
  async run(scope: Scope<ActivityPlatform>, query: ActivityExportQuery): Promise<ActivityExport> {
    const { entity, by, offsetMs } = query;
    const { stores, records } = scope.platform;
    const filter = await activityFilter(scope, query);
    await records.readable();
    const groups = await stores.spendReports.groups({
      filter,
      by: by === null || by === entity ? [entity] : [entity, by],
      ...(offsetMs === null ? {} : { bucket: { ms: DAY_MS, offsetMs } }),
      limit: MAX_GROUPS,
    });
    const values = (field: SpendField): readonly string[] => [
      ...new Set(groups.flatMap((group) => group.values[field] ?? [])),
    ];
    const names = await activityNames(scope, entity, { hashes: values('key'), entities: values(entity) });
    const users = by === 'user' ? await stores.users.findMany(values('user')) : [];
    return {
      groups,
      names: { ...names, emails: new Map([...names.emails, ...users.map(({ id, email }) => [id, email] as const)]) },
      userAliases: new Map(users.map(({ id, alias }) => [id, alias])),
    };
  },
});
