import { spenderOf } from '../../domain/admission/counters.ts';
import type { BudgetAlert } from '../../domain/budgets/budget-alert.ts';
import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { BudgetCharge } from './budget-charges.ts';
import type { SoftCharge } from './soft-charges.ts';

/** Minimum time between two alerts of one budget, in ms. */
const QUIET_MS = 60_000;
/** Most budgets whose last alert is in memory. The oldest is evicted. */
const MOST_BUDGETS = 10_000;

type Subject = Pick<BudgetAlert, 'message' | 'keyHash'>;

/** Publishes refusals by budgets, at most once a minute for each, and crossed soft budgets, once for each window. */
export interface BudgetAlerts {
  refused(charge: BudgetCharge, refusal: Subject): void;
  crossed(charge: SoftCharge, crossing: Subject): void;
  /** Whether this process gave the alert of a soft budget in its current window. */
  isCrossed(charge: SoftCharge): boolean;
}

export function createBudgetAlerts(
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  publish: (alert: BudgetAlert) => void,
): BudgetAlerts {
  const lastMs = new Map<string, number>();
  const crossed = new Set<string>();
  /** A changed amount is another soft budget. */
  const nameOf = ({ scope, counter, limit, windowEndMs }: SoftCharge): string =>
    `${scope} ${limit} ${windowEndMs} ${counter}`;
  const published = (kind: BudgetAlert['kind'], { counter, scope, owner }: BudgetCharge, subject: Subject): void =>
    publish({ kind, at: clock.now(), scope, id: owner ?? spenderOf(counter).id, ...subject });

  return {
    refused(charge, subject) {
      const name = `${charge.scope} ${charge.counter}`;
      const now = clock.monotonicMs();
      const last = lastMs.get(name);
      if (last !== undefined && now - last < QUIET_MS) return;
      lastMs.delete(name);
      lastMs.set(name, now);
      evictOldest(lastMs, MOST_BUDGETS);
      published('refused', charge, subject);
    },
    isCrossed: (charge) => crossed.has(nameOf(charge)),
    crossed(charge, subject) {
      const name = nameOf(charge);
      if (crossed.has(name)) return;
      crossed.add(name);
      evictOldest(crossed, MOST_BUDGETS);
      published('soft_budget', charge, subject);
    },
  };
}
