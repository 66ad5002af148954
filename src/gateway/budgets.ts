import type { Admission, Charge, Refusal, Reservation } from '../domain/admission/admission.ts';
import { type Charged, countersOf, keyCounter } from '../domain/admission/counters.ts';
import type { CallLabels } from '../domain/calls/call-labels.ts';
import type { Caller } from '../domain/caller.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { BudgetExceeded, type BudgetErrorKind } from '../domain/errors.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../domain/money.ts';
import type { BudgetAlerts } from './budget-alerts.ts';
import { type BudgetCharge, chargedOf, chargesOf, hasBudget } from './budget-charges.ts';
import {
  assertNoneBlocked,
  labelCounters,
  type LabelBudget,
  type LabelBudgets,
  NO_LABEL_BUDGETS,
} from './label-budgets.ts';
import { createSoftBudgets } from './soft-budgets.ts';
import type { CostExpectations, ExpectedCost, SentRequest } from './expected-cost.ts';

/** Deployment and request that a cost is estimated for. */
export interface Estimated {
  readonly deployment: Deployment;
  /** Null for one turn of a realtime session. */
  readonly request: SentRequest | null;
  /** Known cost of the call; estimated when absent. */
  readonly cost?: Usd;
}

/** Reservation of one call. `settle` ends it; later calls have no effect. */
export interface CostReservation {
  /**
   * Replaces the reserved cost by the actual one. Null releases it without a charge, because no cost is known. With
   * `answered`, cost and usage update the averages for later estimates.
   */
  settle(cost: Usd | null, answered?: { readonly usage: Usage | null }): void;
  /** Charges one turn of a session. `settle` takes the total cost of all turns. */
  progress(cost: Usd): void;
}

/** Budgets of keys, their owners and the labels of calls: what is reserved before a call and charged after it. */
export interface Budgets {
  /**
   * Reserves the expected cost of a call. Null when nothing is reserved: there is no budget, or it is used up and the
   * deployment costs nothing. Synchronous when the spend of the key and its owners is in memory. Throws BudgetExceeded, and
   * Forbidden for a blocked end user.
   */
  reserve(
    caller: Caller,
    call: Estimated,
    labels?: CallLabels,
  ): CostReservation | null | Promise<CostReservation | null>;
  /**
   * Refuses what `reserve` would refuse. Without a request, as for an open session, reservations are ignored: only a used-up
   * budget is refused. Throws as `reserve`.
   */
  check(caller: Caller, call?: Estimated, labels?: CallLabels): void | Promise<void>;
  /** Charges a cost that no reservation was made for. An owner that is not named is charged by the next read of its spend. */
  charge(charged: Charged | null, cost: Usd, labels?: CallLabels): void;
  /** Gives the alerts of soft budgets that a cost has crossed. Call it when the cost was charged. */
  spent(key: VirtualKey | null, labels: CallLabels | undefined): void;
  /** What a key has spent without reservations; null when that is not in memory. A key with a budget of its own is, from its first call on. */
  spentBy(keyHash: string): Usd | null;
}

/** The labels of a call, and the budgets of those that have one. */
interface NamedLabels {
  readonly labels: CallLabels | undefined;
  readonly found: readonly LabelBudget[];
}

export function createBudgets({
  admission,
  expectations,
  isFree,
  errorKind,
  labelBudgets = NO_LABEL_BUDGETS,
  alerts,
  now = () => new Date(),
}: {
  readonly admission: Admission;
  readonly expectations: CostExpectations;
  /** Whether calls of a deployment are free. Called only for keys whose budget is used up. */
  readonly isFree: (deployment: Deployment) => boolean;
  readonly errorKind: BudgetErrorKind;
  /** Budgets of tags and end users; none when absent. */
  readonly labelBudgets?: Pick<LabelBudgets, 'of'>;
  /** Receives refusals; none when absent. */
  readonly alerts?: BudgetAlerts;
  readonly now?: () => Date;
}): Budgets {
  const soft = alerts && createSoftBudgets({ admission, labelBudgets, alerts });

  /** Free models skip the budget check. */
  function refuse(refusal: Refusal, call: Estimated | undefined, key: VirtualKey | null): null {
    if (call !== undefined && isFree(call.deployment)) return null;
    const error = exceeded(refusal, errorKind);
    const { charge } = refusal;
    if (alerts !== undefined && 'scope' in charge)
      alerts.refused(charge as BudgetCharge, { message: error.message, keyHash: key?.hash ?? null });
    throw error;
  }

  function reserveAll(key: VirtualKey | null, call: Estimated, { labels, found }: NamedLabels) {
    assertNoneBlocked(found);
    if (!found.some(({ budget }) => budget !== null) && (key === null || !hasBudget(key))) return null;
    const expected =
      call.cost === undefined ? expectations.of(call.deployment, call.request) : { cost: call.cost, learn() {} };
    const charges = chargesOf(key, expected.cost, { now: now(), labels: found });
    const decided = admission.reserve(charges);
    const taken = (decision: Reservation | Refusal): CostReservation | null =>
      decision.kind === 'refused'
        ? refuse(decision, call, key)
        : costReservation(decision, expected, {
            admission,
            charges,
            charged: key && chargedOf(key),
            labels,
          });
    return decided instanceof Promise ? decided.then(taken) : taken(decided);
  }

  function checkAll(
    key: VirtualKey | null,
    call: Estimated | undefined,
    labels: readonly LabelBudget[],
  ): void | Promise<void> {
    assertNoneBlocked(labels);
    if (!labels.some(({ budget }) => budget !== null) && (key === null || !hasBudget(key))) return;
    const request = call?.request ?? null;
    const cost = call === undefined || request === null ? ZERO_USD : expectations.of(call.deployment, request).cost;
    const decided = admission.check(chargesOf(key, cost, { now: now(), labels }));
    const decide = (refusal: Refusal | null): void => {
      if (refusal !== null) refuse(refusal, call, key);
    };
    return decided instanceof Promise ? decided.then(decide) : decide(decided);
  }

  return {
    reserve({ key }, call, labels = call.request?.labels) {
      const found = labelBudgets.of(labels, key);
      if (!(found instanceof Promise)) return reserveAll(key, call, { labels, found });
      return found.then((read) => reserveAll(key, call, { labels, found: read }));
    },
    check({ key }, call, labels = call?.request?.labels) {
      const found = labelBudgets.of(labels, key);
      if (!(found instanceof Promise)) return checkAll(key, call, found);
      return found.then((read) => checkAll(key, call, read));
    },
    charge(charged, cost, labels) {
      for (const counter of charged === null ? [] : countersOf(charged)) admission.count(counter, cost);
      for (const counter of labelCounters(labels)) admission.count(counter, cost);
    },
    spent: soft?.spent ?? (() => {}),
    spentBy: (keyHash) => admission.usedOf(keyCounter(keyHash)) as Usd | null,
  };
}

/** Charges of a call, and all that its cost counts for. */
interface Counted {
  readonly admission: Pick<Admission, 'count'>;
  readonly charges: readonly Charge[];
  /** Null for a call without a key. */
  readonly charged: Charged | null;
  readonly labels: CallLabels | undefined;
}

function costReservation(
  reservation: Reservation,
  expected: ExpectedCost,
  { admission, charges, charged, labels }: Counted,
): CostReservation {
  let isOpen = true;
  return {
    settle(cost, answered) {
      if (!isOpen) return;
      isOpen = false;
      if (cost === null) return reservation.release();
      reservation.commit(charges.map(() => cost));
      // Owners without a budget for this key, as the user of a team's key. Other keys may have charged their counters.
      const counters = [...(charged === null ? [] : countersOf(charged)), ...labelCounters(labels)];
      for (const counter of counters)
        if (charges.every((charge) => charge.counter !== counter)) admission.count(counter, cost);
      if (answered !== undefined) expected.learn(cost, answered.usage);
    },
    progress(cost) {
      reservation.progress(charges.map(() => cost));
      expected.learn(cost, null);
    },
  };
}

/** When reservations of running calls cause the refusal, the reported cost is the whole budget. */
function exceeded({ charge, used }: Refusal, errorKind: BudgetErrorKind): BudgetExceeded {
  const spent = (used >= charge.limit ? used : charge.limit) as Usd;
  const text = 'refusalText' in charge ? (charge as BudgetCharge).refusalText(spent) : 'Budget has been exceeded!';
  return new BudgetExceeded(text, errorKind);
}
