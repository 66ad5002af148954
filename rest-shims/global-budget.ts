import { getTotalSpend } from '../resolvers/global-budget.ts';
import { usdNumber, ZERO_USD } from '../src/domain/money.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { textParameters } from './helpers/http/schema.ts';
import { periodIn, grouping, last30Days } from './helpers/fields/report-query.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/**
 * Spend of all calls, and the global budget, in USD. Without a period in the request, the spend is that of the budget
 * window. Without a period and without a global budget, it is that of the last 30 days.
 */
export const globalBudgetRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    statuses: [200, 400, 401],
    name: 'spend.total',
    paths: ['/global/spend'],
    querySchema: textParameters('start_date', 'end_date'),
    parse({ search }) {
      const period = periodIn(search);
      return { grouping: grouping(period ?? last30Days(), { by: [] }), isDated: period !== null };
    },
    run: getTotalSpend,
    // As in the reference, 0 means no global budget.
    render: ({ spend, budget }) => json({ spend: usdNumber(spend), max_budget: usdNumber(budget?.limit ?? ZERO_USD) }),
  }),
];
