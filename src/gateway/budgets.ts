import type { Admission, Charge, Refusal, Reservation } from '../domain/admission/admission.ts';
import { keyCounter } from '../domain/admission/counters.ts';
import type { Caller } from '../domain/caller.ts';
import type { Usage } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { BudgetExceeded, type BudgetToldAs } from '../domain/errors.ts';
import type { VirtualKey } from '../domain/keys/virtual-key.ts';
import { type Usd, usdText, ZERO_USD } from '../domain/money.ts';
import type { CostExpectations, ExpectedCost, SentRequest } from './expected-cost.ts';

/** A call as its cost is estimated: where it goes, and what is sent. */
export interface Estimated {
  readonly deployment: Deployment;
  /** Null for one turn of a realtime session. */
  readonly request: SentRequest | null;
}

/** The reserved cost of one call. It ends once, by `settle`; later calls change nothing. */
export interface CostReservation {
  /**
   * Replaces the reserved cost by the actual one; null where no cost is known, and nothing is charged. The cost of a call
   * that was answered in full, with its usage, is also taken into later estimates.
   */
  settle(cost: Usd | null, answered?: { readonly usage: Usage | null }): void;
  /** Charges one turn of a session. `settle` takes the whole cost, all turns included. */
  progress(cost: Usd): void;
}

/** Budgets of keys: what is reserved before a call and charged after it. */
export interface Budgets {
  /**
   * Reserves the expected cost of a call. Null when nothing is counted: the key has no budget, or it is used up and the
   * deployment costs nothing. Synchronous when the key's spend is in memory. Throws BudgetExceeded.
   */
  reserve(caller: Caller, call: Estimated): CostReservation | null | Promise<CostReservation | null>;
  /**
   * Refuses what `reserve` would refuse. Without a request, as for a session under way, reservations do not count: only a
   * budget that is used up is refused. Throws BudgetExceeded.
   */
  check(caller: Caller, call?: Estimated): void | Promise<void>;
  /** Charges a cost that no reservation was made for. */
  charge(keyHash: string, cost: Usd): void;
  /** What a key has spent without reservations; null when that is not in memory. Keys with a budget are, from their first call on. */
  spentBy(keyHash: string): Usd | null;
}

export function createBudgets({
  admission,
  expectations,
  isFree,
  toldAs,
}: {
  readonly admission: Admission;
  readonly expectations: CostExpectations;
  /** Whether calls of a deployment cost nothing. Asked only for keys whose budget is used up. */
  readonly isFree: (deployment: Deployment) => boolean;
  readonly toldAs: BudgetToldAs;
}): Budgets {
  /** Free models skip the budget check. */
  function refuse(key: VirtualKey, refusal: Refusal, call: Estimated | undefined): null {
    if (call !== undefined && isFree(call.deployment)) return null;
    throw exceeded(key, refusal, toldAs);
  }

  return {
    reserve({ key }, call) {
      if (key === null || key.maxBudget === null) return null;
      const expected = expectations.of(call.deployment, call.request);
      const decided = admission.reserve([chargeOf(key, key.maxBudget, expected.cost)]);
      const taken = (decision: Reservation | Refusal): CostReservation | null =>
        decision.kind === 'refused' ? refuse(key, decision, call) : costReservation(decision, expected);
      return decided instanceof Promise ? decided.then(taken) : taken(decided);
    },
    check({ key }, call) {
      if (key === null || key.maxBudget === null) return;
      const request = call?.request ?? null;
      const cost = call === undefined || request === null ? ZERO_USD : expectations.of(call.deployment, request).cost;
      const decided = admission.check([chargeOf(key, key.maxBudget, cost)]);
      const told = (refusal: Refusal | null): void => {
        if (refusal !== null) refuse(key, refusal, call);
      };
      return decided instanceof Promise ? decided.then(told) : told(decided);
    },
    charge: (keyHash, cost) => admission.count(keyCounter(keyHash), cost),
    spentBy: (keyHash) => admission.usedOf(keyCounter(keyHash)) as Usd | null,
  };
}

const chargeOf = (key: VirtualKey, limit: Usd, amount: Usd): Charge => ({
  counter: keyCounter(key.hash),
  limit,
  amount,
  refused: 'at',
});

function costReservation(reservation: Reservation, expected: ExpectedCost): CostReservation {
  return {
    settle(cost, answered) {
      if (cost === null) return reservation.release();
      reservation.commit([cost]);
      if (answered !== undefined) expected.learn(cost, answered.usage);
    },
    progress(cost) {
      reservation.progress([cost]);
      expected.learn(cost, null);
    },
  };
}

/** The reference's words. Where reserved costs of calls under way are what refuses, the current cost is the whole budget. */
function exceeded(key: VirtualKey, { charge, used }: Refusal, toldAs: BudgetToldAs): BudgetExceeded {
  const cost = used >= charge.limit ? used : charge.limit;
  const subject = `Key=${key.alias ?? 'None'} (${key.name})`;
  const amounts = `Current cost: ${amountText(cost)}, Max budget: ${amountText(charge.limit)}`;
  return new BudgetExceeded(`Budget has been exceeded! ${subject} ${amounts}`, toldAs);
}

/** As the reference writes amounts: always with a decimal point. */
const amountText = (amount: bigint): string => {
  const text = usdText(amount as Usd);
  return text.includes('.') ? text : `${text}.0`;
};
