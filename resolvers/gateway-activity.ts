import {
  type ActivityField,
  type ActivityGroup,
  type ActivityQuery,
  periodOf,
} from '../src/domain/gateway-activity/gateway-activity.ts';
import { gatewayActivityReader } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { GatewayActivityPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** What a caller asks of the counts of requests. */
export interface AskedActivity extends Pick<ActivityQuery, 'categories' | 'routes'> {
  /** First day, `YYYY-MM-DD`; null for 30 days ago. */
  readonly start: string | null;
  /** Last day, included; null for today. */
  readonly end: string | null;
  /** One result per grouping. */
  readonly groupings: readonly (readonly ActivityField[])[];
}

/** Numbers of requests that were answered, grouped as asked. */
export const readGatewayActivity = operation({
  name: 'readGatewayActivity',
  access: gatewayActivityReader,
  async run(
    { platform }: Scope<GatewayActivityPlatform>,
    { start, end, groupings, ...filter }: AskedActivity,
  ): Promise<readonly (readonly ActivityGroup[])[]> {
    const period = periodOf(start, end, platform.clock.now());
    return Promise.all(groupings.map((by) => platform.stores.gatewayActivity.groups({ ...period, ...filter, by })));
  },
});
