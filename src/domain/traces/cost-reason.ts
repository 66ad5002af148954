import { type CallSpend, isModelCall } from './call-spend.ts';
import type { CallNames } from './call-usage.ts';
import { countedCallSpans } from './estimates.ts';
import type { SpanHead } from './span.ts';

/**
 * Why a cost is missing. `no_model_calls`: the trace has no model call. Reasons of a call: `ambiguous`: several spend
 * rows match. `no_usage`: its span has no input tokens. `no_model`: its span names no model. `unknown_model`: the
 * catalog has no unambiguous entry for its model and provider. `no_price`: no price is known for its tokens.
 */
export type CostReason = 'no_model_calls' | 'no_usage' | 'no_model' | 'unknown_model' | 'no_price' | 'ambiguous';

/** Whether the catalog has an unambiguous entry for a model and provider. */
type IsInCatalog = (named: CallNames) => boolean;

/**
 * Why a call has no cost. Null for a call with a cost, and for a span whose estimate counts at another span of the same
 * call.
 */
function costReasonOf(span: SpanHead, call: CallSpend, isInCatalog: IsInCatalog): CostReason | null {
  if (call.cost !== null || span.estimate !== null) return null;
  if (call.match === 'ambiguous') return 'ambiguous';
  if (call.row !== null || span.gateway) return 'no_price';
  const { model, provider } = span;
  if (span.inputTokens === 0) return 'no_usage';
  if (model === null) return 'no_model';
  return isInCatalog({ models: [model], provider }) ? 'no_price' : 'unknown_model';
}

/**
 * Why the cost of a trace is missing or incomplete: `no_model_calls`, else the reason of the first counted call that
 * has one. Null when no counted call has one. Embeddings and rerankers count when they have input tokens.
 */
export function costReasonOfTrace(
  spans: readonly SpanHead[],
  calls: ReadonlyMap<string, CallSpend>,
  isInCatalog: IsInCatalog,
): CostReason | null {
  if (calls.size === 0) return 'no_model_calls';
  const counted = new Set(countedCallSpans(spans).map(({ spanId }) => spanId));
  for (const span of spans) {
    const isEmbeddingOrReranker = isModelCall(span) && span.type !== 'llm';
    const isCounted = counted.has(span.spanId) || (isEmbeddingOrReranker && span.inputTokens > 0);
    const call = isCounted ? calls.get(span.spanId) : undefined;
    const reason = call === undefined ? null : costReasonOf(span, call, isInCatalog);
    if (reason !== null) return reason;
  }
  return null;
}
