import type { Owner } from '../caller.ts';
import type { Usd } from '../money.ts';
import { countedCalls, countedEstimates, sumOfEstimates, sumOfKnown } from './estimates.ts';
import type { SpanHead, SpanStatus, SpanType, TraceSource } from './span.ts';
import { joinLabels, labelsIn, NO_LABELS, type StatedLabels, statedLabelsOf } from './trace-labels.ts';

/** Summary of a trace, without spans. Updated as spans arrive. */
export interface TraceSummary extends StatedLabels {
  readonly traceId: string;
  /** Opaque handle of a trace of one owner. Two owners may use one trace id. */
  readonly traceRef: string;
  readonly owner: Owner;
  /** Name of its earliest root; empty until a root has arrived. */
  readonly name: string;
  /** Service of its earliest root; service of its earliest span until a root has arrived. */
  readonly service: string;
  /**
   * Start of its earliest root, Unix nanoseconds; null until a root has arrived, and for traces of earlier versions.
   */
  readonly rootNs: bigint | null;
  /** Preview of the earliest root that has one, else of the earliest agent or model call that has one. */
  readonly inputPreview: string;
  /** Rank of the preview, see `previewRankOf`; null without a preview, and for the preview of its earliest root. */
  readonly previewNs: bigint | null;
  /** Earliest start and latest end of its spans, Unix nanoseconds. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Status of its earliest root; `unset` until a root has arrived. */
  readonly status: SpanStatus;
  readonly spanCount: number;
  /** Distinct agent names, sorted. */
  readonly agentNames: readonly string[];
  /** Number of agent spans. */
  readonly agentInvocations: number;
  /** Model calls, each once: a call of the gateway is not counted again for the client's span of it. */
  readonly llmCalls: number;
  /** Model calls that the gateway made, included in `llmCalls`. */
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
  /** Part of the spend that is estimated from the catalog; null when no part is. */
  readonly estimate: Usd | null;
  /** Priced calls with an estimate, included in `pricedCalls`. */
  readonly estimatedCalls: number;
  /** Source of its run, stated by its earliest root; null when that root states none. */
  readonly source: TraceSource | null;
  /** Time of redaction; null when it is not redacted. */
  readonly redactedAt: Date | null;
}

/** An agent of a trace. */
export interface TraceAgent {
  readonly name: string;
  /** Name of the nearest agent with another name above its first span; null without one. */
  readonly parentAgent: string | null;
  readonly invocations: number;
  /**
   * Model calls, each once. They are below its spans, up to the next agent span, or they are below no agent span and
   * name this agent.
   */
  readonly llmCalls: number;
  /** Tool calls, counted for the agent by the same rule. */
  readonly toolCalls: number;
  /** Tool calls that name the agent themselves. */
  readonly namedToolCalls: number;
  /** Sum over its agent spans. Parallel spans can make it longer than the trace. */
  readonly durationMs: number;
}

export interface Trace {
  readonly summary: TraceSummary;
  readonly agents: readonly TraceAgent[];
  /** Sorted by start. Only the parent ids give the hierarchy. */
  readonly spans: readonly SpanHead[];
  /** Identities of the summaries that it is merged from, one per owner. */
  readonly parts: readonly TraceIdentity[];
}

/** Message to subscribers of traces: the summary after a commit. */
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

/** Distinct names that are not empty, sorted. */
function sortedNames(names: Set<string>): readonly string[] {
  names.delete('');
  return names.size < 2 ? [...names] : [...names].toSorted();
}

const distinctSorted = (known: readonly string[], more: readonly string[]): readonly string[] =>
  sortedNames(new Set([...known, ...more]));

/** Contribution of some spans to the summary of their trace. Tallies may be added in any order. */
export interface TraceTally extends Omit<
  TraceSummary,
  keyof TraceIdentity | keyof Root | keyof Preview | 'redactedAt'
> {
  /** The earliest root among the spans; null when there is none. */
  readonly root: Root | null;
  /** Service of the earliest span. */
  readonly service: string;
  /** The preview of lowest rank among the spans; null without one. */
  readonly preview: Preview | null;
}

/** Members of a trace that its root decides. */
interface Root extends Pick<TraceSummary, 'name' | 'service' | 'status' | 'source'> {
  readonly rootNs: bigint;
}

/** A preview and its rank. */
interface Preview {
  readonly inputPreview: string;
  readonly previewNs: bigint;
}

/** Identity of a trace, fixed by its first span. */
export type TraceIdentity = Pick<TraceSummary, 'traceId' | 'traceRef' | 'owner'>;

const earlier = (left: bigint, right: bigint): bigint => (left < right ? left : right);
const later = (left: bigint, right: bigint): bigint => (left > right ? left : right);

/** Types of spans that give a preview where no root has one. */
const PREVIEW_TYPES: ReadonlySet<SpanType> = new Set(['agent', 'llm']);
const ROOT_RANK_OFFSET = -(2n ** 63n);

/**
 * Rank of the preview of a span; the lowest is shown. Roots come before other spans, both by start. Fits into 64 bits.
 */
const previewRankOf = ({ parentSpanId, startNs }: Pick<SpanHead, 'parentSpanId' | 'startNs'>): bigint =>
  parentSpanId === null ? startNs + ROOT_RANK_OFFSET : startNs;

/**
 * The preview with the lower rank. Here and in the functions below, ties are broken by text, so that the result does
 * not depend on the order of arrival.
 */
function firstPreview(left: Preview | null, right: Preview | null): Preview | null {
  if (left === null || right === null) return left ?? right;
  if (left.previewNs !== right.previewNs) return left.previewNs < right.previewNs ? left : right;
  return left.inputPreview <= right.inputPreview ? left : right;
}

const tieBreakOf = ({ name, service, status, source }: Root): string =>
  JSON.stringify([name, service, status, source?.type, source?.url, source?.title, source?.user]);

function firstRoot(left: Root | null, right: Root | null): Root | null {
  if (left === null || right === null) return left ?? right;
  if (left.rootNs !== right.rootNs) return left.rootNs < right.rootNs ? left : right;
  return tieBreakOf(left) <= tieBreakOf(right) ? left : right;
}

type ServiceAt = Pick<TraceTally, 'startNs' | 'service'>;

function firstService(left: ServiceAt, right: ServiceAt): string {
  if (left.startNs !== right.startNs) return left.startNs < right.startNs ? left.service : right.service;
  if (left.service === '' || right.service === '') return left.service || right.service;
  return left.service <= right.service ? left.service : right.service;
}

const rootOf = ({ name, service, status, source, startNs: rootNs }: SpanHead): Root => {
  return { name, service, status, source, rootNs };
};

function previewOf(spans: readonly SpanHead[]): Preview | null {
  let shown: Preview | null = null;
  for (const span of spans) {
    const { inputPreview, type, parentSpanId } = span;
    if (inputPreview !== '' && (parentSpanId === null || PREVIEW_TYPES.has(type)))
      shown = firstPreview(shown, { inputPreview, previewNs: previewRankOf(span) });
  }
  return shown;
}

/** The tally of at least one span. */
export function tallyOf(spans: readonly SpanHead[]): TraceTally {
  const roots: SpanHead[] = [];
  const [agents, models, frameworks] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const counts = { agentInvocations: 0, toolCalls: 0, errorCount: 0 };
  let earliest: ServiceAt = { startNs: spans[0]?.startNs ?? 0n, service: '' };
  let endNs = spans[0]?.endNs ?? 0n;
  let charged: Usd | null = null;
  let chargedCalls = 0;
  let labels = NO_LABELS;
  // A single loop: it runs for every span of an export.
  for (const span of spans) {
    if (span.parentSpanId === null) roots.push(span);
    agents.add(span.agent);
    models.add(span.model ?? '');
    frameworks.add(span.framework);
    if (span.type === 'agent') counts.agentInvocations += 1;
    else if (span.type === 'tool') counts.toolCalls += 1;
    if (span.status === 'error') counts.errorCount += 1;
    if (span.startNs <= earliest.startNs) earliest = { startNs: span.startNs, service: firstService(earliest, span) };
    endNs = later(endNs, span.endNs);
    if (span.labels !== undefined) labels = joinLabels(labels, statedLabelsOf(span.labels, span.parentSpanId === null));
    if (span.cost === null) continue;
    charged = sumOfKnown(charged, span.cost);
    chargedCalls += 1;
  }
  const calls = countedCalls(spans);
  const counted = countedEstimates(spans);
  const estimate = sumOfEstimates(counted.values());
  return {
    root: roots.map(rootOf).reduce<Root | null>(firstRoot, null),
    service: earliest.service,
    preview: previewOf(roots) ?? previewOf(spans),
    startNs: earliest.startNs,
    endNs,
    spanCount: spans.length,
    agentNames: sortedNames(agents),
    agentInvocations: counts.agentInvocations,
    llmCalls: calls.llmCalls,
    toolCalls: counts.toolCalls,
    errorCount: counts.errorCount,
    inputTokens: calls.inputTokens,
    outputTokens: calls.outputTokens,
    models: sortedNames(models),
    frameworks: sortedNames(frameworks),
    spend: sumOfKnown(charged, estimate),
    pricedCalls: chargedCalls + counted.size,
    estimate,
    estimatedCalls: counted.size,
    gatewayCalls: calls.gatewayCalls,
    ...labels,
  };
}

/** The summary with a tally added; null starts a new summary. */
export function addTally(summary: TraceSummary | null, identity: TraceIdentity, tally: TraceTally): TraceSummary {
  const { root: addedRoot, service, preview, ...counts } = tally;
  if (summary === null)
    return {
      ...identity,
      ...namedBy(addedRoot, service),
      ...previewUnder(addedRoot, preview),
      redactedAt: null,
      ...counts,
    };
  const storedRoot = rootOfSummary(summary);
  const root = firstRoot(storedRoot, addedRoot);
  // As in a tally, tokens of other spans count only while the trace has no model call.
  const hasCalls = summary.llmCalls > 0 || tally.llmCalls > 0;
  const storedTokens = hasCalls && summary.llmCalls === 0 ? NO_TOKENS : summary;
  const addedTokens = hasCalls && tally.llmCalls === 0 ? NO_TOKENS : tally;
  return {
    ...identity,
    ...namedBy(root, firstService(summary, tally)),
    ...previewUnder(root, firstPreview(previewOfSummary(summary, storedRoot), preview)),
    redactedAt: summary.redactedAt,
    startNs: earlier(summary.startNs, tally.startNs),
    endNs: later(summary.endNs, tally.endNs),
    spanCount: summary.spanCount + tally.spanCount,
    agentNames: distinctSorted(summary.agentNames, tally.agentNames),
    agentInvocations: summary.agentInvocations + tally.agentInvocations,
    llmCalls: summary.llmCalls + tally.llmCalls,
    gatewayCalls: summary.gatewayCalls + tally.gatewayCalls,
    toolCalls: summary.toolCalls + tally.toolCalls,
    errorCount: summary.errorCount + tally.errorCount,
    inputTokens: storedTokens.inputTokens + addedTokens.inputTokens,
    outputTokens: storedTokens.outputTokens + addedTokens.outputTokens,
    models: distinctSorted(summary.models, tally.models),
    frameworks: distinctSorted(summary.frameworks, tally.frameworks),
    spend: sumOfKnown(summary.spend, tally.spend),
    pricedCalls: summary.pricedCalls + tally.pricedCalls,
    estimate: sumOfKnown(summary.estimate, tally.estimate),
    estimatedCalls: summary.estimatedCalls + tally.estimatedCalls,
    ...joinLabels(labelsIn(summary), labelsIn(tally)),
  };
}

type RootMembers = Pick<TraceSummary, 'name' | 'service' | 'status' | 'source' | 'rootNs'>;

/** `service` is the service of the earliest span. It is used when there is no root. */
const namedBy = (root: Root | null, service: string): RootMembers =>
  root ?? { name: '', service, status: 'unset', source: null, rootNs: null };

/**
 * The earliest root of a summary. Summaries of earlier versions have no start of the root. The start of the trace
 * replaces it, so that a later root never replaces the stored one.
 */
function rootOfSummary({ name, service, status, source, rootNs, startNs }: TraceSummary): Root | null {
  return rootNs === null && name === '' ? null : { name, service, status, source, rootNs: rootNs ?? startNs };
}

const rankOfRoot = ({ rootNs }: Root): bigint => previewRankOf({ parentSpanId: null, startNs: rootNs });

/** A preview as a summary stores it: the preview of the earliest root has no rank, because the root gives it. */
function previewUnder(root: Root | null, preview: Preview | null): Pick<TraceSummary, 'inputPreview' | 'previewNs'> {
  if (preview === null) return { inputPreview: '', previewNs: null };
  return root !== null && preview.previewNs === rankOfRoot(root) ? { ...preview, previewNs: null } : preview;
}

/**
 * The preview of a summary with its rank. `root` is the root of this summary. Without a stored rank and a root, the
 * preview has the lowest rank: no other replaces it.
 */
function previewOfSummary({ inputPreview, previewNs }: TraceSummary, root: Root | null): Preview | null {
  if (inputPreview === '') return null;
  return { inputPreview, previewNs: previewNs ?? (root === null ? ROOT_RANK_OFFSET : rankOfRoot(root)) };
}

const NO_TOKENS = { inputTokens: 0, outputTokens: 0 };

/** `addTally` with the tally of these spans. */
export function growSummary(
  summary: TraceSummary | null,
  identity: TraceIdentity,
  added: readonly SpanHead[],
): TraceSummary {
  return addTally(summary, identity, tallyOf(added));
}
