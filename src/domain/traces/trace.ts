import type { Owner } from '../caller.ts';
import { addUsd, type Usd } from '../money.ts';
import { countedCalls, countedEstimates, sumOfEstimates } from './estimates.ts';
import type { SpanHead, SpanStatus, SpanType, TraceSource } from './span.ts';

/** The row of a list: cheap, no spans. Kept up to date as spans arrive. */
export interface TraceSummary {
  readonly traceId: string;
  /** Opaque handle of this owner's trace: two keys that send one trace id have two. */
  readonly traceRef: string;
  readonly owner: Owner;
  /** Name of the root span; empty until the root has arrived. */
  readonly name: string;
  readonly service: string;
  /** Of its root; while that has none, of the earliest agent or model call that has one. */
  readonly inputPreview: string;
  /** When the span began that lends its preview, Unix nanoseconds; null where it is the root's own, or none. */
  readonly previewNs: bigint | null;
  /** Earliest start and latest end of its spans, Unix nanoseconds. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Status of the root span; `unset` until it has arrived. */
  readonly status: SpanStatus;
  readonly spanCount: number;
  /** Distinct agent names, sorted. */
  readonly agentNames: readonly string[];
  /** Number of agent spans. */
  readonly agentInvocations: number;
  /** Model calls, each once: what the gateway tells of is not counted again as its caller tells of it. */
  readonly llmCalls: number;
  /** Of those, the ones that the gateway made. */
  readonly gatewayCalls: number;
  readonly toolCalls: number;
  /** Spans with error status anywhere in the trace. */
  readonly errorCount: number;
  /** Sum over its model calls, or over all spans while no model call is known. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Distinct models, sorted. */
  readonly models: readonly string[];
  /** Distinct frameworks, sorted. */
  readonly frameworks: readonly string[];
  /** Sum over the priced calls; null when none is priced. */
  readonly spend: Usd | null;
  readonly pricedCalls: number;
  /** Of the spend, what is estimated from the catalog, and of how many of the priced calls; null when of none. */
  readonly estimate: Usd | null;
  readonly estimatedCalls: number;
  /** Where its run was asked for; null when its root does not tell. */
  readonly source: TraceSource | null;
  /** When its texts were taken out; null for a trace that has them. */
  readonly redactedAt: Date | null;
}

/** An agent as a trace shows it. */
export interface TraceAgent {
  readonly name: string;
  /** Nearest ancestor agent of another name; null at the top. */
  readonly parentAgent: string | null;
  readonly invocations: number;
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Sum over its agent spans: parallel ones can exceed the trace. */
  readonly durationMs: number;
}

export interface Trace {
  readonly summary: TraceSummary;
  readonly agents: readonly TraceAgent[];
  /** By start; hierarchy only through the parent ids. */
  readonly spans: readonly SpanHead[];
  /** What it is put together from: one for each key that sent its id. */
  readonly parts: readonly TraceIdentity[];
}

/** What subscribers of traces hear: the summary as it stands after a commit. */
export interface TraceChange {
  readonly summary: TraceSummary;
}

/** The window and position of one page of a list; newest first, by (startMs, traceRef). */
export interface TraceWindow {
  /** Unix milliseconds, inclusive. */
  readonly startMs: number;
  /** Unix milliseconds, exclusive. */
  readonly endMs: number;
  /** Continue strictly below this row; null for the first page. */
  readonly after: { readonly startMs: number; readonly traceRef: string } | null;
}

export const TRACE_PAGE_SIZE = 50;

function distinctSorted(known: readonly string[], more: readonly string[]): readonly string[] {
  const names = new Set(known);
  for (const name of more) if (name !== '') names.add(name);
  return names.size < 2 ? [...names] : [...names].toSorted();
}

/** What spans of one trace make of its summary. Tallies of different spans add up, in any order. */
export interface TraceTally extends Pick<
  TraceSummary,
  | 'startNs'
  | 'endNs'
  | 'spanCount'
  | 'agentNames'
  | 'agentInvocations'
  | 'llmCalls'
  | 'gatewayCalls'
  | 'toolCalls'
  | 'errorCount'
  | 'inputTokens'
  | 'outputTokens'
  | 'models'
  | 'frameworks'
  | 'spend'
  | 'pricedCalls'
  | 'estimate'
  | 'estimatedCalls'
> {
  /** The earliest root among them; null when there is none. */
  readonly root: Pick<TraceSummary, 'name' | 'service' | 'inputPreview' | 'status' | 'source'> | null;
  /** Of the first span that came. */
  readonly service: string;
  /** What is shown where the root has no preview; null where it has, or nobody. */
  readonly lent: LentPreview | null;
}

/** The preview of a span that is not the root, and when that span began. */
interface LentPreview {
  readonly inputPreview: string;
  readonly previewNs: bigint;
}

/** Tells one trace from another: fixed when its first span arrives. */
export type TraceIdentity = Pick<TraceSummary, 'traceId' | 'traceRef' | 'owner'>;

const least = (left: bigint, right: bigint): bigint => (left < right ? left : right);
const most = (left: bigint, right: bigint): bigint => (left > right ? left : right);
const sumOf = (left: Usd | null, right: Usd | null): Usd | null =>
  left === null ? right : right === null ? left : addUsd(left, right);

const LENDERS: ReadonlySet<SpanType> = new Set(['agent', 'llm']);

/** Of spans that began at once, the words decide: who came first must not. */
function earlierPreview(left: LentPreview | null, right: LentPreview | null): LentPreview | null {
  if (left === null || right === null) return left ?? right;
  if (left.previewNs !== right.previewNs) return left.previewNs < right.previewNs ? left : right;
  return left.inputPreview <= right.inputPreview ? left : right;
}

function lentBy(spans: readonly SpanHead[]): LentPreview | null {
  let lent: LentPreview | null = null;
  for (const { type, inputPreview, startNs: previewNs } of spans)
    if (inputPreview !== '' && LENDERS.has(type)) lent = earlierPreview(lent, { inputPreview, previewNs });
  return lent;
}

/** The tally of at least one span. */
export function tallyOf(spans: readonly SpanHead[]): TraceTally {
  const root = spans.reduce<SpanHead | null>(
    (first, span) => (span.parentSpanId === null && (first === null || span.startNs < first.startNs) ? span : first),
    null,
  );
  const count = (wanted: (span: SpanHead) => boolean): number => spans.filter(wanted).length;
  const distinct = (names: readonly string[]): readonly string[] => distinctSorted([], names);
  const calls = countedCalls(spans);
  const counted = countedEstimates(spans);
  const estimate = sumOfEstimates(counted.values());
  const charged = spans.reduce<Usd | null>((total, { cost }) => sumOf(total, cost), null);
  return {
    root: root && {
      name: root.name,
      service: root.service,
      inputPreview: root.inputPreview,
      status: root.status,
      source: root.source,
    },
    service: spans[0]?.service ?? '',
    lent: root?.inputPreview ? null : lentBy(spans),
    startNs: spans.map(({ startNs }) => startNs).reduce(least),
    endNs: spans.map(({ endNs }) => endNs).reduce(most),
    spanCount: spans.length,
    agentNames: distinct(spans.map(({ agent }) => agent)),
    agentInvocations: count(({ type }) => type === 'agent'),
    llmCalls: calls.llmCalls,
    toolCalls: count(({ type }) => type === 'tool'),
    errorCount: count(({ status }) => status === 'error'),
    inputTokens: calls.inputTokens,
    outputTokens: calls.outputTokens,
    models: distinct(spans.map(({ model }) => model ?? '')),
    frameworks: distinct(spans.map(({ framework }) => framework)),
    spend: sumOf(charged, estimate),
    pricedCalls: count(({ cost }) => cost !== null) + counted.size,
    estimate,
    estimatedCalls: counted.size,
    gatewayCalls: calls.gatewayCalls,
  };
}

/** A summary after spans not counted before are added to it; `summary` null starts one. The first root names it. */
export function addTally(summary: TraceSummary | null, identity: TraceIdentity, tally: TraceTally): TraceSummary {
  const { root, service, lent, ...counts } = tally;
  if (summary === null)
    return {
      ...identity,
      name: root?.name ?? '',
      service: root?.service || service,
      ...shownOf(root?.inputPreview ?? '', lent),
      status: root?.status ?? 'unset',
      source: root?.source ?? null,
      redactedAt: null,
      ...counts,
    };
  const naming = summary.name === '' ? (root ?? summary) : summary;
  // As within a tally: only calls count once one is known.
  const before = summary.llmCalls > 0 || tally.llmCalls === 0 ? summary : NO_TOKENS;
  const after = tally.llmCalls > 0 || summary.llmCalls === 0 ? tally : NO_TOKENS;
  return {
    ...identity,
    name: naming.name,
    service: naming.service || summary.service || service,
    ...previewOf(summary, naming, lent),
    status: naming.status,
    source: summary.source ?? root?.source ?? null,
    redactedAt: summary.redactedAt,
    startNs: least(summary.startNs, tally.startNs),
    endNs: most(summary.endNs, tally.endNs),
    spanCount: summary.spanCount + tally.spanCount,
    agentNames: distinctSorted(summary.agentNames, tally.agentNames),
    agentInvocations: summary.agentInvocations + tally.agentInvocations,
    llmCalls: summary.llmCalls + tally.llmCalls,
    gatewayCalls: summary.gatewayCalls + tally.gatewayCalls,
    toolCalls: summary.toolCalls + tally.toolCalls,
    errorCount: summary.errorCount + tally.errorCount,
    inputTokens: before.inputTokens + after.inputTokens,
    outputTokens: before.outputTokens + after.outputTokens,
    models: distinctSorted(summary.models, tally.models),
    frameworks: distinctSorted(summary.frameworks, tally.frameworks),
    spend: sumOf(summary.spend, tally.spend),
    pricedCalls: summary.pricedCalls + tally.pricedCalls,
    estimate: sumOf(summary.estimate, tally.estimate),
    estimatedCalls: summary.estimatedCalls + tally.estimatedCalls,
  };
}

/** A root's own preview, else what is lent. */
const shownOf = (own: string, lent: LentPreview | null): Pick<TraceSummary, 'inputPreview' | 'previewNs'> =>
  own === '' && lent !== null ? lent : { inputPreview: own, previewNs: null };

function previewOf(
  summary: TraceSummary,
  naming: Pick<TraceSummary, 'inputPreview'>,
  lent: LentPreview | null,
): Pick<TraceSummary, 'inputPreview' | 'previewNs'> {
  const { inputPreview, previewNs } = summary;
  if (previewNs === null) return shownOf(naming.inputPreview, lent);
  return shownOf(naming === summary ? '' : naming.inputPreview, earlierPreview({ inputPreview, previewNs }, lent));
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 };

/** `addTally` of the spans themselves. */
export function growSummary(
  summary: TraceSummary | null,
  identity: TraceIdentity,
  added: readonly SpanHead[],
): TraceSummary {
  return addTally(summary, identity, tallyOf(added));
}
