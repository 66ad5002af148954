import { getFreeTierUsage } from '../resolvers/free-tier.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';

/** Free tier usage of the client address. */
export const freeTierRoutes: readonly RouteRow[] = [
  route({
    name: 'freeTier.usage',
    method: 'GET',
    paths: ['/billing/usage'],
    surface: 'catalog',
    credential: 'none',
    statuses: [200, 503],
    bodyLimit: 0,
    parse: () => undefined,
    run: getFreeTierUsage,
    render: ({ ipHash, requestsToday, dailyLimit, remaining }) =>
      json(
        { ip_hash: ipHash, requests_today: requestsToday, daily_limit: dailyLimit, remaining },
        { 'cache-control': 'no-store' },
      ),
  }),
];
