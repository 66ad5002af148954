import type { Caller } from '../../domain/caller.ts';
import type { Outcome } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { Clock, Ids } from '../../domain/clock.ts';
import { DomainError, UpstreamFailed } from '../../domain/errors.ts';
import type { Usd } from '../../domain/money.ts';
import type { CallRecorder } from '../gateway.ts';
import { isGuardrailFailure } from '../guardrails/guarding.ts';
import { guardrailSpans } from '../guardrails/guardrail-spans.ts';
import type { HealthTracker, TrackedCall } from '../routing/health.ts';
import { routingSpan } from '../auto-routers/routing-span.ts';
import type { Traffic } from '../routing/traffic.ts';
import { maskedForRecord } from './recorded-texts.ts';
import { recordTools } from './recorded-tools.ts';
import { type RecordedRequest, type ClosedCall, type RecordedGuardrails, recordOf } from './record.ts';

/** Gateway parts that a call account uses. */
export interface AccountTools {
  readonly recorder: CallRecorder;
  readonly health: HealthTracker;
  /** Counts the use and the latency of deployments; nothing is counted when absent. */
  readonly traffic?: Traffic;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly capturePrompts: boolean;
}

/** A request and the deployment it is sent to. */
export interface CallTarget {
  readonly request: RecordedRequest;
  readonly deployment: Deployment;
}

const NO_GUARDRAILS: ReturnType<RecordedGuardrails['of']> = [];

/** What a call counts for at its deployment, for the selection of later calls. */
export interface RoutingUse {
  /**
   * `nothing`: neither as a request nor in latency and health, because no model works on it. `request`: as a request in
   * progress, but its duration is no latency of a model. Absent for model calls, which count for everything.
   */
  readonly routingUse?: 'nothing' | 'request';
  /** Whether the deployment may not be called: the call is open nowhere until it continues at another one. */
  readonly isRefused?: boolean;
}

/** Account of one call: ids, times, and its effect on the health of the deployment. `close` records the call. */
export class CallAccount {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly #tools: AccountTools;
  readonly #caller: Caller;
  readonly #signal: AbortSignal;
  /** Whether the client sent the call id, which may then repeat. */
  readonly #hasClientCallId: boolean;
  readonly #routingUse: RoutingUse['routingUse'];
  readonly #startedAt: Date;
  readonly #startMs: number;
  #target: CallTarget;
  #firstByteMs: number | null = null;
  /** Start of the current attempt, in ms after the account was opened. */
  #attemptMs = 0;
  #resendCount = 0;
  #healthCall: TrackedCall | null;
  #isDeploymentSkipped = false;
  #wasSent = false;
  /** Whether the current attempt was sent to its deployment. */
  #isAttemptSent = false;
  #isClosed = false;
  #guard: RecordedGuardrails | null = null;

  constructor(
    tools: AccountTools,
    options: CallTarget & RoutingUse & { readonly caller: Caller; readonly signal: AbortSignal },
  ) {
    const { clock, ids, health } = tools;
    const { callId, parent } = options.request;
    this.callId = callId ?? ids.uuid();
    this.traceId = parent?.traceId ?? ids.traceId();
    this.spanId = ids.spanId();
    this.#tools = tools;
    this.#caller = options.caller;
    this.#signal = options.signal;
    this.#hasClientCallId = callId !== null;
    this.#startedAt = clock.now();
    this.#startMs = clock.monotonicMs();
    this.#target = options;
    this.#routingUse = options.routingUse;
    this.#isDeploymentSkipped = options.routingUse === 'nothing';
    const isOpen = !this.#isDeploymentSkipped && options.isRefused !== true;
    this.#healthCall = isOpen ? health.begin(options.deployment.id) : null;
    if (!this.#isDeploymentSkipped) tools.traffic?.started(options.deployment.id);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the call was sent to a deployment. */
  get wasSent(): boolean {
    return this.#wasSent;
  }

  /** Marks the current attempt as sent. */
  markSent(): void {
    this.#wasSent = true;
    this.#isAttemptSent = true;
  }

  /** Milliseconds since the account was opened. */
  elapsedMs(): number {
    return this.#tools.clock.monotonicMs() - this.#startMs;
  }

  /** Records the time of the first response byte. */
  recordFirstByte(): void {
    const elapsedMs = this.elapsedMs();
    this.#firstByteMs = elapsedMs;
    this.#healthCall?.recordFirstByte(elapsedMs - this.#attemptMs);
  }

  /** Replaces the deployment. The previous one was not called. */
  replaceDeployment(to: CallTarget): void {
    this.#healthCall?.ended(null);
    this.#healthCall = this.#tools.health.begin(to.deployment.id);
    this.#tools.traffic?.withdrawn(this.#target.deployment.id);
    this.#tools.traffic?.started(to.deployment.id);
    this.#target = to;
  }

  /** No deployment is called: the call counts for the health, the use and the latency of none. */
  skipDeployment(): void {
    this.#healthCall?.ended(null);
    this.#healthCall = null;
    this.#isDeploymentSkipped = true;
    this.#tools.traffic?.withdrawn(this.#target.deployment.id);
  }

  /** Continues with a deployment of the same or another model. The failure counts for the previous deployment. */
  continueAt(to: CallTarget, failure: unknown): void {
    this.#healthCall?.ended(failure);
    this.#healthCall = this.#tools.health.begin(to.deployment.id);
    this.#countTimeout(failure);
    this.#withdrawUnsent(failure);
    this.#isAttemptSent = false;
    this.#tools.traffic?.started(to.deployment.id);
    this.#target = to;
    this.#attemptMs = this.elapsedMs();
    this.#resendCount += 1;
  }

  /** All deployments failed. The call is recorded with the deployment `at`. */
  allDeploymentsFailed(at: CallTarget, failure: unknown): void {
    this.#healthCall?.ended(failure);
    this.#healthCall = null;
    this.#countTimeout(failure);
    this.#withdrawUnsent(failure);
    // The deployment `at` was counted when the call continued at another one.
    this.#isAttemptSent = true;
    this.#target = at;
  }

  /** Replaces the recorded request by the request that guardrails have edited. */
  setEditedRequest(request: RecordedRequest): void {
    this.#target = { request, deployment: this.#target.deployment };
  }

  /** Sets the guardrails that the call is recorded with. */
  setGuard(guard: RecordedGuardrails): void {
    this.#guard = guard;
  }

  /** Closes the account and records the call. Has an effect only the first time. */
  close(
    end: 'completed' | 'failed' | 'abandoned',
    {
      failure,
      outcome,
      cost,
      windows,
    }: {
      readonly failure?: unknown;
      readonly outcome: Outcome | null;
      readonly cost: Usd | null;
      readonly windows?: ClosedCall['windows'];
    },
  ): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { request, deployment } = this.#target;
    // A disconnect of the client makes the upstream call fail, and the call is recorded as abandoned. A call that ends
    // at shutdown is recorded as failed.
    const isDisconnect = this.#signal.aborted && !(this.#signal.reason instanceof DomainError);
    const recordedEnd = end === 'failed' && isDisconnect ? 'abandoned' : end;
    if (end === 'failed') this.#withdrawUnsent(failure);
    if (this.#tools.traffic?.isOn() === true && !this.#isDeploymentSkipped)
      this.#countTraffic(recordedEnd === 'completed', failure, outcome);
    this.#record({
      // Row ids are unique. A generated call id is unique, too; one that the client sent may repeat.
      rowId: this.#hasClientCallId ? this.#tools.ids.uuid() : this.callId,
      callId: this.callId,
      traceId: this.traceId,
      spanId: this.spanId,
      caller: this.#caller,
      request,
      deployment,
      startedAt: this.#startedAt,
      durationMs: this.elapsedMs(),
      firstByteMs: this.#firstByteMs,
      outcome,
      cost,
      end: recordedEnd,
      failure: failure instanceof Error ? failure : null,
      capturePrompts: this.#mayCapture(request),
      resendCount: this.#resendCount,
      guard: this.#guard,
      windows,
    });
    // A refusal by a guardrail does not count as a failure of the deployment.
    this.#healthCall?.ended(recordedEnd === 'failed' && !isGuardrailFailure(failure) ? failure : null);
  }

  /** Counts the call for its last deployment. */
  #countTraffic(isComplete: boolean, failure: unknown, outcome: Outcome | null): void {
    const usage = outcome?.usage ?? null;
    const { request, deployment } = this.#target;
    const isStream = request.body['stream'] === true;
    const isModelCall = this.#routingUse === undefined;
    this.#tools.traffic?.ended(deployment.id, {
      tokens: usage === null ? 0 : usage.inputTokens + usage.outputTokens,
      totalMs: isComplete && !isStream && isModelCall ? this.elapsedMs() - this.#attemptMs : null,
      firstTokenMs: isStream && this.#firstByteMs !== null ? this.#firstByteMs - this.#attemptMs : null,
      timedOut: isModelCall && failure instanceof UpstreamFailed && failure.timedOut && this.#healthCall !== null,
    });
  }

  /**
   * Takes back the request of an attempt that was refused before it was sent. Otherwise callers without budget could
   * use up the requests per minute of a deployment. Some calls are sent without a mark: their upstream failures count.
   */
  #withdrawUnsent(failure: unknown): void {
    if (this.#isDeploymentSkipped || this.#isAttemptSent || failure instanceof UpstreamFailed) return;
    this.#tools.traffic?.withdrawn(this.#target.deployment.id);
  }

  /** Counts a timeout of an attempt, before the call continues at another deployment. */
  #countTimeout(failure: unknown): void {
    if (this.#tools.traffic?.isOn() !== true || !(failure instanceof UpstreamFailed) || !failure.timedOut) return;
    const timeout = { tokens: 0, totalMs: null, firstTokenMs: null, timedOut: true };
    this.#tools.traffic.ended(this.#target.deployment.id, timeout);
  }

  /** Whether texts are recorded. A prompt that some guardrail has not checked is not recorded. */
  #mayCapture({ omitContent }: RecordedRequest): boolean {
    return this.#tools.capturePrompts && omitContent !== true && (this.#guard?.isRequestChecked() ?? true);
  }

  /** Records a call. Guardrails of the mode `logging_only` mask its texts first. */
  #record(call: ClosedCall): void {
    const guardrails = this.#guard?.of('logging_only') ?? NO_GUARDRAILS;
    if (guardrails.length === 0 || !call.capturePrompts) return this.#write(call);
    const { caller, callId, traceId } = call;
    const { pending } = this.#tools.recorder;
    const masked = maskedForRecord({ guardrails, caller, callId, traceId, signal: pending?.signal }, call);
    const writeMasked = (texts: Awaited<typeof masked>): void =>
      this.#write(texts === null ? { ...call, capturePrompts: false } : { ...call, ...texts });
    if (!(masked instanceof Promise)) return writeMasked(masked);
    if (pending === undefined) void masked.then(writeMasked);
    else pending.add(masked, writeMasked);
  }

  #write(call: ClosedCall): void {
    const { recorder, ids } = this.#tools;
    const record = recordOf(call);
    recordTools(recorder, call, record.spend);
    const entries = this.#guard?.entries;
    const hasRuns = entries !== undefined && entries.length > 0;
    const { routing } = record.spend;
    if (!hasRuns && routing === undefined) return recorder.record(record);
    const routingSpans = routing === undefined ? [] : [routingSpan(record.span, routing, ids)];
    const guardSpans = hasRuns ? guardrailSpans(record.span, entries, ids) : [];
    recorder.record({ ...record, childSpans: [...routingSpans, ...guardSpans] });
  }
}
