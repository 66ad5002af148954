import type { Admission, Reservation } from '../../domain/admission/admission.ts';
import { countersOf } from '../../domain/admission/counters.ts';
import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { type BudgetCharge, chargedKeyOf } from './budget-charges.ts';
import type { ExpectedCost } from './expected-cost.ts';
import { labelCounters } from './label-budgets.ts';
import { type CallWindows, isOfRoute, NO_WINDOWS, type WindowBudget } from './window-budgets.ts';

/** Last deployment of a call, and the usage of its answer. */
interface SettledCall {
  /** Absent: the deployment of the reservation. */
  readonly deployment?: Deployment;
  /** Cost and usage update the averages for later estimates. Null where the answer is not complete. */
  readonly answered?: { readonly usage: Usage | null } | null;
}

/** Reservation of the expected cost of one call. `settle` ends it; later calls of `settle` have no effect. */
export interface CostReservation {
  /**
   * Replaces the reserved cost by the actual one, which counts for the provider and the deployment that the call was
   * sent to last. Null, for an unknown cost, releases the reservation without a charge.
   */
  settle(cost: Usd | null, settled?: SettledCall): void;
  /** Budget windows that the cost of a call at this deployment counts in; undefined for none. */
  windowsAt(deployment: Deployment): readonly BudgetWindow[] | undefined;
  /** Charges one turn of a session. The final `settle` takes the total cost of all turns. */
  progress(cost: Usd): void;
}

/** A call whose cost is reserved, and the counters of its cost. */
export interface CountedCall {
  readonly admission: Pick<Admission, 'count'>;
  /** Null for a call without a key. */
  readonly key: VirtualKey | null;
  readonly labels: CallLabels | undefined;
  readonly windows: CallWindows;
  readonly expected: ExpectedCost;
  /** The deployment of the reservation. */
  readonly at: Deployment;
  /** Budgets of a deployment and of its provider. */
  readonly routeAt: (deployment: Deployment) => readonly WindowBudget[];
}

/** The reservation of a call's charges. */
export class ChargedReservation implements CostReservation {
  readonly #reservation: Reservation;
  readonly #charges: readonly BudgetCharge[];
  readonly #call: CountedCall;
  #isOpen = true;

  constructor(reservation: Reservation, charges: readonly BudgetCharge[], call: CountedCall) {
    this.#reservation = reservation;
    this.#charges = charges;
    this.#call = call;
  }

  windowsAt(deployment: Deployment): readonly BudgetWindow[] | undefined {
    const { at, routeAt, windows } = this.#call;
    const isElsewhere = deployment.id !== at.id;
    if (windows === NO_WINDOWS && !isElsewhere) return undefined;
    const own = this.#charges.flatMap(({ scope, ownWindow }) =>
      ownWindow === undefined || (isElsewhere && isOfRoute(scope)) ? [] : ownWindow,
    );
    const all = isElsewhere ? [...own, ...routeAt(deployment).map(({ window }) => window)] : own;
    return all.length === 0 ? undefined : all;
  }

  settle(cost: Usd | null, { deployment = this.#call.at, answered = null }: SettledCall = {}): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (cost === null) return this.#reservation.release();
    const { admission, at, expected, key, labels, routeAt } = this.#call;
    const isElsewhere = deployment.id !== at.id;
    const costs = this.#costs(cost);
    if (isElsewhere) {
      // The budgets of the reserved route do not count the cost; those of the last deployment do.
      this.#reservation.commit(
        costs.map((one, place) => (isOfRoute(this.#charges[place]?.scope ?? '') ? ZERO_USD : one)),
      );
      for (const { counter } of routeAt(deployment)) admission.count(counter, cost);
    } else this.#reservation.commit(costs);
    // The cost also counts for owners whose budget does not apply to this key, such as the user of a team's key. Their
    // budget may apply to other keys.
    if (key !== null) this.#countOthers(countersOf(chargedKeyOf(key)), cost);
    this.#countOthers(labelCounters(labels), cost);
    if (answered !== null) expected.learn(cost, answered.usage);
  }

  progress(cost: Usd): void {
    this.#reservation.progress(this.#costs(cost));
    this.#call.expected.learn(cost, null);
  }

  #costs(cost: Usd): readonly Usd[] {
    return this.#charges.map(({ isOnlyChecked }) => (isOnlyChecked === true ? ZERO_USD : cost));
  }

  /** Counts a cost in the counters that no charge of the call counts in. */
  #countOthers(counters: readonly string[], cost: Usd): void {
    for (const counter of counters)
      if (this.#charges.every((charge) => charge.counter !== counter)) this.#call.admission.count(counter, cost);
  }
}
