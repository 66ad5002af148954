import type { AgentSpend, CallSpend, SpendSummary } from './call-spend.ts';
import type { Trace } from './trace.ts';

/** What all spans of a trace together tell, and nothing of what was said in them. */
export interface TraceOutline extends Pick<Trace, 'agents'> {
  /** Its root has not arrived: it is shown under its first span. */
  readonly rootless: boolean;
  /** By span id. */
  readonly calls: ReadonlyMap<string, CallSpend>;
  /** By the agent's name. */
  readonly agentSpend: ReadonlyMap<string, AgentSpend>;
  /** What its summary says of its spend, with the calls that the gateway has in other traces. */
  readonly spend: SpendSummary;
}

/**
 * Outlines of the traces that are being read page by page: making one takes all spans of its trace, and every page
 * repeats it. A bounded number is kept; one that is gone is made again.
 */
export interface TraceOutlines {
  find(name: string): TraceOutline | null;
  keep(name: string, outline: TraceOutline): void;
}
