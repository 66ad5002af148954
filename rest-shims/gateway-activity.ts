import { readGatewayActivity } from '../resolvers/gateway-activity.ts';
import { type ActivityGroup, sumOfCounts, byMostSucceeded } from '../src/domain/gateway-activity/gateway-activity.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { queryParameters } from './helpers/fields/report-query.ts';
import { textParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const renderCounts = ({ succeeded, failed }: Pick<ActivityGroup, 'succeeded' | 'failed'>) => ({
  successful_requests: succeeded,
  failed_requests: failed,
});

/**
 * Totals, and counts by day and by route. The input has the groups of each grouping, in the order of `groupings` below.
 */
function render([days = [], routes = []]: readonly (readonly ActivityGroup[])[]) {
  const all = sumOfCounts(days);
  return {
    total_successful_requests: all.succeeded,
    total_failed_requests: all.failed,
    by_date: days.map(({ of, ...counts }) => ({ date: of.day ?? '', ...renderCounts(counts) })),
    by_route: routes
      .toSorted(byMostSucceeded)
      .map(({ of, ...counts }) => ({ category: of.category ?? '', route: of.route ?? '', ...renderCounts(counts) })),
  };
}

/** Counts of inbound requests by day and route. */
export const gatewayActivityRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    name: 'gatewayActivity.daily',
    querySchema: textParameters('start_date', 'end_date'),
    paths: ['/gateway/daily/activity'],
    statuses: [200, 401, 403],
    parse({ search }) {
      const parameter = queryParameters(search);
      return {
        start: parameter('start_date'),
        end: parameter('end_date'),
        groupings: [['day'], ['category', 'route']] as const,
      };
    },
    run: readGatewayActivity,
    render: (groups) => json(render(groups)),
  }),
];
