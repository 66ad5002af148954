import { listProviderBudgets, type ProviderBudget } from '../resolvers/provider-budgets.ts';
import { usdNumber } from '../src/domain/money.ts';
import { json, route, type RouteRow } from './http/route.ts';

const renderBudget = ({ provider, limit, duration, spent, resetAt }: ProviderBudget) =>
  [
    provider,
    {
      budget_limit: limit === null ? null : usdNumber(limit),
      time_period: duration,
      spend: usdNumber(spent),
      budget_reset_at: resetAt?.toISOString() ?? null,
    },
  ] as const;

/** Budgets of providers. */
export const providerBudgetRoutes: readonly RouteRow[] = [
  route({
    method: 'GET',
    surface: 'management',
    category: null,
    credential: 'required',
    answers: [200, 401],
    bodyLimit: 0,
    name: 'providerBudgets.list',
    paths: ['/provider/budgets'],
    parse: () => undefined,
    run: listProviderBudgets,
    render: (budgets) => json({ providers: Object.fromEntries(budgets.map(renderBudget)) }),
  }),
];
