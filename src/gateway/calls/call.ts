import type { RateAdmission } from '../../domain/admission/rate-limits.ts';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Exchange, Outcome, Usage } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { DomainError } from '../../domain/errors.ts';
import { plausibleCost, plausibleUsage } from '../../domain/inference/plausible-usage.ts';
import { spendOf } from '../../domain/keys/virtual-key.ts';
import { addUsd, type Usd } from '../../domain/money.ts';
import { chargedOf } from '../admission/budget-charges.ts';
import type { Budgets, Estimated } from '../admission/budgets.ts';
import type { CostReservation } from '../admission/cost-reservation.ts';
import { type AccountTools, type CallTarget, openCallAccount, settledCall } from '../accounting/call-account.ts';
import type { BatchReservation } from '../admission/batch-limits.ts';
import type { GatewayCall, Tries } from '../gateway.ts';
import type { Accounted, Guarded } from '../accounting/record.ts';
import type { CallLimits, Limited } from '../admission/rate-limits.ts';

/** Parts of the gateway that a call uses. */
export interface CallTools extends AccountTools {
  readonly price: (deployment: Deployment, used: Pick<Outcome, 'usage' | 'measured'>) => Usd | null;
  readonly budgets: Budgets;
  readonly limits: CallLimits;
}

/** An admitted call: it fails before a response, or it is answered. Settled once. */
export interface OpenCall {
  readonly callId: string;
  readonly traceId: string;
  /**
   * Reserves the expected cost, and releases an earlier reservation. The reservation ends with the call. Synchronous when
   * the key's spend is in memory. Throws BudgetExceeded.
   */
  reserve(at: Estimated): void | Promise<void>;
  /**
   * Counts the call against its limits, until it ends. Synchronous when this process holds a share of every limit and the
   * limits of its labels are in memory. Throws RateLimited.
   */
  limit(call: Limited): void | Promise<void>;
  /** Asks for the shares that `limit` will need, while the call waits for its budgets. */
  prepareLimit(call: Limited): void;
  /** Counts the tokens of the batch that the call starts, when it has started it. */
  starts(batch: BatchReservation): void;
  /** `tries` defaults to no retry and no fallback. */
  answered(exchange: Exchange, tries?: Tries): GatewayCall;
  /** The answer has arrived: it is charged, also where it is not forwarded. */
  received(exchange: Exchange): void;
  failed(failure: unknown): void;
  /** The request was edited: the edited one is recorded. */
  edited(request: Accounted): void;
  /** The call is recorded with the guardrails of `guard`. */
  guarded(guard: Guarded): void;
  /** It is sent to the upstream now, so it may cost from here on. */
  sent(): void;
  /** The deployment that it is sent to. */
  deployment(): Deployment;
  /** Goes to another deployment in place of the one it was opened for, which was not called. */
  redirected(to: CallTarget): void;
  /** Continues at another deployment; the failure counts for the previous one. */
  moved(to: CallTarget, failure: unknown): void;
  /** All deployments failed: the call is recorded with the deployment `at`. */
  gaveUp(at: CallTarget, failure: unknown): void;
}

const NO_OUTCOME: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};

const NO_RETRIES: Tries = { retries: 0, mostRetries: null, fallbacks: 0, mostFallbacks: null };

/** Admits a call. */
export function openCall(
  tools: CallTools,
  about: CallTarget & {
    readonly caller: Caller;
    readonly signal: AbortSignal;
    /** Usage of a call whose caller left before its end; null where it is not known. */
    readonly cutUsage?: (request: Accounted, cutAnswer: { pieces: number; reported: Usage | null }) => Usage | null;
    /** Usage of a complete answer that reports none; null where it is not billed by tokens. */
    readonly uncountedUsage?: (request: Accounted, pieces: number) => Usage | null;
    /** Cost of an answered call, where it is not the price of its usage. */
    readonly costOf?: (outcome: Outcome) => Usd | null;
  },
): OpenCall {
  const { caller, costOf, cutUsage, signal, uncountedUsage } = about;
  let target: CallTarget = about;
  const account = openCallAccount(tools, about);
  const { callId, traceId, spanId, elapsedMs } = account;
  let exchange: Exchange | null = null;
  let cost: Usd | null = null;
  /** The complete answer whose outcome and price are known; they do not change. */
  let known: { readonly of: Exchange; readonly outcome: Outcome; isPriced: boolean } | null = null;
  let reserved: CostReservation | null = null;
  let rate: RateAdmission | null = null;
  let batch: BatchReservation | null = null;
  let isSent = false;
  /** Part of its limits that the key keeps, because its budget is used up. */
  let limitPart: number | undefined;
  const throttle = (part: number): void => void (limitPart = part);

  function release(): void {
    reserved?.settle(null);
    reserved = null;
  }

  /** The budget windows that the cost counts in. */
  function windowsOf(): CallRecord['spend']['windows'] {
    const { deployment, request } = target;
    if (reserved !== null) return reserved.windowsAt(deployment);
    return tools.budgets.windowsOf(caller.key, { deployment, model: request.model }, request.labels);
  }

  /** The outcome of an answer. For a complete answer without reported usage it has an estimate. */
  function outcomeOf(answer: Exchange, isComplete: boolean): Outcome {
    if (known?.of === answer) return known.outcome;
    const outcome = readOutcome(answer, isComplete);
    if (!answer.streaming) known = { of: answer, outcome, isPriced: false };
    return outcome;
  }

  function readOutcome(answer: Exchange, isComplete: boolean): Outcome {
    const reported = answer.outcome();
    const trusted = plausibleUsage(reported.usage);
    const outcome = trusted === reported.usage ? reported : { ...reported, usage: trusted };
    const isKnown = outcome.usage !== null || outcome.measured !== undefined || outcome.charged !== undefined;
    if (isKnown || !isComplete || outcome.failure !== null || costOf !== undefined) return outcome;
    const usage = uncountedUsage?.(target.request, answer.pieces?.() ?? 0) ?? null;
    return usage === null ? outcome : { ...outcome, usage };
  }

  /** A complete answer is priced before it is sent, so that its headers contain the cost. */
  function priced(isComplete = exchange?.streaming === false): Usd | null {
    if (cost !== null || exchange === null || (known?.isPriced === true && known.of === exchange)) return cost;
    const outcome = outcomeOf(exchange, isComplete);
    if (known !== null) known.isPriced = costOf === undefined;
    cost = plausibleCost(costOf === undefined ? tools.price(target.deployment, outcome) : costOf(outcome));
    return cost;
  }

  /** The outcome of a call whose caller left: the upstream bills the prompt and what it has written. */
  function cutOutcome(): Outcome | null {
    if (exchange !== null && (!exchange.streaming || cost !== null)) return null;
    const outcome = exchange === null ? NO_OUTCOME : outcomeOf(exchange, false);
    if (outcome.charged !== undefined || outcome.measured !== undefined) return null;
    if (outcome.finishReason !== null && outcome.usage !== null) return null;
    const cutAnswer = { pieces: exchange?.pieces?.() ?? 0, reported: outcome.usage };
    const usage = cutUsage?.(target.request, cutAnswer) ?? null;
    return usage === null ? null : { ...outcome, usage };
  }

  function settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void {
    if (account.closed()) return;
    const isLeft =
      end === 'abandoned' || (end === 'failed' && signal.aborted && !(signal.reason instanceof DomainError));
    const cut = isLeft && isSent ? cutOutcome() : null;
    const isComplete = end === 'completed' || exchange?.streaming === false;
    const charged = cut === null ? priced(isComplete) : plausibleCost(tools.price(target.deployment, cut));
    const outcome = cut ?? (exchange === null ? null : outcomeOf(exchange, isComplete));
    rate?.settle(outcome === null ? null : usedTokens(outcome));
    // Record first: admission compares the record's position with a stored total to know whether it includes this cost.
    const isStarted = batch !== null && end === 'completed';
    const spent = charged === null ? undefined : windowsOf();
    const windows = isStarted ? [...(spent ?? []), ...(batch?.windows ?? [])] : spent;
    account.close(end, { failure, outcome, cost: charged, windows });
    const { deployment } = target;
    if (reserved !== null) reserved.settle(charged, { deployment, answered: end === 'completed' ? outcome : null });
    else if (charged !== null)
      tools.budgets.charge(caller.key === null ? null : chargedOf(caller.key), charged, {
        labels: target.request.labels,
        windows: spent,
      });
    if (isStarted) batch?.commit();
    else batch?.release();
    if (charged !== null && charged > 0n) tools.budgets.spent(caller.key, target.request.labels);
  }

  return {
    callId,
    traceId,
    guarded: (guard) => account.guarded(guard),
    edited(request) {
      target = { ...target, request };
      account.edited(request);
    },
    reserve(at) {
      if (reserved !== null) release();
      const reserving = tools.budgets.reserve(caller, at, target.request.labels, throttle);
      if (!(reserving instanceof Promise)) {
        reserved = reserving;
        return;
      }
      return reserving.then((reservedCost) => {
        reserved = reservedCost;
        if (account.closed()) release();
      });
    },
    limit(limited) {
      const counted = limitPart === undefined ? limited : { ...limited, limitPart };
      const admitting = tools.limits.admit(caller, counted, target.request.labels);
      if (!(admitting instanceof Promise)) {
        rate = admitting;
        return;
      }
      return admitting.then((admitted) => {
        if (account.closed()) admitted?.settle(null);
        else rate = admitted;
      });
    },
    prepareLimit: (limited) => tools.limits.prepare(caller, limited, target.request.labels),
    received(answer) {
      exchange = answer;
    },
    starts(reservation) {
      batch = reservation;
    },
    failed: (failure) => settle('failed', failure),
    deployment: () => target.deployment,
    sent() {
      isSent = true;
    },
    redirected(to) {
      target = to;
      account.redirected(to);
    },
    moved(to, failure) {
      target = to;
      account.moved(to, failure);
    },
    gaveUp(at, failure) {
      target = at;
      account.gaveUp(at, failure);
    },
    answered(answer, tries = NO_RETRIES) {
      exchange = answer;
      account.answered();
      const facts = {
        callId,
        modelGroup: target.request.model,
        deployment: target.deployment,
        tries,
        limits: rate?.standings ?? [],
        exchange: answer,
        traceId,
        spanId,
        cost: () => (account.closed() || !answer.streaming ? priced() : null),
        keySpend() {
          const total = tools.budgets.spentBy(caller.keyHash);
          if (total === null || caller.key === null) return total;
          const before = spendOf(caller.key, total);
          const now = account.closed() || answer.streaming ? null : priced();
          return now === null ? before : addUsd(before, now);
        },
        elapsedMs,
      };
      return settledCall(facts, answer, settle);
    },
  };
}

/** Tokens of an outcome; zero where none were reported. */
export const usedTokens = ({ usage }: Pick<Outcome, 'usage'>): number =>
  usage === null ? 0 : usage.inputTokens + usage.outputTokens;
