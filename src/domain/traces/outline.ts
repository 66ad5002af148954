import type { AgentSpend } from './agents.ts';
import type { CallSpend, SpendSummary } from './call-spend.ts';
import type { Trace } from './trace.ts';

/** Aggregates over all spans of a trace, without texts. */
export interface TraceOutline extends Pick<Trace, 'agents'> {
  /** Whether its root has not arrived. The trace is then shown with name and status of its first span. */
  readonly rootless: boolean;
  /** Spend of the model calls, by span id. */
  readonly calls: ReadonlyMap<string, CallSpend>;
  /** Spend of the agents, by name. */
  readonly agentSpend: ReadonlyMap<string, AgentSpend>;
  /** Spend of its summary, with calls that the gateway recorded in other traces. */
  readonly spend: SpendSummary;
}

/**
 * Bounded cache of outlines for traces that are read by pages: computing an outline reads all spans. The caller chooses
 * the names.
 */
export interface TraceOutlines {
  find(name: string): TraceOutline | null;
  put(name: string, outline: TraceOutline): void;
}
