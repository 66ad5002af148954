import { listProviderBudgets, type ProviderBudget } from '../resolvers/provider-budgets.ts';
import { usdNumber } from '../src/domain/money.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { isoOrNull, usdOrNull } from './helpers/answers/limits.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const renderBudget = ({ provider, limit, duration, spent, resetAt }: ProviderBudget) =>
  [
    provider,
    {
      budget_limit: usdOrNull(limit),
      time_period: duration,
      spend: usdNumber(spent),
      budget_reset_at: isoOrNull(resetAt),
    },
  ] as const;

/** Budgets of providers. */
export const providerBudgetRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    statuses: [200, 401],
    name: 'providerBudgets.list',
    paths: ['/provider/budgets'],
    parse: () => undefined,
    run: listProviderBudgets,
    render: (budgets) => json({ providers: Object.fromEntries(budgets.map(renderBudget)) }),
  }),
];
