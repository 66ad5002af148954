import type { AppliedPolicy } from '../domain/chat/failed-call.ts';
import type { RateStanding } from '../domain/admission/rate-limits.ts';
import type { RoutingDecision } from '../domain/auto-routers/routing-decision.ts';
import type { CallLabels } from '../domain/calls/call-labels.ts';
import type { CallRecord } from '../domain/calls/call-record.ts';
import type { ByteStream } from '../domain/bytes.ts';
import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment, RequestPreview } from '../domain/chat/provider.ts';
import type { MadeDecision } from '../domain/decisions/decision.ts';
import type { Health } from '../domain/deployments/health.ts';
import type { Probe } from '../domain/deployments/probe.ts';
import type { Usd } from '../domain/money.ts';
import type { OpenCosts } from './admission/open-costs.ts';
import type { EndedBatch, UnchargedBatch } from '../domain/upstream-objects/batch-use.ts';
import type { ObjectKind } from '../domain/upstream-objects/upstream-object.ts';
import type { Forwarded } from '../domain/pass-through/forwarded.ts';
import type { PassThrough } from '../domain/upstream-objects/pass-through.ts';
import type { LocalCounts } from '../domain/routing/shared-counts.ts';
import type { PendingRecords } from './accounting/pending-records.ts';
import type { McpCalls } from './mcp/mcp-gateway.ts';
import type { Realtime } from './sessions/realtime.ts';
import type { ToolsOfCall } from '../domain/tools/tool-use.ts';

/** Retry and fallback counts. */
export interface Tries {
  /** Number of retries. */
  readonly retries: number;
  /** Maximum number of retries that applied to the last retry; null without a retry. */
  readonly maxRetries: number | null;
  /** Number of fallback models that were called. */
  readonly fallbacks: number;
  /** Maximum number of fallbacks; null when the request names none and no fallback was called. */
  readonly maxFallbacks: number | null;
}

/** An upstream's answer without its body. The body is read through the call, which settles at the end of the body. */
type AnswerHead = Omit<Exchange, 'bytes' | 'deltas'>;

/**
 * An answered call: the upstream's answer and the platform's facts about it. The body is read once, by one of
 * `consume`, `bytes` and `deltas`. The end of the body settles the call: it is priced, and its spend row and span are
 * recorded.
 */
export interface GatewayCall {
  readonly callId: string;
  /** Public name of the model that answered, after aliases and fallbacks. */
  readonly modelGroup: string;
  /** Name of the model in the answer: the alias that the caller sent. `modelGroup` when undefined. */
  readonly answerModel?: string | undefined;
  /** Decision of the auto router that selected the model; absent for other calls. */
  readonly routing?: RoutingDecision | undefined;
  readonly deployment: Deployment;
  readonly tries: Tries;
  /** Limits that counted the call, and their remaining amounts after admission. */
  readonly limits: readonly RateStanding[];
  readonly exchange: AnswerHead;
  readonly traceId: string;
  readonly spanId: string;
  /** Names of the guardrails that apply to the call; absent for a call without guardrails. */
  readonly guardrails?: readonly string[] | undefined;
  /** Policies that apply to the call; absent where the call has no guardrails. */
  readonly policies?: readonly AppliedPolicy[] | undefined;
  /** Body of the request after guardrails edited it; absent where they did not. */
  readonly editedBody?: ModelRequest['body'] | undefined;
  /**
   * Masks the decision of the call before it is stored. Resolves to null when it may not be stored. Resolves to a
   * decision without texts when a guardrail fails or does not answer in time, or when the signal aborts. Absent for a
   * call without guardrails of the mode `logging_only`.
   */
  readonly forRecord?: GuardrailEdits['forRecord'];
  /** Cost; null before a streamed answer has ended, and when the price is unknown. */
  cost(): Usd | null;
  /** Spend of the caller's key, including this call once its cost is known; null when the spend is not counted. */
  keySpend(): Usd | null;
  /** Milliseconds since the call entered the gateway. */
  elapsedMs(): number;
  /** The answer as typed deltas. The call settles when they end, fail or are cancelled. */
  deltas(): AsyncIterableIterator<ChatDelta>;
  /**
   * The answer as bytes to forward. The call settles as completed after the last byte, and as failed when the stream
   * fails or is cancelled with a failure. It settles as abandoned when the stream is cancelled without a failure.
   */
  bytes(): ByteStream;
  /** Passes the answer to `use`. The call settles as completed when `use` resolves, and as failed when it rejects. */
  consume<Result>(use: (bytes: ByteStream) => Promise<Result>): Promise<Result>;
  /** The same call with translated bytes. The call settles by the translated stream. */
  translated(translate: (bytes: ByteStream) => ByteStream): GatewayCall;
  /** The same call, whose answer names the members of the request that were dropped. */
  withDropped(dropped: readonly string[]): GatewayCall;
  /** The same call with the guardrails that apply to it, and with what they edited. */
  guarded(guardrails: readonly string[], edits?: GuardrailEdits): GatewayCall;
}

/** A decision and the input that it is about, to be stored. */
export interface DecisionRecord {
  readonly decision: MadeDecision;
  readonly input: unknown;
}

/** Policies of a call, and the edits by its guardrails. */
export interface GuardrailEdits {
  /** Policies that apply to the call; none when absent. */
  readonly policies?: readonly AppliedPolicy[];
  /** Body of the request; absent where it was not edited. */
  readonly body?: ModelRequest['body'];
  /** The decision that the answer expresses; absent for other calls. */
  readonly decision?: MadeDecision;
  /** See `GatewayCall.forRecord`. */
  readonly forRecord?: ((record: DecisionRecord, signal: AbortSignal) => Promise<DecisionRecord | null>) | undefined;
}

/** Model and provider requested for a new object; null when the request has none. */
export interface RequestedRoute {
  readonly kind: ObjectKind;
  readonly model: string | null;
  readonly provider: string | null;
  /** Labels of the request. Their customer may be bound to a region. */
  readonly labels?: CallLabels | undefined;
}

/** Deployment that stores an object, and the public model name that selected it. */
export interface StoragePlace {
  readonly deployment: Deployment;
  readonly model: string;
}

/** Routes, admits, calls, prices and records, independent of transport and vendor. */
export interface Gateway {
  /**
   * Resolves when the head of the answer arrives. Throws a failure before that, and records it if it occurs after the
   * selection of deployment and guardrails.
   */
  call(caller: Caller, request: ModelRequest, signal: AbortSignal): Promise<GatewayCall>;
  /**
   * Checks key, model, required parameters and budgets as `call` does, but not rate limits and guardrails. Nothing is
   * recorded.
   */
  admit(caller: Caller, request: ModelRequest): Promise<void>;
  /** Throws BudgetExceeded when the caller's key has used up its own budget. */
  admitKey(caller: Caller): Promise<void>;
  /** Realtime sessions. */
  readonly realtime: Realtime;
  /** Deployments that are not blocked: those of the configuration in its order, then the stored ones, oldest first. */
  deployments(): readonly Deployment[];
  /** Health of a deployment, from its calls in this process. */
  healthOf(deploymentId: string): Health;
}

/** Reservation of one call in a budget outside of the gateway, such as the monthly budget of a lens. */
export interface OuterReservation<Answer> {
  /** Time in ms between two renewals while the call runs. */
  readonly renewMs: number;
  renew(): Promise<unknown>;
  /** Ends the reservation: stores the cost and the answer of the call. The answer of a failed call is null. */
  settle(cost: Usd, answer: Answer | null): Promise<void>;
}

/** Calls that are charged to a budget outside of the gateway and to the budgets of the caller. */
export interface ReservedCalls {
  /**
   * Calls a model and reads its answer. Renews the reservation until the answer is read, then settles it with the cost.
   * An unknown cost is settled with the estimate, and a failure of the call or of `read` with zero. Throws what `call`
   * and `read` throw.
   */
  callReserved<Answer>(
    caller: Caller,
    request: ModelRequest,
    signal: AbortSignal,
    terms: {
      readonly reservation: OuterReservation<Answer>;
      readonly estimate: Usd;
      readonly read: (call: GatewayCall) => Promise<Answer>;
    },
  ): Promise<{ readonly answer: Answer; readonly cost: Usd }>;
}

/** Calls about files, batches and responses that upstreams store (ADR 0025). */
export interface ObjectGateway {
  /**
   * Selects the deployment for a new object. With a requested model, it is a deployment of that model. Otherwise it is
   * the first deployment that stores objects and that the caller may use. With a requested provider, it is the first of
   * that provider. Deployments outside of the customer's region, and those that are reserved for other teams now, are
   * left out. Throws Forbidden, InvalidInput, NotFound and Unsupported.
   */
  placeFor(caller: Caller, requested: RequestedRoute): Promise<StoragePlace>;
  /** A deployment by its id; null when it is no longer configured. */
  deployment(id: string): Deployment | null;
  /** Ids of the deployments at the upstream account of a deployment, whose id is the first of them. */
  deploymentsAt(id: string): readonly string[];
  /**
   * Upstream name of a model at the upstream account of a deployment. Throws Forbidden, InvalidInput while its
   * deployments are reserved for other teams, and NotFound where no deployment of the model uses that account. `kind`
   * is the object that names the model, for messages; a file if absent.
   */
  upstreamModelAt(caller: Caller, deployment: Deployment, model: string, kind?: ObjectKind): string;
  /**
   * Returns a function with the names of the guardrails that check lines of a batch. They depend on the model of a
   * line, and on whether it is an embedding. The function throws GuardrailMissing.
   */
  lineGuardrails(
    caller: Caller,
    at: { readonly deployment: Deployment; readonly labels: CallLabels | undefined },
  ): (model: string, isEmbedding: boolean) => readonly string[];
  /**
   * Records usage and cost of a finished batch for its owner and its user, with one record for each public model.
   * Idempotent. Throws Unavailable, before it records anything, when the key of the owner or the budgets of the labels
   * cannot be read.
   */
  recordBatch(batch: EndedBatch): Promise<void>;
  /** Records a batch, run or response whose cost cannot be known, without a cost, and logs it. Idempotent. */
  recordUncharged(batch: UnchargedBatch): void;
  /** Expected costs of batches, runs and responses that have not ended. */
  readonly openCosts: OpenCosts;
  /** Forwards a call about a stored object. Throws like `call`. */
  pass(caller: Caller, deployment: Deployment, request: PassThrough, signal: AbortSignal): Promise<GatewayCall>;
}

/** Forwards requests of pass-through paths in the format of their targets. */
export interface ForwardGateway {
  /**
   * Resolves when the head of the answer arrives, with any status. The budgets, limits and guardrails of the caller
   * apply. Throws refusals of budgets, limits and guardrails, UpstreamFailed, and Forbidden for a model without a price
   * or a blocked end user. Records a failure that occurs after the selection of the guardrails.
   */
  forward(caller: Caller, request: Forwarded, signal: AbortSignal): Promise<GatewayCall>;
  /** Number of answered calls without a known cost since the start of the process, by provider. */
  unpriced(): ReadonlyMap<string, number>;
}

/** Number of input tokens of a request, and its source. */
export interface TokenCount {
  readonly tokens: number;
  readonly by: 'upstream' | 'estimate';
}

/** Counts tokens without a model call. */
export interface TokenGateway {
  /**
   * The upstream's count. An estimate when the upstream has no counting endpoint, does not answer or fails with 5xx.
   * Throws like `call`; nothing is recorded.
   */
  countTokens(caller: Caller, request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
}

/** Shows requests without sending them. */
export interface PreviewGateway {
  /**
   * The request to the upstream of the first deployment. Throws Forbidden, InvalidInput, NotFound, Unsupported,
   * Unavailable.
   */
  preview(caller: Caller, request: ModelRequest): Promise<RequestPreview>;
}

/** Probes deployments. */
export interface ProbeGateway {
  /**
   * Sends a small request to a deployment. Returns a text with the reason when no probe exists for its model. Throws
   * LimitExceeded, and the signal's reason when it fires first.
   */
  probe(caller: Caller, deployment: Deployment, signal: AbortSignal): Promise<Probe | string>;
  /** As `probe`, for a deployment that is not configured: `lastProbe` does not return the result. */
  probeOnce(caller: Caller, deployment: Deployment, signal: AbortSignal): Promise<Probe | string>;
  /** Last probe in this process; null for none. */
  lastProbe(deploymentId: string): Probe | null;
  /** Time until calls are sent to a deployment again after failures, in ms; 0 when they are sent now. */
  cooldownMs(deploymentId: string): number;
}

/** Copies of calls for models that are tried out (`silent_model`). */
export interface CopyGateway {
  /**
   * Sends no further copies, and waits at most `graceMs` for those under way. Then they are cancelled, and recorded as
   * failed.
   */
  drainCopies(graceMs: number): Promise<void>;
}

/** All parts of the gateway. */
export interface EveryGateway
  extends Gateway, ForwardGateway, McpCalls, ObjectGateway, TokenGateway, PreviewGateway, ProbeGateway, CopyGateway {
  /** Counts of deployments, as they are shared with other processes. */
  readonly routingCounts: LocalCounts;
}

/** Queues records of calls; never waits for a store. */
export interface CallRecorder {
  record(call: CallRecord): void;
  /** Receives the tools of calls that offer or call some; tools are not recorded when absent. Never throws. */
  readonly recordTools?: (use: ToolsOfCall) => void;
  /** Records that wait for guardrails. When absent, a shutdown does not wait for them. */
  readonly pending?: Pick<PendingRecords, 'add' | 'signal'>;
}
