import { Forbidden } from '../src/domain/errors.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import {
  ACTIVITY_FIELDS,
  type ActivityEntity,
  dailyActivity,
  DAY_MS,
  type DayActivity,
} from '../src/domain/spend/daily-activity.ts';
import type { Period } from '../src/domain/spend/report-dates.ts';
import type { SpendGroup } from '../src/domain/spend/spend-reports.ts';
import { isAnyAdmin, spendReader } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { type AskedFilter, keysByHash, visibleFilter } from './spend.ts';

/** Most groups of a report: a day has one per key, model and endpoint. Beyond, those of the lowest cost are left out. */
const MOST_GROUPS = 100_000;

/** What a caller asks of an activity. */
export interface ActivityQuery {
  readonly entity: ActivityEntity;
  readonly filter: AskedFilter & Period;
  /** What is added to a start time for the days of a time zone, in ms. */
  readonly offsetMs: number;
  /** Which of the days with calls, newest first. */
  readonly from: number;
  readonly limit: number;
}

export interface Activity {
  readonly days: readonly DayActivity[];
  /** Number of days with calls, on all pages. */
  readonly totalDays: number;
  readonly keys: ReadonlyMap<string, VirtualKey>;
}

/** The period of some of the days of a report. */
const within = (days: readonly SpendGroup[]): Period => {
  const starts = days.map(({ startMs }) => startMs ?? 0);
  return { from: new Date(Math.min(...starts)), to: new Date(Math.max(...starts) + DAY_MS) };
};

/**
 * Calls by day with breakdowns: administrators see all, users their own. Users may ask for no other user, and for no
 * other entity than users. Throws Forbidden.
 */
export const readDailyActivity = operation({
  name: 'readDailyActivity',
  access: spendReader,
  async run(scope: Scope<SpendPlatform>, query: ActivityQuery): Promise<Activity> {
    const { entity, filter: asked, offsetMs, from, limit } = query;
    assertOwnActivity(scope, query);
    const { stores, records } = scope.platform;
    await records.readable();
    const filter = await visibleFilter(scope, asked);
    const bucket = { ms: DAY_MS, offsetMs };
    const isOnePage = from === 0 && asked.to.getTime() - asked.from.getTime() <= limit * DAY_MS;
    const all = isOnePage ? [] : await stores.spendReports.groups({ filter, by: [], bucket, limit: MOST_GROUPS });
    const shown = all.toSorted((left, right) => (right.startMs ?? 0) - (left.startMs ?? 0)).slice(from, from + limit);
    if (!isOnePage && shown.length === 0) return { days: [], totalDays: all.length, keys: new Map() };
    const period = isOnePage ? asked : narrowed(asked, within(shown));
    const grouping = { filter: { ...filter, from: period.from, to: period.to }, bucket, limit: MOST_GROUPS };
    // A call with several tags would count several times in its day.
    const isTags = entity === 'tag';
    const [groups, tagGroups] = await Promise.all([
      stores.spendReports.groups({ ...grouping, by: ['key', ...ACTIVITY_FIELDS, ...(isTags ? [] : [entity])] }),
      isTags ? stores.spendReports.groups({ ...grouping, by: ['key', entity] }) : null,
    ]);
    const days = dailyActivity(groups, tagGroups ?? groups, entity);
    const keys = await keysByHash(
      scope,
      groups.flatMap(({ of }) => of.key ?? []),
    );
    return { days, totalDays: isOnePage ? days.length : all.length, keys };
  },
});

/** The part of a period that another one covers. */
const narrowed = (asked: Period, days: Period): Period => ({
  from: days.from > asked.from ? days.from : asked.from,
  to: days.to < asked.to ? days.to : asked.to,
});

function assertOwnActivity(scope: Scope<SpendPlatform>, { entity, filter }: ActivityQuery): void {
  const caller = callerOf(scope);
  if (isAnyAdmin(caller)) return;
  const users = filter.any.user ?? [];
  const isOwn = entity === 'user' && users.every((user) => user === idOrNull(caller.userId));
  if (!isOwn) throw new Forbidden('You can only view your own spend data.', 'key_owner');
}
