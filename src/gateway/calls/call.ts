import type { RateAdmission } from '../../domain/admission/rate-limits.ts';
import type { CallRecord } from '../../domain/calls/call-record.ts';
import type { Exchange, Outcome } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { DomainError } from '../../domain/errors.ts';
import { plausibleCost } from '../../domain/inference/plausible-usage.ts';
import { keySpendOf } from '../../domain/keys/virtual-key.ts';
import { addUsd, type Usd, ZERO_USD } from '../../domain/money.ts';
import { chargedKeyOf } from '../admission/budget-charges.ts';
import type { Budgets, EstimatedCall } from '../admission/budgets.ts';
import { combinedAdmission } from '../admission/combined-admission.ts';
import type { CostReservation } from '../admission/cost-reservation.ts';
import { type AccountTools, CallAccount, type CallTarget } from '../accounting/call-account.ts';
import type { BatchReservation } from '../admission/batch-limits.ts';
import type { GatewayCall, Tries } from '../gateway.ts';
import type { RecordedRequest, RecordedGuardrails } from '../accounting/record.ts';
import type { CallLimits, LimitedCall } from '../admission/rate-limits.ts';
import { AnsweredCall, type CallOfAnswer } from './answered-call.ts';
import type { CallOptions } from './call-options.ts';
import { isBilled, isPartOfStream, NO_OUTCOME, trustedOutcome, usedTokens } from './outcomes.ts';

/** Parts of the gateway that a call uses. */
export interface CallTools extends AccountTools {
  readonly price: (deployment: Deployment, used: Pick<Outcome, 'usage' | 'measured'>) => Usd | null;
  readonly budgets: Budgets;
  readonly limits: CallLimits;
}

type AnswerTap = (exchange: Exchange, tries: Tries) => Exchange;

/** An open call. `reserve` and `limit` admit it. It is settled once: when it fails, or at the end of its answer. */
export interface OpenCall {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /**
   * Reserves the expected cost until the call ends, and releases an earlier reservation. Returns a promise when
   * `Budgets.reserve` does. Throws as `Budgets.reserve`.
   */
  reserve(at: EstimatedCall): void | Promise<void>;
  /**
   * Counts the call against its limits, until it ends. Synchronous when this process holds a share of every limit and
   * the limits of its labels are in memory. Throws RateLimited when a limit is reached.
   */
  limit(call: LimitedCall): void | Promise<void>;
  /** Requests the shares that `limit` will need, while the call waits for its budgets. */
  prepareLimit(call: LimitedCall): void;
  /** Sets the batch that the call starts. The batch counts its tokens if the call completes, and else releases them. */
  setBatch(batch: BatchReservation): void;
  /** Returns the call with its answer. `tries` defaults to no retry and no fallback. */
  answered(exchange: Exchange, tries?: Tries): GatewayCall;
  /** As `answered`, for an answer from the cache. No deployment was called, and the call costs nothing. */
  answeredFromCache(exchange: Exchange): GatewayCall;
  /** Sets a function that receives the answer of the upstream first. Its result replaces the answer. */
  tapAnswer(tap: AnswerTap): void;
  /** Sets the answer that has arrived, which is charged even if it is not forwarded. */
  received(exchange: Exchange): void;
  failed(failure: unknown): void;
  /** Replaces the request by its edited form, which is recorded. */
  setEditedRequest(request: RecordedRequest): void;
  /** Sets the guardrails that the call is recorded with. */
  setGuard(guard: RecordedGuardrails): void;
  /** Sets a check of the upstream's answer. The result of `check` replaces the answer. */
  setAnswerCheck(check: (exchange: Exchange) => Exchange): void;
  /** Marks the call as sent to the upstream. From then on it may have a cost. */
  sent(): void;
  /** The deployment that the call is sent to. */
  deployment(): Deployment;
  /** Replaces the deployment. The previous one was not called. */
  replaceDeployment(to: CallTarget): void;
  /** Continues at another deployment; the failure counts for the previous one. */
  continueAt(to: CallTarget, failure: unknown): void;
  /** All deployments failed: the call is recorded with the deployment `at`. */
  allDeploymentsFailed(at: CallTarget, failure: unknown): void;
}

const NO_RETRIES: Tries = { retries: 0, maxRetries: null, fallbacks: 0, maxFallbacks: null };
const NO_STANDINGS: GatewayCall['limits'] = Object.freeze([]);

/** Opens a call, before its admission. */
export const openCall = (tools: CallTools, options: CallOptions): OpenCall => new Call(tools, options);

class Call implements OpenCall, CallOfAnswer {
  readonly #tools: CallTools;
  readonly #options: CallOptions;
  readonly #account: CallAccount;
  #target: CallTarget;
  #exchange: Exchange | null = null;
  #answerCheck: ((exchange: Exchange) => Exchange) | null = null;
  #answerTap: AnswerTap | null = null;
  #cost: Usd | null = null;
  /** The last answer without streaming, and its outcome. This outcome is final, because the answer is complete. */
  #completeAnswer: Exchange | null = null;
  #completeOutcome: Outcome | null = null;
  /** Whether `#completeOutcome` was priced by the catalog, even if no price was found. */
  #isPriced = false;
  #reserved: CostReservation | null = null;
  #rateAdmission: RateAdmission | null = null;
  #batch: BatchReservation | null = null;
  /** Fraction of the rate limits that remains for a key whose budget is used up; undefined where they apply in full. */
  #limitFraction: number | undefined;

  constructor(tools: CallTools, options: CallOptions) {
    this.#tools = tools;
    this.#options = options;
    this.#target = options;
    this.#account = new CallAccount(tools, options);
  }

  get callId(): string {
    return this.#account.callId;
  }

  get traceId(): string {
    return this.#account.traceId;
  }

  get spanId(): string {
    return this.#account.spanId;
  }

  elapsedMs(): number {
    return this.#account.elapsedMs();
  }

  setGuard(guard: RecordedGuardrails): void {
    this.#account.setGuard(guard);
  }

  setAnswerCheck(check: (exchange: Exchange) => Exchange): void {
    this.#answerCheck = check;
  }

  tapAnswer(tap: AnswerTap): void {
    this.#answerTap = tap;
  }

  setEditedRequest(request: RecordedRequest): void {
    this.#target = { request, deployment: this.#target.deployment };
    this.#account.setEditedRequest(request);
  }

  reserve(at: EstimatedCall): void | Promise<void> {
    if (this.#reserved !== null) this.#release();
    const throttle = (fraction: number): void => {
      this.#limitFraction = fraction;
    };
    const reserving = this.#tools.budgets.reserve(this.#options.caller, at, this.#target.request.labels, throttle);
    if (!(reserving instanceof Promise)) {
      this.#reserved = reserving;
      return;
    }
    return reserving.then((reserved) => {
      this.#reserved = reserved;
      if (this.#account.isClosed) this.#release();
    });
  }

  limit(limited: LimitedCall): void | Promise<void> {
    const limitFraction = this.#limitFraction;
    const counted = limitFraction === undefined ? limited : { ...limited, limitFraction };
    const admitting = this.#tools.limits.admit(this.#options.caller, counted, this.#target.request.labels);
    if (!(admitting instanceof Promise)) {
      this.#rateAdmission = combinedAdmission(this.#rateAdmission, admitting);
      return;
    }
    return admitting.then((admitted) => {
      if (this.#account.isClosed) admitted?.settle(null);
      else this.#rateAdmission = combinedAdmission(this.#rateAdmission, admitted);
    });
  }

  prepareLimit(limited: LimitedCall): void {
    this.#tools.limits.prepare(this.#options.caller, limited, this.#target.request.labels);
  }

  received(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  setBatch(batch: BatchReservation): void {
    this.#batch = batch;
  }

  failed(failure: unknown): void {
    this.settle('failed', failure);
  }

  deployment(): Deployment {
    return this.#target.deployment;
  }

  sent(): void {
    this.#account.markSent();
  }

  replaceDeployment(to: CallTarget): void {
    this.#target = to;
    this.#account.replaceDeployment(to);
  }

  continueAt(to: CallTarget, failure: unknown): void {
    this.#target = to;
    this.#account.continueAt(to, failure);
  }

  allDeploymentsFailed(at: CallTarget, failure: unknown): void {
    this.#target = at;
    this.#account.allDeploymentsFailed(at, failure);
  }

  answeredFromCache(exchange: Exchange): GatewayCall {
    this.#account.skipDeployment();
    return this.answered(exchange);
  }

  answered(received: Exchange, tries = NO_RETRIES): GatewayCall {
    const tapped = this.#answerTap === null ? received : this.#answerTap(received, tries);
    const exchange = this.#answerCheck === null ? tapped : this.#answerCheck(tapped);
    this.#exchange = exchange;
    const account = this.#account;
    account.recordFirstByte();
    const { request, deployment } = this.#target;
    const facts = {
      callId: account.callId,
      modelGroup: request.model,
      answerModel: request.answerModel,
      routing: request.routing,
      deployment,
      tries,
      limits: this.#rateAdmission?.standings ?? NO_STANDINGS,
      exchange,
      traceId: account.traceId,
      spanId: account.spanId,
    };
    return new AnsweredCall(this, facts, exchange, exchange.bytes);
  }

  cost(): Usd | null {
    return this.#account.isClosed || this.#exchange?.streaming === false ? this.#priced() : null;
  }

  keySpend(): Usd | null {
    const { key, keyHash } = this.#options.caller;
    const total = this.#tools.budgets.spentBy(keyHash);
    if (total === null || key === null) return total;
    const spent = keySpendOf(key, total);
    // The total already includes a closed call. The cost of an open stream is not known yet.
    const isMissing = !this.#account.isClosed && this.#exchange?.streaming === false;
    const missing = isMissing ? this.#priced() : null;
    return missing === null ? spent : addUsd(spent, missing);
  }

  settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void {
    const account = this.#account;
    if (account.isClosed) return;
    const { budgets, price } = this.#tools;
    const { caller, signal } = this.#options;
    const { request, deployment } = this.#target;
    // A DomainError as the reason means that the gateway ended the call, for example at shutdown.
    const hasCallerLeft =
      end === 'abandoned' || (end === 'failed' && signal.aborted && !(signal.reason instanceof DomainError));
    const isLost = hasCallerLeft && account.wasSent;
    // An answer that is cut off was forwarded in part, and the upstream bills that part.
    const isCut = end === 'failed' && !hasCallerLeft && account.wasSent && isPartOfStream(this.#exchange);
    const aborted = isLost || isCut ? this.#abortedOutcome() : null;
    const isComplete = end === 'completed' || this.#exchange?.streaming === false;
    const measured = aborted === null ? this.#priced(isComplete) : plausibleCost(price(deployment, aborted));
    const lost = isLost && measured === null ? (this.#options.abortedCost?.(this.#target) ?? null) : null;
    const charged = lost === null ? measured : plausibleCost(lost);
    const outcome = aborted ?? (this.#exchange === null ? null : this.#outcomeOf(this.#exchange, isComplete));
    this.#rateAdmission?.settle(outcome === null ? null : usedTokens(outcome));
    const startedBatch = end === 'completed' ? this.#batch : null;
    const costWindows = charged === null ? undefined : this.#windows();
    const windows = startedBatch === null ? costWindows : [...(costWindows ?? []), ...startedBatch.windows];
    // Record before charging: admission compares the number of records so far with that of a stored total, to know
    // whether the total includes this cost.
    account.close(end, { failure, outcome, cost: charged, windows });
    const isUpstreams = end === 'completed' && outcome?.cacheHitKey === undefined && outcome?.billedLater !== true;
    if (this.#reserved !== null) this.#reserved.settle(charged, { deployment, answered: isUpstreams ? outcome : null });
    else if (charged !== null)
      budgets.charge(caller.key === null ? null : chargedKeyOf(caller.key), charged, {
        labels: request.labels,
        windows: costWindows,
      });
    if (startedBatch === null) this.#batch?.release();
    else startedBatch.commit();
    if (charged !== null && charged > 0n) budgets.alertSoftBudgets(caller.key, request.labels);
  }

  #release(): void {
    this.#reserved?.settle(null);
    this.#reserved = null;
  }

  /** The budget windows that the cost counts in. */
  #windows(): CallRecord['spend']['windows'] {
    const { deployment, request } = this.#target;
    if (this.#reserved !== null) return this.#reserved.windowsAt(deployment);
    const at = { deployment, model: request.model };
    return this.#tools.budgets.windowsOf(this.#options.caller.key, at, request.labels);
  }

  /** The outcome of an answer. A complete answer without usage gets an estimate where it is billed by tokens. */
  #outcomeOf(answer: Exchange, isComplete: boolean): Outcome {
    if (this.#completeAnswer === answer && this.#completeOutcome !== null) return this.#completeOutcome;
    const outcome = this.#readOutcome(answer, isComplete);
    if (!answer.streaming && answer.reportsUsageAtEnd !== true) {
      this.#completeAnswer = answer;
      this.#completeOutcome = outcome;
      this.#isPriced = false;
    }
    return outcome;
  }

  #readOutcome(answer: Exchange, isComplete: boolean): Outcome {
    const { costOf, uncountedUsage } = this.#options;
    const outcome = trustedOutcome(answer.outcome());
    if (isBilled(outcome) || !isComplete || outcome.failure !== null || costOf !== undefined) return outcome;
    const usage = uncountedUsage?.(this.#target.request, answer.pieces?.() ?? 0) ?? null;
    return usage === null ? outcome : { ...outcome, usage };
  }

  /** Cost of the answer. An answer without streaming is priced before it is sent: its headers contain the cost. */
  #priced(isComplete = this.#exchange?.streaming === false): Usd | null {
    const exchange = this.#exchange;
    const isDone = this.#cost !== null || (this.#isPriced && this.#completeAnswer === exchange);
    if (exchange === null || isDone) return this.#cost;
    const { costOf } = this.#options;
    const outcome = this.#outcomeOf(exchange, isComplete);
    if (outcome.cacheHitKey !== undefined || outcome.billedLater === true) return ZERO_USD;
    this.#isPriced = this.#completeAnswer !== null && costOf === undefined;
    this.#cost = plausibleCost(
      costOf === undefined ? this.#tools.price(this.#target.deployment, outcome) : costOf(outcome),
    );
    return this.#cost;
  }

  /** Outcome of a call that ended early: prompt and output so far. Null where the reported outcome applies. */
  #abortedOutcome(): Outcome | null {
    const exchange = this.#exchange;
    if (exchange !== null && (!exchange.streaming || this.#cost !== null)) return null;
    const outcome = exchange === null ? NO_OUTCOME : this.#outcomeOf(exchange, false);
    if (outcome.charged !== undefined || outcome.measured !== undefined || outcome.billedLater === true) return null;
    if (outcome.finishReason !== null && outcome.usage !== null) return null;
    const abortedAnswer = { pieces: exchange?.pieces?.() ?? 0, reported: outcome.usage };
    const usage = this.#options.abortedUsage?.(this.#target.request, abortedAnswer) ?? null;
    return usage === null ? null : { ...outcome, usage };
  }
}
