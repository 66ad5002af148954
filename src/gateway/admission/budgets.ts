import type { Admission, Refusal, Reservation } from '../../domain/admission/admission.ts';
import { type ChargedKey, countersOf, keyCounter } from '../../domain/admission/counters.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { BudgetExceeded, type BudgetErrorKind, RouteBudgetExceeded } from '../../domain/errors.ts';
import { type BudgetWindow, windowCounter } from '../../domain/budgets/budget-window.ts';
import type { ProviderBudgets, RouteBudget } from '../../domain/budgets/route-budget.ts';
import { type CallWindows, createWindowBudgets, NO_WINDOWS, type RoutedModel } from './window-budgets.ts';
import { throttleOf, withoutBudget } from '../../domain/keys/budget-throttle.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { type BudgetAlerts, createSoftBudgets } from './budget-alerts.ts';
import { type BudgetCharge, chargesOf, hasBudget } from './budget-charges.ts';
import {
  assertNoneBlocked,
  labelCounters,
  type LabelBudget,
  type LabelBudgets,
  NO_LABEL_BUDGETS,
} from './label-budgets.ts';
import { ChargedReservation, type CostReservation, type CountedCall } from './cost-reservation.ts';
import type { CostExpectations, ExpectedCost, SentRequest } from './expected-cost.ts';

/** Deployment and request whose cost is estimated. */
export interface EstimatedCall {
  readonly deployment: Deployment;
  /** Null for one turn of a realtime session. */
  readonly request: SentRequest | null;
  /** Public name of the model, where it is not the name of the deployment's group. */
  readonly model?: string;
  /** Known cost of the call; estimated when absent. */
  readonly cost?: Usd;
}

/**
 * Budgets of keys, their owners and the labels of calls. The expected cost is reserved before a call, and the actual
 * cost is charged after it.
 */
export interface Budgets {
  /**
   * Reserves the expected cost of a call. Null when nothing is reserved: there is no budget, or it is used up and the
   * deployment costs nothing. Synchronous when the spend and the budgets of the labels are in memory. Throws
   * BudgetExceeded, RouteBudgetExceeded for a budget of the provider or the deployment, and Forbidden for a blocked end
   * user. A call may continue with reduced rate limits when the budget of its key is used up. `throttle` then receives
   * the fraction of the limits that remains.
   */
  reserve(
    caller: Caller,
    call: EstimatedCall,
    labels?: CallLabels,
    throttle?: Throttle,
  ): CostReservation | null | Promise<CostReservation | null>;
  /**
   * Checks the same budgets as `reserve`, without a reservation. Without a request and a known cost, as for an open
   * session, it ignores other reservations and refuses only when a budget is used up. Throws as `reserve`, and calls
   * `throttle` as `reserve` does.
   */
  check(caller: Caller, call?: EstimatedCall, labels?: CallLabels, throttle?: Throttle): void | Promise<void>;
  /** Checks only the key's own budget, for requests without a model. Throws BudgetExceeded. */
  checkKey(caller: Caller): void | Promise<void>;
  /**
   * Checks only the budgets before a stage. `global` is the budget of all calls, `route` are those of the provider and
   * the deployment. Throws as `check`.
   */
  checkBefore(stage: Stage, caller: Caller, call: EstimatedCall): void | Promise<void>;
  /**
   * Whether the budget of a key for a model is used up, including reservations of running calls. Free models have no
   * budget. Synchronous when the spend of the budget is in memory.
   */
  isModelBudgetUsedUp(key: VirtualKey, at: RoutedModel): boolean | Promise<boolean>;
  /**
   * Charges a cost without a reservation. Owners that `charged` does not name count the cost after the next read of
   * their spend.
   */
  charge(charged: ChargedKey | null, cost: Usd, also?: FurtherCounters): void;
  /** Budget windows that a call without a reservation counts in; undefined for none. */
  windowsOf(key: VirtualKey | null, at: RoutedModel, labels?: CallLabels): readonly BudgetWindow[] | undefined;
  /** As `windowsOf`, but waits for the budgets of labels that need a read. Throws Unavailable. */
  readWindows(key: VirtualKey | null, at: RoutedModel, labels?: CallLabels): Promise<readonly BudgetWindow[]>;
  /** Whether the provider or the deployment of a call has a budget. */
  hasRouteBudget(deployment: Deployment): boolean;
  /** Publishes the alerts of soft budgets that a cost has crossed, after it was charged. */
  alertSoftBudgets(key: VirtualKey | null, labels: CallLabels | undefined): void;
  /** Reads the spend that `alertSoftBudgets` compares, for a cost without a reservation. Throws Unavailable. */
  readSoftBudgets(key: VirtualKey | null, labels: CallLabels | undefined): Promise<void>;
  /**
   * Spend of a key without reservations; null when it is not in memory. The spend of a key with its own budget is in
   * memory from its first call on.
   */
  spentBy(keyHash: string): Usd | null;
}

type Throttle = (limitFraction: number) => void;
type Stage = 'global' | 'route';

/** Further counters of a cost, besides a key and its owners. */
interface FurtherCounters {
  readonly labels?: CallLabels | undefined;
  readonly windows?: readonly BudgetWindow[] | undefined;
}

/** The labels of a call, and their budgets. */
interface NamedLabels {
  readonly labels: CallLabels | undefined;
  readonly budgetsOfLabels: readonly LabelBudget[];
}

const NO_LABELS: NamedLabels = { labels: undefined, budgetsOfLabels: [] };

/** A call whose expected cost is being reserved. */
interface CallToReserve extends CountedCall {
  readonly call: EstimatedCall;
  readonly budgetsOfLabels: readonly LabelBudget[];
  readonly throttle: Throttle | undefined;
}

/** Expected cost of a call whose cost is known in advance. It updates no average. */
const knownCost = (cost: Usd): ExpectedCost => ({ cost, learn() {} });

export function createBudgets({
  admission,
  expectations,
  isFree,
  errorKind,
  labelBudgets = NO_LABEL_BUDGETS,
  alerts,
  providerBudgets,
  globalBudget,
  throttleFraction = () => null,
  reservesCosts = true,
  now = () => new Date(),
}: {
  readonly admission: Admission;
  readonly expectations: CostExpectations;
  /** Whether a call of a deployment is free. Called only after a refusal by a budget. */
  readonly isFree: (deployment: Deployment, request: SentRequest | null) => boolean;
  readonly errorKind: BudgetErrorKind;
  /** Budgets of tags and end users; none when absent. */
  readonly labelBudgets?: Pick<LabelBudgets, 'of'>;
  /** Receives refusals and crossed soft budgets; none when absent. */
  readonly alerts?: BudgetAlerts;
  /** Budgets of providers, read for each call; none when absent. */
  readonly providerBudgets?: (() => ProviderBudgets) | undefined;
  /** The budget of all calls, read for each call; none when absent. */
  readonly globalBudget?: (() => RouteBudget | null) | undefined;
  /**
   * Fraction of its rate limits that a key keeps when its budget is used up, read at each refusal. When null or absent,
   * the call is refused.
   */
  readonly throttleFraction?: (() => number | null) | undefined;
  /** Whether calls reserve their expected cost; true when absent. Otherwise only what is spent counts. */
  readonly reservesCosts?: boolean;
  readonly now?: () => Date;
}): Budgets {
  const windowBudgets = createWindowBudgets(now, providerBudgets, globalBudget);
  const softBudgets = alerts && createSoftBudgets({ admission, labelBudgets, alerts });

  /** Throws the error of a refusal. Returns null for a free model, which no budget refuses. */
  function refuse(refusal: Refusal, call: EstimatedCall | undefined, key: VirtualKey | null): null {
    if (call !== undefined && isFree(call.deployment, call.request)) return null;
    const error = budgetErrorOf(refusal, errorKind);
    const { charge } = refusal;
    if (alerts !== undefined && 'scope' in charge)
      alerts.refused(charge as BudgetCharge, { message: error.message, keyHash: key?.hash ?? null });
    throw error;
  }

  /**
   * Fraction of its rate limits that a key keeps after a refusal; null where the call is refused, and for free models.
   */
  function limitFractionAfter(
    { charge }: Refusal,
    call: EstimatedCall | undefined,
    key: VirtualKey | null,
  ): number | null {
    if (key === null || (charge as BudgetCharge).scope !== 'key') return null;
    const fraction = throttleOf(key, throttleFraction());
    if (fraction === null || call === undefined) return fraction;
    return isFree(call.deployment, call.request) ? null : fraction;
  }

  function expectedCostOf({ cost, deployment, request }: EstimatedCall): ExpectedCost {
    if (!reservesCosts) return knownCost(ZERO_USD);
    return cost === undefined ? expectations.of(deployment, request) : knownCost(cost);
  }

  function reserveAll(
    key: VirtualKey | null,
    call: EstimatedCall,
    { labels, budgetsOfLabels }: NamedLabels,
    throttle?: Throttle,
  ) {
    if (budgetsOfLabels.length > 0) assertNoneBlocked(budgetsOfLabels);
    const windows = windowBudgets.of(key, routedOf(call), budgetsOfLabels);
    if (!hasAnyBudget(key, budgetsOfLabels, windows)) return null;
    const expected = expectedCostOf(call);
    const { deployment: at } = call;
    const { ofRoute: routeAt } = windowBudgets;
    return reserveFor(key, { admission, key, labels, windows, expected, at, routeAt, call, budgetsOfLabels, throttle });
  }

  /**
   * `payer` is the key. When the key's own budget is used up and the call continues with reduced rate limits, `payer`
   * is the key without that budget.
   */
  function reserveFor(
    payer: VirtualKey | null,
    reserving: CallToReserve,
  ): CostReservation | null | Promise<CostReservation | null> {
    const { expected, budgetsOfLabels, windows } = reserving;
    const charges = chargesOf(payer, expected.cost, { now: now(), labels: budgetsOfLabels, windows });
    const decided = admission.reserve(charges);
    return decided instanceof Promise
      ? decided.then((decision) => reservedOrThrottled(decision, payer, charges, reserving))
      : reservedOrThrottled(decided, payer, charges, reserving);
  }

  function reservedOrThrottled(
    decision: Reservation | Refusal,
    payer: VirtualKey | null,
    charges: readonly BudgetCharge[],
    reserving: CallToReserve,
  ): ReturnType<typeof reserveFor> {
    if (decision.kind === 'reserved') return new ChargedReservation(decision, charges, reserving);
    const { call, key, throttle } = reserving;
    const limitFraction = limitFractionAfter(decision, call, payer);
    if (payer === null || limitFraction === null) return refuse(decision, call, key);
    throttle?.(limitFraction);
    return reserveFor(withoutBudget(payer), reserving);
  }

  function checkAll(
    key: VirtualKey | null,
    call: EstimatedCall | undefined,
    labels: readonly LabelBudget[],
    { throttle, before }: { readonly throttle?: Throttle | undefined; readonly before?: Stage } = {},
  ): void | Promise<void> {
    assertNoneBlocked(labels);
    const windows = windowsBefore(before, windowBudgets.of(key, call && routedOf(call), labels));
    if (!hasAnyBudget(key, labels, windows)) return;
    const request = call?.request ?? null;
    const expected = call === undefined || request === null ? ZERO_USD : expectations.of(call.deployment, request).cost;
    const cost = call?.cost ?? expected;

    function checkFor(payer: VirtualKey | null): void | Promise<void> {
      const decided = admission.check(chargesOf(payer, cost, { now: now(), labels, windows }));
      const decide = (refusal: Refusal | null): void | Promise<void> => {
        if (refusal === null) return;
        const limitFraction = limitFractionAfter(refusal, call, payer);
        if (payer === null || limitFraction === null) return void refuse(refusal, call, key);
        throttle?.(limitFraction);
        return checkFor(withoutBudget(payer));
      };
      return decided instanceof Promise ? decided.then(decide) : decide(decided);
    }
    return checkFor(key);
  }

  return {
    reserve({ key }, call, labels = call.request?.labels, throttle) {
      if (labels === undefined) return reserveAll(key, call, NO_LABELS, throttle);
      const found = labelBudgets.of(labels, key);
      if (!(found instanceof Promise)) return reserveAll(key, call, { labels, budgetsOfLabels: found }, throttle);
      return found.then((read) => reserveAll(key, call, { labels, budgetsOfLabels: read }, throttle));
    },
    check({ key }, call, labels = call?.request?.labels, throttle) {
      const found = labelBudgets.of(labels, key);
      if (!(found instanceof Promise)) return checkAll(key, call, found, { throttle });
      return found.then((read) => checkAll(key, call, read, { throttle }));
    },
    checkKey({ key }) {
      const charges =
        key === null ? [] : chargesOf(key, ZERO_USD, { now: now() }).filter(({ scope }) => scope === 'key');
      if (charges.length === 0) return;
      const decided = admission.check(charges);
      const decide = (refusal: Refusal | null): void => {
        if (refusal !== null && limitFractionAfter(refusal, undefined, key) === null) refuse(refusal, undefined, key);
      };
      return decided instanceof Promise ? decided.then(decide) : decide(decided);
    },
    async checkBefore(before, { key }, call) {
      await checkAll(key, call, await labelBudgets.of(call.request?.labels, key), { before });
    },
    isModelBudgetUsedUp(key, { deployment, model }) {
      const early = windowBudgets.ofKey(key, model);
      if (early.length === 0) return false;
      const charges = chargesOf(null, SMALLEST_COST, { now: now(), windows: { ...NO_WINDOWS, early } });
      const decided = admission.check(charges);
      const isSpent = (refusal: Refusal | null): boolean => refusal !== null && !isFree(deployment, null);
      return decided instanceof Promise ? decided.then(isSpent) : isSpent(decided);
    },
    charge(charged, cost, { labels, windows = [] } = {}) {
      for (const counter of charged === null ? [] : countersOf(charged)) admission.count(counter, cost);
      for (const counter of labelCounters(labels)) admission.count(counter, cost);
      for (const window of windows) admission.count(windowCounter(window), cost);
    },
    windowsOf(key, at, labels) {
      const found = labelBudgets.of(labels, key);
      // Budgets of labels that are not in memory are left out: a call that counts in them has a reservation.
      const windows = windowsIn(windowBudgets.of(key, at, found instanceof Promise ? [] : found));
      return windows.length === 0 ? undefined : windows;
    },
    readWindows: async (key, at, labels) => windowsIn(windowBudgets.of(key, at, await labelBudgets.of(labels, key))),
    hasRouteBudget: (deployment) => windowBudgets.ofRoute(deployment).length > 0,
    alertSoftBudgets: softBudgets?.alertIfCrossed ?? (() => {}),
    readSoftBudgets: softBudgets?.readSpend ?? (() => Promise.resolve()),
    spentBy: (keyHash) => admission.usedOf(keyCounter(keyHash)) as Usd | null,
  };
}

/** Smallest cost. With it, a check includes the reservations of running calls. */
const SMALLEST_COST = 1n as Usd;

const routedOf = ({ deployment, model = deployment.modelGroup }: EstimatedCall): RoutedModel => ({ deployment, model });

const windowsIn = ({ early, team, all, route }: CallWindows): readonly BudgetWindow[] =>
  [...early, ...team, ...all, ...route].map(({ window }) => window);

function windowsBefore(stage: Stage | undefined, windows: CallWindows): CallWindows {
  if (stage === undefined || windows === NO_WINDOWS) return windows;
  return stage === 'route' ? { ...windows, route: [] } : { ...windows, route: [], all: [], team: [] };
}

const hasAnyBudget = (key: VirtualKey | null, labels: readonly LabelBudget[], windows: CallWindows): boolean =>
  windows !== NO_WINDOWS || labels.some(({ budget }) => budget !== null) || (key !== null && hasBudget(key));

/** Error of a refusal. When reservations of running calls cause the refusal, the reported cost is the whole budget. */
function budgetErrorOf({ charge, used }: Refusal, errorKind: BudgetErrorKind): BudgetExceeded | RouteBudgetExceeded {
  const spent = (used >= charge.limit ? used : charge.limit) as Usd;
  const text = 'refusalText' in charge ? (charge as BudgetCharge).refusalText(spent) : 'Budget has been exceeded!';
  const scope = 'scope' in charge ? (charge as BudgetCharge).scope : null;
  return scope === 'provider' || scope === 'deployment'
    ? new RouteBudgetExceeded([{ scope, text }])
    : new BudgetExceeded(text, errorKind);
}
