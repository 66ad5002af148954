import type { Admission, Refusal } from '../../domain/admission/admission.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { Usd } from '../../domain/money.ts';
import type { BudgetAlerts } from './budget-alerts.ts';
import { type SoftCharge, softChargesOf } from './soft-charges.ts';
import type { LabelBudget, LabelBudgets } from './label-budgets.ts';

/** Soft budgets: they refuse nothing, and give one alert for each budget window in which they are crossed. */
export interface SoftBudgets {
  /** Compares the soft budgets of a call with the spend. Call it when a cost was counted. Never throws. */
  spent(key: VirtualKey | null, labels: CallLabels | undefined): void;
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
      // The alert of this window was given: no total is read for it.
      if (alerts.isCrossed(charge)) continue;
      const decided = admission.check([charge]);
      // A total that cannot be read is compared at the next call.
      if (decided instanceof Promise) decided.then((refusal) => tell(charge, refusal, key)).catch(() => {});
      else tell(charge, decided, key);
    }
  }

  function tell(charge: SoftCharge, refusal: Refusal | null, key: VirtualKey | null): void {
    if (refusal === null) return;
    alerts.crossed(charge, { message: charge.refusalText(refusal.used as Usd), keyHash: key?.hash ?? null });
  }

  return {
    spent(key, labels) {
      const found = labelBudgets.of(labels, key);
      if (found instanceof Promise) found.then((read) => compare(key, read)).catch(() => {});
      else if (found.length > 0 || (key !== null && mayHaveSoftBudget(key))) compare(key, found);
    },
  };
}

const mayHaveSoftBudget = ({ settings, owners }: VirtualKey): boolean =>
  settings.softBudget !== undefined || owners !== undefined;
