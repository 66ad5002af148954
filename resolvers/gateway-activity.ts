import {
  type ActivityCounts,
  type ActivityField,
  type ActivityGroup,
  type ActivityDelta,
  type ActivityQuery,
  sumOfCounts,
  byMostSucceeded,
  activityPeriodOf,
  sumGroupsBy,
} from '../src/domain/gateway-activity/gateway-activity.ts';
import type { PollableStream } from '../src/domain/pollable-stream.ts';
import { assertReportDays } from '../src/domain/spend/report-dates.ts';
import { gatewayActivityReader } from './operation/access.ts';
import { whileAllowed } from './operation/live-feed.ts';
import { operation } from './operation/operation.ts';
import type { GatewayActivityPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Query of request counts. */
export interface ActivityRequest extends Pick<ActivityQuery, 'categories' | 'routes'> {
  /** First day, `YYYY-MM-DD`; null for 30 days ago. */
  readonly start: string | null;
  /** Last day, included; null for today. */
  readonly end: string | null;
}

/** Numbers of requests that were answered, one result per grouping. Days are compared as text and not validated. */
export const readGatewayActivity = operation({
  name: 'readGatewayActivity',
  access: gatewayActivityReader,
  async run(
    { platform }: Scope<GatewayActivityPlatform>,
    request: ActivityRequest & { readonly groupings: readonly (readonly ActivityField[])[] },
  ): Promise<readonly (readonly ActivityGroup[])[]> {
    const { start, end, groupings, ...filter } = request;
    const period = activityPeriodOf(start, end, platform.clock.now());
    return Promise.all(groupings.map((by) => platform.stores.gatewayActivity.groups({ ...period, ...filter, by })));
  },
});

/** Numbers of requests of a period. */
export interface GatewayActivity extends ActivityCounts {
  /** First and last day, both included. */
  readonly from: string;
  readonly to: string;
  readonly byDate: readonly ActivityGroup[];
  readonly byCategory: readonly ActivityGroup[];
  /** Routes with the most successes first. */
  readonly byRoute: readonly ActivityGroup[];
  /** By day, category and route. */
  readonly series: readonly ActivityGroup[];
}

/**
 * Numbers of requests that were answered, in every grouping. Throws InvalidInput for a text that is not a day, for an
 * empty period, and for more than 366 days.
 */
export const getGatewayActivity = operation({
  name: 'getGatewayActivity',
  access: gatewayActivityReader,
  async run(
    { platform }: Scope<GatewayActivityPlatform>,
    { start, end, ...filter }: ActivityRequest,
  ): Promise<GatewayActivity> {
    const { from, to } = activityPeriodOf(start, end, platform.clock.now());
    assertReportDays(from, to);
    const by = ['day', 'category', 'route'] as const;
    const series = await platform.stores.gatewayActivity.groups({ from, to, ...filter, by });
    return {
      from,
      to,
      ...sumOfCounts(series),
      byDate: sumGroupsBy(series, ['day']),
      byCategory: sumGroupsBy(series, ['category']),
      byRoute: sumGroupsBy(series, ['category', 'route']).toSorted(byMostSucceeded),
      series,
    };
  },
});

/** Counts of requests since the last update. */
export interface ActivityUpdate extends ActivityDelta {
  /** Updates that were dropped before this one because the reader was too slow. */
  readonly missed: number;
}

/** Counts of requests that this process answers, at most once a second. Ends when the reader loses access. */
export const watchGatewayActivity = operation({
  name: 'watchGatewayActivity',
  access: gatewayActivityReader,
  run(scope: Scope<GatewayActivityPlatform>, _input: undefined): PollableStream<ActivityUpdate> {
    const deliveries = scope.platform.bus.subscribe('activity', { signal: scope.signal });
    return whileAllowed(deliveries, {
      scope,
      access: gatewayActivityReader,
      show: ({ event, missed }) => ({ ...event, missed }),
    });
  },
});
