import type { Admission, Reservation } from '../../domain/admission/admission.ts';
import { type Charged, countersOf } from '../../domain/admission/counters.ts';
import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { BudgetCharge } from './budget-charges.ts';
import type { ExpectedCost } from './expected-cost.ts';
import { labelCounters } from './label-budgets.ts';
import { type CallWindows, isOfRoute, NO_WINDOWS, type WindowBudget } from './window-budgets.ts';

/** Where a call was sent last, and what its answer used. */
interface Settled {
  /** The deployment that was reserved for, when absent. */
  readonly deployment?: Deployment;
  /** Cost and usage update the averages for later estimates. Null where the answer is not complete. */
  readonly answered?: { readonly usage: Usage | null } | null;
}

/** Reservation of one call. `settle` ends it; later calls have no effect. */
export interface CostReservation {
  /**
   * Replaces the reserved cost by the actual one, which counts for the provider and the deployment that the call was sent to
   * last. Null releases it without a charge, because no cost is known.
   */
  settle(cost: Usd | null, settled?: Settled): void;
  /** Budget windows that the cost of a call at this deployment counts in; undefined for none. */
  windowsAt(deployment: Deployment): readonly BudgetWindow[] | undefined;
  /** Charges one turn of a session. `settle` takes the total cost of all turns. */
  progress(cost: Usd): void;
}

/** Charges of a call, and the counters of its cost. */
interface CountedCall {
  readonly admission: Pick<Admission, 'count'>;
  readonly charges: readonly BudgetCharge[];
  /** Null for a call without a key. */
  readonly charged: Charged | null;
  readonly labels: CallLabels | undefined;
  readonly windows: CallWindows;
  /** The deployment that was reserved for. */
  readonly at: Deployment;
  /** Budgets of the provider and of the deployment of a call. */
  readonly routeAt: (deployment: Deployment) => readonly WindowBudget[];
}

/** The reservation of a call's charges. */
export function costReservation(
  reservation: Reservation,
  expected: ExpectedCost,
  { admission, charges, charged, labels, windows, at, routeAt }: CountedCall,
): CostReservation {
  let isOpen = true;
  const costs = (cost: Usd): readonly Usd[] =>
    charges.map(({ isOnlyChecked }) => (isOnlyChecked === true ? ZERO_USD : cost));
  return {
    windowsAt(deployment) {
      const isElsewhere = deployment.id !== at.id;
      if (windows === NO_WINDOWS && !isElsewhere) return undefined;
      const own = charges.flatMap(({ scope, counts }) =>
        counts === undefined || (isElsewhere && isOfRoute(scope)) ? [] : counts,
      );
      const all = isElsewhere ? [...own, ...routeAt(deployment).map(({ window }) => window)] : own;
      return all.length === 0 ? undefined : all;
    },
    settle(cost, { deployment = at, answered = null } = {}) {
      if (!isOpen) return;
      isOpen = false;
      if (cost === null) return reservation.release();
      const isElsewhere = deployment.id !== at.id;
      const counted = costs(cost);
      if (!isElsewhere) reservation.commit(counted);
      else reservation.commit(counted.map((one, place) => (isOfRoute(charges[place]?.scope ?? '') ? ZERO_USD : one)));
      if (isElsewhere) for (const { counter } of routeAt(deployment)) admission.count(counter, cost);
      // Owners without a budget for this key, as the user of a team's key. Other keys may have charged their counters.
      const counters = [...(charged === null ? [] : countersOf(charged)), ...labelCounters(labels)];
      for (const counter of counters)
        if (charges.every((charge) => charge.counter !== counter)) admission.count(counter, cost);
      if (answered !== null) expected.learn(cost, answered.usage);
    },
    progress(cost) {
      reservation.progress(costs(cost));
      expected.learn(cost, null);
    },
  };
}
