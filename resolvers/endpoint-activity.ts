import { routeOfCallType } from '../src/domain/inference/call-route.ts';
import { DAY_MS, sumOfSpend } from '../src/domain/spend/daily-activity.ts';
import { assertReportDays, dayText, defaultPeriod } from '../src/domain/spend/report-dates.ts';
import type { SpendGroup, SpendSums } from '../src/domain/spend/spend-reports.ts';
import { operation } from './operation/operation.ts';
import type { SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { visibleFilter } from './operation/spend-filter.ts';
import { seesAllSpend, spendReader } from './operation/spend-access.ts';

/** Maximum number of groups, one per call type and day. Further groups, those of the lowest cost, are left out. */
const MAX_GROUPS = 10_000;

/** Calls of one endpoint. */
export interface EndpointActivity {
  /** Path without a version, e.g. `/chat/completions`; the call type itself when it belongs to no endpoint. */
  readonly endpoint: string;
  readonly sums: SpendSums;
  readonly lastSeen: Date | null;
  readonly days: readonly EndpointDay[];
}

export interface EndpointDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly sums: SpendSums;
}

/**
 * Calls by endpoint and day, endpoints with the most calls first. `seesAllSpend` decides who sees all calls; other
 * callers see those of their key and user. `start` and `end` are UTC days, `YYYY-MM-DD`, both included. A null `start`
 * is 30 days ago, a null `end` is today. Throws InvalidInput for a text that is not a day, for an empty period, and for
 * more than 366 days.
 */
export const readEndpointActivity = operation({
  name: 'readEndpointActivity',
  access: spendReader,
  async run(
    scope: Scope<SpendPlatform>,
    { start, end }: { readonly start: string | null; readonly end: string | null },
  ): Promise<readonly EndpointActivity[]> {
    const { stores, records, clock } = scope.platform;
    const now = clock.now();
    const defaults = defaultPeriod(now);
    const period = assertReportDays(start ?? dayText(defaults.from.getTime()), end ?? dayText(now.getTime()));
    const filter = await visibleFilter(scope, { ...period, any: {} }, seesAllSpend);
    await records.readable();
    const bucket = { ms: DAY_MS, offsetMs: 0 };
    const groups = await stores.spendReports.groups({ filter, by: ['callType'], bucket, limit: MAX_GROUPS });
    return [...Map.groupBy(groups, ({ values }) => routeOfCallType(values.callType ?? ''))]
      .map(([endpoint, own]) => ({ endpoint, sums: sumOfSpend(own), lastSeen: lastOf(own), days: daysOf(own) }))
      .toSorted((left, right) => right.sums.calls - left.sums.calls || (left.endpoint < right.endpoint ? -1 : 1));
  },
});

function lastOf(groups: readonly SpendGroup[]): Date | null {
  const times = groups.flatMap(({ lastMs }) => lastMs ?? []);
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** The oldest day first. */
const daysOf = (groups: readonly SpendGroup[]): readonly EndpointDay[] =>
  [...Map.groupBy(groups, ({ startMs }) => startMs ?? 0)]
    .toSorted(([left], [right]) => left - right)
    .map(([startMs, own]) => ({ day: dayText(startMs), sums: sumOfSpend(own) }));
