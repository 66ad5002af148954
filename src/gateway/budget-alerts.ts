import { spenderOf } from '../domain/admission/counters.ts';
import type { BudgetAlert } from '../domain/budgets/budget-alert.ts';
import type { Clock } from '../domain/clock.ts';
import type { BudgetCharge } from './budget-charges.ts';

/** Least time between two alerts of one budget, in ms. */
const QUIET_MS = 60_000;
/** Most budgets whose last alert is in memory. The oldest is evicted. */
const MOST_BUDGETS = 10_000;

/** Publishes refusals by budgets, at most once a minute for each. */
export interface BudgetAlerts {
  refused(charge: BudgetCharge, refusal: { readonly message: string; readonly keyHash: string | null }): void;
}

export function createBudgetAlerts(
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  publish: (alert: BudgetAlert) => void,
): BudgetAlerts {
  const lastMs = new Map<string, number>();
  return {
    refused({ counter, scope }, { message, keyHash }) {
      const name = `${scope} ${counter}`;
      const now = clock.monotonicMs();
      const last = lastMs.get(name);
      if (last !== undefined && now - last < QUIET_MS) return;
      lastMs.delete(name);
      lastMs.set(name, now);
      const [oldest] = lastMs.keys();
      if (lastMs.size > MOST_BUDGETS && oldest !== undefined) lastMs.delete(oldest);
      publish({ at: clock.now(), scope, id: spenderOf(counter).id, message, keyHash });
    },
  };
}
