import { keyCounter, spenderOf } from '../../domain/admission/counters.ts';
import type { BudgetAlert } from '../../domain/budgets/budget-alert.ts';
import type { Clock } from '../../domain/clock.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';
import type { BudgetCharge } from './budget-charges.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, usdFrom, ZERO_USD } from '../../domain/money.ts';
import { amountText, resetText } from './budget-texts.ts';
import type { LabelBudget, LabelBudgets } from './label-budgets.ts';
import {
  keyBudgetWindow,
  labelBudget,
  memberBudget,
  organizationBudget,
  type OwnerBudget,
  projectBudget,
  teamBudget,
  userBudget,
} from './owner-budgets.ts';
import type { Admission, Refusal } from '../../domain/admission/admission.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';

/** Minimum time between two alerts of one budget, in ms. */
const MIN_ALERT_INTERVAL_MS = 60_000;
/** Maximum number of budgets whose last alert is in memory. The oldest is evicted. */
const MAX_BUDGETS = 10_000;

type AlertDetails = Pick<BudgetAlert, 'message' | 'keyHash'>;

/** A soft budget of a call, as a charge that is checked and not reserved, with the text of its alert. */
interface SoftCharge extends BudgetCharge {
  /** End of the budget window, Unix ms; 0 where the spend is never reset. */
  readonly windowEndMs: number;
}

/** Publishes refusals, at most one a minute for each budget, and crossed soft budgets, once for each window. */
export interface BudgetAlerts {
  refused(charge: BudgetCharge, details: AlertDetails): void;
  crossed(charge: SoftCharge, details: AlertDetails): void;
  /** Whether this process has published the alert of a soft budget for the budget's current window. */
  isCrossed(charge: SoftCharge): boolean;
}

export function createBudgetAlerts(
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  publish: (alert: BudgetAlert) => void,
): BudgetAlerts {
  const lastRefusalMs = new Map<string, number>();
  const crossed = new Set<string>();
  /** Contains the limit: a changed soft budget gives another alert. */
  const nameOf = ({ scope, counter, limit, windowEndMs }: SoftCharge): string =>
    `${scope} ${limit} ${windowEndMs} ${counter}`;
  const publishAlert = (
    kind: BudgetAlert['kind'],
    { counter, scope, owner }: BudgetCharge,
    details: AlertDetails,
  ): void => publish({ kind, at: clock.now(), scope, id: owner ?? spenderOf(counter).id, ...details });

  return {
    refused(charge, details) {
      const name = `${charge.scope} ${charge.counter}`;
      const now = clock.monotonicMs();
      const last = lastRefusalMs.get(name);
      if (last !== undefined && now - last < MIN_ALERT_INTERVAL_MS) return;
      lastRefusalMs.delete(name);
      lastRefusalMs.set(name, now);
      evictOldest(lastRefusalMs, MAX_BUDGETS);
      publishAlert('refused', charge, details);
    },
    isCrossed: (charge) => crossed.has(nameOf(charge)),
    crossed(charge, details) {
      const name = nameOf(charge);
      if (crossed.has(name)) return;
      crossed.add(name);
      evictOldest(crossed, MAX_BUDGETS);
      publishAlert('soft_budget', charge, details);
    },
  };
}

/** The soft budget of a key: its own, else that of the budget row that it names. */
function softBudgetOfKey(key: VirtualKey): OwnerBudget {
  const { settings, owners } = key;
  return {
    scope: 'key',
    counter: keyCounter(key.hash),
    budget: null,
    soft: settings.softBudget === undefined ? owners?.budget?.softBudget : usdFrom(settings.softBudget),
    ...keyBudgetWindow(key),
    subject: `Key=${key.alias ?? 'None'} (${key.name})`,
  };
}

/** The soft budgets of a key, its owners and the labels of a call. */
function softChargesOf(key: VirtualKey | null, labels: readonly LabelBudget[]): readonly SoftCharge[] {
  const budgets = labels.map(labelBudget);
  if (key !== null) {
    budgets.push(softBudgetOfKey(key));
    for (const budgetOf of [userBudget, teamBudget, memberBudget, organizationBudget, projectBudget]) {
      const budget = budgetOf(key);
      if (budget !== null) budgets.push(budget);
    }
  }
  return budgets.flatMap(({ scope, counter, soft, spentBefore, subject, window = null }) => {
    if (soft === null || soft === undefined) return [];
    const textOf = (spent: Usd): string =>
      `Soft budget has been crossed! ${subject} Current cost: ${amountText(spent - spentBefore)}, Soft budget: ${amountText(soft)}${resetText(window)}`;
    const charge = { scope, counter, limit: soft + spentBefore, amount: ZERO_USD, refused: 'at' as const };
    return [{ ...charge, refusalText: textOf, windowEndMs: window?.resetAt.getTime() ?? 0 }];
  });
}

/** Soft budgets refuse no call. Each gives one alert in each budget window in which the spend crosses it. */
export interface SoftBudgets {
  /** Compares the soft budgets of a call with the spend, after its cost was counted. Never throws. */
  alertIfCrossed(key: VirtualKey | null, labels: CallLabels | undefined): void;
  /**
   * Reads the spend of the soft budgets, so that `alertIfCrossed` finds a cost that is counted next. Ignores a failed
   * read. Throws Unavailable when the budgets of the labels cannot be read.
   */
  readSpend(key: VirtualKey | null, labels: CallLabels | undefined): Promise<void>;
}

export function createSoftBudgets({
  admission,
  labelBudgets,
  alerts,
}: {
  readonly admission: Pick<Admission, 'check'>;
  readonly labelBudgets: Pick<LabelBudgets, 'of'>;
  readonly alerts: Pick<BudgetAlerts, 'crossed' | 'isCrossed'>;
}): SoftBudgets {
  function compare(key: VirtualKey | null, labels: readonly LabelBudget[]): void {
    for (const charge of softChargesOf(key, labels)) {
      // The alert of this window was published, so the total is not read.
      if (alerts.isCrossed(charge)) continue;
      const decided = admission.check([charge]);
      // After a failed read the next call compares the total.
      if (decided instanceof Promise) decided.then((refusal) => publishIfCrossed(charge, refusal, key)).catch(() => {});
      else publishIfCrossed(charge, decided, key);
    }
  }

  function publishIfCrossed(charge: SoftCharge, refusal: Refusal | null, key: VirtualKey | null): void {
    if (refusal === null) return;
    alerts.crossed(charge, { message: charge.refusalText(refusal.used as Usd), keyHash: key?.hash ?? null });
  }

  return {
    alertIfCrossed(key, labels) {
      const found = labelBudgets.of(labels, key);
      if (found instanceof Promise) found.then((read) => compare(key, read)).catch(() => {});
      else if (found.length > 0 || (key !== null && mayHaveSoftBudget(key))) compare(key, found);
    },
    async readSpend(key, labels) {
      const charges = softChargesOf(key, await labelBudgets.of(labels, key));
      await Promise.allSettled(charges.map(async (charge) => admission.check([charge])));
    },
  };
}

const mayHaveSoftBudget = ({ settings, owners }: VirtualKey): boolean =>
  settings.softBudget !== undefined || owners !== undefined;
