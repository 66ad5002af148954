import { addUsd, type Usd } from '../money.ts';
import type { SpendRow } from '../spend/spend-row.ts';
import { agentOfLabel } from './assemble-trace.ts';
import type { SpanHead, SpanType } from './span.ts';

/** What was found of a model call in the gateway's books. */
export interface CallSpend {
  /**
   * `matched`: one row. `no_call_id`: nothing on the span leads to one. `no_spend_log`: it names an answer that no row
   * of its trace has. `ambiguous`: more than one could be it.
   */
  readonly match: 'matched' | 'no_call_id' | 'no_spend_log' | 'ambiguous';
  /** Only of one that is matched. */
  readonly row: SpendRow | null;
}

/** What an agent's calls cost: each row of the books once, however many spans tell of it. */
export interface AgentSpend {
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  readonly pricedCalls: number;
}

const CALL_TYPES: ReadonlySet<SpanType> = new Set(['llm', 'embedding', 'reranker']);

/** Whether a span is a call of a model, which the gateway may have a row of. */
export const isModelCall = ({ type }: SpanHead): boolean => CALL_TYPES.has(type);

/**
 * The model calls of a trace, by span id, each with its row among the rows of the trace's own spans: its own row where
 * the gateway made the span, else the row that has the answer it names, else that of the one gateway span right below.
 */
export function callSpendOf(spans: readonly SpanHead[], rows: readonly SpendRow[]): ReadonlyMap<string, CallSpend> {
  const own = new Map(rows.map((row) => [row.spanId, row]));
  const byAnswer = Map.groupBy(rows, ({ responseId }) => responseId ?? '');
  const below = Map.groupBy(
    spans.filter(({ spanId }) => own.has(spanId)),
    ({ parentSpanId }) => parentSpanId ?? '',
  );
  const candidatesOf = ({ spanId, requestId }: SpanHead): readonly SpendRow[] => {
    const mine = own.get(spanId);
    if (mine !== undefined) return [mine];
    const named = requestId === null ? undefined : byAnswer.get(requestId);
    return named ?? (below.get(spanId) ?? []).flatMap((child) => own.get(child.spanId) ?? []);
  };
  return new Map(
    spans.filter(isModelCall).map((span): readonly [string, CallSpend] => {
      const [row, ...others] = candidatesOf(span);
      if (row === undefined)
        return [span.spanId, { match: span.requestId === null ? 'no_call_id' : 'no_spend_log', row: null }];
      return [span.spanId, others.length > 0 ? { match: 'ambiguous', row: null } : { match: 'matched', row }];
    }),
  );
}

/** What the calls of each agent cost, by the agent's name in the trace. */
export function agentSpendOf(
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): ReadonlyMap<string, AgentSpend> {
  const nameOf = agentOfLabel(spans);
  const rows = new Map<string, Map<string, Usd>>();
  for (const { spanId, agent: label } of spans) {
    const row = calls.get(spanId)?.row;
    const agent = nameOf(label);
    if (agent === null || row?.cost === undefined || row.cost === null) continue;
    rows.set(agent, (rows.get(agent) ?? new Map<string, Usd>()).set(row.id, row.cost));
  }
  return new Map(
    [...rows].map(([agent, costs]) => [agent, { spend: [...costs.values()].reduce(addUsd), pricedCalls: costs.size }]),
  );
}
