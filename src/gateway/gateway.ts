import type { CallRecord } from '../domain/calls/call-record.ts';
import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { Health } from '../domain/deployments/health.ts';
import type { Probe } from '../domain/deployments/probe.ts';
import type { Usd } from '../domain/money.ts';
import type { EndedBatch } from '../domain/upstream-objects/batch-use.ts';
import type { ObjectKind } from '../domain/upstream-objects/upstream-object.ts';
import type { PassThrough } from '../domain/upstream-objects/pass-through.ts';
import type { Realtime } from './realtime.ts';

/** What it took to be answered. */
export interface Tries {
  /** How often the same was asked again. */
  readonly retries: number;
  /** How many other models it went on to. */
  readonly fallbacks: number;
  /** How many those could have been; null where the caller named none. */
  readonly mostFallbacks: number | null;
}

/** A call on its way through the gateway: the upstream's answer plus what the platform knows of it. */
export interface GatewayCall {
  readonly callId: string;
  /** The name the caller sent, or that of the fallback which answered. */
  readonly modelGroup: string;
  readonly deployment: Deployment;
  readonly tries: Tries;
  readonly exchange: Exchange;
  readonly traceId: string;
  readonly spanId: string;
  /** Cost so far: known once the answer has ended and was priced, else null. */
  cost(): Usd | null;
  /** What the caller's key has spent, this call's cost included once that is known; null where nobody counts. */
  keySpend(): Usd | null;
  /** Milliseconds since the call entered the gateway. */
  elapsedMs(): number;
  /** The answer, typed; settles the call when it ends, fails or is left. */
  deltas(): AsyncIterableIterator<ChatDelta>;
  /**
   * Closes the books: prices the call and records its spend row and span. The door calls it exactly when
   * the last byte was handed on, failed, or the caller left; later calls change nothing.
   */
  settle(end: 'completed' | 'failed' | 'abandoned', failure?: Error): void;
}

/** What a caller says of where something is to be kept; null where nothing. */
export interface Wanted {
  readonly kind: ObjectKind;
  readonly model: string | null;
  readonly provider: string | null;
}

/** Where something is to be kept, and the public name by which that was chosen. */
export interface Place {
  readonly deployment: Deployment;
  readonly model: string;
}

/** Routes, admits, calls, prices and records; knows neither door nor vendor. */
export interface Gateway {
  /** Resolves when the head of the answer has come. Failures up to then are recorded here and thrown. */
  call(caller: Caller, request: ModelRequest, signal: AbortSignal): Promise<GatewayCall>;
  /** Throws what `call` would before it asks an upstream; nothing is recorded. */
  admit(caller: Caller, request: ModelRequest): Promise<void>;
  /** Sessions in which both sides speak as they like. */
  readonly realtime: Realtime;
  /** The configured deployments, in the order of the configuration. */
  deployments(): readonly Deployment[];
  /** How calls to a deployment have gone in this process. */
  healthOf(deploymentId: string): Health;
}

/** The same for what callers have upstreams keep for them (ADR 0025). */
export interface ObjectGateway {
  /**
   * Where something new is to be kept: at the deployment of the model, else at the first one of the provider, else at
   * the first that keeps anything, of those the caller may use. Throws Forbidden, NotFound and Unsupported.
   */
  placeFor(caller: Caller, wanted: Wanted): Place;
  /** A deployment by its id; null when it is no longer configured. */
  deployment(id: string): Deployment | null;
  /**
   * What an upstream calls the model that a caller names, where the caller may call it and one of its deployments is
   * reached at the same address with the same credential. Throws Forbidden and NotFound.
   */
  upstreamModelAt(caller: Caller, deployment: Deployment, model: string): string;
  /** Books what a batch that has ended used and cost, under its owner; again changes nothing. */
  bookBatch(batch: EndedBatch): void;
  /** Hands on a call about something an upstream keeps. Throws like `call`. */
  pass(caller: Caller, deployment: Deployment, request: PassThrough, signal: AbortSignal): Promise<GatewayCall>;
}

/** How many input tokens a request has, and who says so. */
export interface TokenCount {
  readonly tokens: number;
  readonly by: 'upstream' | 'estimate';
}

/** Counting without asking. */
export interface TokenGateway {
  /** The upstream's count, or ours where it does not count or cannot be reached. Throws like `call`; nothing is recorded. */
  countTokens(caller: Caller, request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
}

/** Asking deployments whether they answer. */
export interface ProbeGateway {
  /**
   * How a deployment answers now; a text says why it is not asked. Throws LimitExceeded, and the signal's reason when it
   * fires first.
   */
  probe(caller: Caller, deployment: Deployment, signal: AbortSignal): Promise<Probe | string>;
  /** How it answered last; null where it was not asked in this process. */
  lastProbe(deploymentId: string): Probe | null;
}

/** Takes records off the hot path: returns at once, commits soon, in batches. */
export interface CallRecorder {
  record(call: CallRecord): void;
}
