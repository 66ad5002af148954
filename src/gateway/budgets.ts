import type { Admission, Charge, Refusal, Reservation } from '../domain/admission/admission.ts';
import { type Charged, countersOf, keyCounter } from '../domain/admission/counters.ts';
import type { Caller } from '../domain/caller.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { BudgetExceeded, type BudgetErrorKind } from '../domain/errors.ts';
import { type Usd, ZERO_USD } from '../domain/money.ts';
import { type BudgetCharge, chargedOf, chargesOf, hasBudget } from './budget-charges.ts';
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

/** Budgets of keys and their owners: what is reserved before a call and charged after it. */
export interface Budgets {
  /**
   * Reserves the expected cost of a call. Null when nothing is reserved: there is no budget, or it is used up and the
   * deployment costs nothing. Synchronous when the spend of the key and its owners is in memory. Throws BudgetExceeded.
   */
  reserve(caller: Caller, call: Estimated): CostReservation | null | Promise<CostReservation | null>;
  /**
   * Refuses what `reserve` would refuse. Without a request, as for an open session, reservations are ignored: only a used-up
   * budget is refused. Throws BudgetExceeded.
   */
  check(caller: Caller, call?: Estimated): void | Promise<void>;
  /** Charges a cost that no reservation was made for. An owner that is not named is charged by the next read of its spend. */
  charge(charged: Charged, cost: Usd): void;
  /** What a key has spent without reservations; null when that is not in memory. A key with a budget of its own is, from its first call on. */
  spentBy(keyHash: string): Usd | null;
}

export function createBudgets({
  admission,
  expectations,
  isFree,
  errorKind,
  now = () => new Date(),
}: {
  readonly admission: Admission;
  readonly expectations: CostExpectations;
  /** Whether calls of a deployment are free. Called only for keys whose budget is used up. */
  readonly isFree: (deployment: Deployment) => boolean;
  readonly errorKind: BudgetErrorKind;
  readonly now?: () => Date;
}): Budgets {
  /** Free models skip the budget check. */
  function refuse(refusal: Refusal, call: Estimated | undefined): null {
    if (call !== undefined && isFree(call.deployment)) return null;
    throw exceeded(refusal, errorKind);
  }

  return {
    reserve({ key }, call) {
      if (key === null || !hasBudget(key)) return null;
      const expected =
        call.cost === undefined ? expectations.of(call.deployment, call.request) : { cost: call.cost, learn() {} };
      const charges = chargesOf(key, expected.cost, now());
      const decided = admission.reserve(charges);
      const taken = (decision: Reservation | Refusal): CostReservation | null =>
        decision.kind === 'refused'
          ? refuse(decision, call)
          : costReservation(decision, expected, { admission, charges, charged: chargedOf(key) });
      return decided instanceof Promise ? decided.then(taken) : taken(decided);
    },
    check({ key }, call) {
      if (key === null || !hasBudget(key)) return;
      const request = call?.request ?? null;
      const cost = call === undefined || request === null ? ZERO_USD : expectations.of(call.deployment, request).cost;
      const decided = admission.check(chargesOf(key, cost, now()));
      const decide = (refusal: Refusal | null): void => {
        if (refusal !== null) refuse(refusal, call);
      };
      return decided instanceof Promise ? decided.then(decide) : decide(decided);
    },
    charge(charged, cost) {
      for (const counter of countersOf(charged)) admission.count(counter, cost);
    },
    spentBy: (keyHash) => admission.usedOf(keyCounter(keyHash)) as Usd | null,
  };
}

/** Charges of a call, and all that its cost counts for. */
interface Counted {
  readonly admission: Pick<Admission, 'count'>;
  readonly charges: readonly Charge[];
  readonly charged: Charged;
}

function costReservation(
  reservation: Reservation,
  expected: ExpectedCost,
  { admission, charges, charged }: Counted,
): CostReservation {
  let isOpen = true;
  return {
    settle(cost, answered) {
      if (!isOpen) return;
      isOpen = false;
      if (cost === null) return reservation.release();
      reservation.commit(charges.map(() => cost));
      // Owners without a budget for this key, as the user of a team's key. Other keys may have charged their counters.
      for (const counter of countersOf(charged))
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
