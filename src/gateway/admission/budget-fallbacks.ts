import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { Budgets } from './budgets.ts';
import type { Route } from '../routing/route.ts';

/** A request and its first route. */
interface RoutedRequest<Request> {
  readonly request: Request;
  readonly route: Route;
}

/** Fallbacks that a key names for a model whose budget is used up, in order of preference. */
const fallbacksOf = ({ settings }: VirtualKey, model: string): readonly string[] =>
  settings.budgetFallbacks !== undefined && Object.hasOwn(settings.budgetFallbacks, model)
    ? (settings.budgetFallbacks[model] ?? [])
    : [];

/** Whether a key names budget fallbacks for a model. */
export const hasFallbacks = (key: VirtualKey, model: string): boolean => fallbacksOf(key, model).length > 0;

/**
 * Replaces the model of a call when the key's budget for this model is used up. The replacement is the first fallback
 * that has a route and whose budget is not used up. Fallbacks of fallbacks are not used. Without a replacement the call
 * is unchanged, and its reservation is refused. `locate` returns null for a model without a route for the key.
 */
export async function withBudgetFallback<Routed extends RoutedRequest<{ readonly model: string }>>(
  { isModelBudgetUsedUp }: Pick<Budgets, 'isModelBudgetUsedUp'>,
  key: VirtualKey | null,
  first: Routed,
  locate: (model: string) => Promise<Routed | null>,
): Promise<Routed> {
  const isSpent = ({ request, route }: Routed): boolean | Promise<boolean> =>
    key !== null && isModelBudgetUsedUp(key, { deployment: route.deployment, model: request.model });
  if (key === null || !(await isSpent(first))) return first;
  for (const model of new Set(fallbacksOf(key, first.request.model))) {
    const found = await locate(model);
    if (found !== null && !(await isSpent(found))) return found;
  }
  return first;
}
