import type { Caller } from '../domain/caller.ts';
import type { ChatDelta, Exchange, ModelRequest } from '../domain/chat/chat.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { Usd } from '../domain/money.ts';
import type { SpendRow } from '../domain/spend/spend-row.ts';
import type { Span } from '../domain/traces/span.ts';

/** A call on its way through the gateway: the upstream's answer plus what the platform knows of it. */
export interface GatewayCall {
  readonly callId: string;
  /** The name the caller sent. */
  readonly modelGroup: string;
  readonly deployment: Deployment;
  readonly exchange: Exchange;
  readonly traceId: string;
  readonly spanId: string;
  /** Cost so far: known once the answer has ended and was priced, else null. */
  cost(): Usd | null;
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

/** Routes, admits, calls, prices and records; knows neither door nor vendor. */
export interface Gateway {
  /** Resolves when the head of the answer has come. Failures up to then are recorded here and thrown. */
  call(caller: Caller, request: ModelRequest, signal: AbortSignal): Promise<GatewayCall>;
  /** The configured deployments, in the order of the configuration. */
  deployments(): readonly Deployment[];
}

/** What the gateway leaves behind of one call. */
export interface CallRecord {
  readonly spend: SpendRow;
  readonly span: Span;
}

/** Takes records off the hot path: returns at once, commits soon, in batches. */
export interface CallRecorder {
  record(call: CallRecord): void;
}
