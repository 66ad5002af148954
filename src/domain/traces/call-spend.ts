import { addUsd, type Usd } from '../money.ts';
import type { SpendRow } from '../spend/spend-row.ts';
import { agentOfLabel } from './assemble-trace.ts';
import { countedEstimates } from './estimates.ts';
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
  /** What the row says it cost, else an estimate that counts; null when neither is there. */
  readonly cost: Usd | null;
  readonly source: 'gateway' | 'estimated' | null;
}

/** What an agent's calls cost: each call once, however many spans tell of it. */
export interface AgentSpend {
  /** Null when no call is priced. */
  readonly spend: Usd | null;
  readonly pricedCalls: number;
  /** How many of these are estimated from the catalog. */
  readonly estimatedCalls: number;
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
  const estimates = countedEstimates(spans);
  return new Map(
    spans.filter(isModelCall).map((span): readonly [string, CallSpend] => {
      const [row, ...others] = candidatesOf(span);
      if (row === undefined) return [span.spanId, withoutRow(span, estimates.get(span.spanId) ?? null)];
      if (others.length > 0) return [span.spanId, { match: 'ambiguous', row: null, ...UNPRICED }];
      return [span.spanId, { match: 'matched', row, ...(row.cost === null ? UNPRICED : chargedBy(row.cost)) }];
    }),
  );
}

const UNPRICED = { cost: null, source: null } as const;

const chargedBy = (cost: Usd) => ({ cost, source: 'gateway' }) as const;

function withoutRow({ requestId, cost }: SpanHead, estimate: Usd | null): CallSpend {
  const match = requestId === null ? 'no_call_id' : 'no_spend_log';
  // Its row may be another's to see; what is on the span is the reader's.
  if (cost !== null) return { match, row: null, ...chargedBy(cost) };
  return { match, row: null, ...(estimate === null ? UNPRICED : { cost: estimate, source: 'estimated' }) };
}

/** What the calls of each agent cost, by the agent's name in the trace. */
export function agentSpendOf(
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
): ReadonlyMap<string, AgentSpend> {
  const nameOf = agentOfLabel(spans);
  const priced = new Map<string, Map<string, CallSpend>>();
  for (const { spanId, agent: label } of spans) {
    const call = calls.get(spanId);
    const agent = nameOf(label);
    if (agent === null || call === undefined || call.cost === null) continue;
    // One row may be told of by several spans.
    const name = call.row === null ? `span ${spanId}` : `row ${call.row.id}`;
    priced.set(agent, (priced.get(agent) ?? new Map<string, CallSpend>()).set(name, call));
  }
  return new Map(
    [...priced].map(([agent, of]) => {
      const own = [...of.values()];
      const spend = own.flatMap(({ cost }) => cost ?? []).reduce(addUsd);
      const estimatedCalls = own.filter(({ source }) => source === 'estimated').length;
      return [agent, { spend, pricedCalls: own.length, estimatedCalls }];
    }),
  );
}
