import { addUsd, type Usd } from '../money.ts';
import type { SpanHead } from './span.ts';

/** Members of a span that decide which estimates count. */
export type CallLink = Pick<SpanHead, 'spanId' | 'parentSpanId' | 'type' | 'requestId' | 'gateway' | 'estimate'>;

/** A call link with token counts. */
export type CallCount = CallLink & Pick<SpanHead, 'inputTokens' | 'outputTokens'>;

/** Span types at which a traversal of ancestors ends: spans above them do not describe calls below them. */
export const BOUNDARIES: readonly CallLink['type'][] = ['agent', 'tool'];

/** Whether a traversal of ancestors ends at this span. All other spans are called steps. */
export const isBoundary = ({ type }: Pick<CallLink, 'type'>): boolean => BOUNDARIES.includes(type);

/** Whether a span is a known call. Estimates of spans above it describe the same call and do not count. */
export const isKnownCall = ({ gateway, estimate }: CallLink): boolean => gateway || estimate !== null;

/** Whether the estimate of a span may count. */
export const isEstimated = ({ gateway, estimate }: CallLink): boolean => !gateway && estimate !== null;

/** Whether a span is a model call that the gateway made. */
export const isGatewayCall = ({ gateway, type }: CallLink): boolean => gateway && type === 'llm';

/** Limit of an answer id: longer than real ones, and short enough for an index of every database. */
const ANSWER_CHARACTERS = 512;

/** The answer id of a span; null without one, and for a text above the limit. */
export const answerIdOf = ({ requestId }: Pick<CallLink, 'requestId'>): string | null =>
  requestId === null || requestId === '' || requestId.length > ANSWER_CHARACTERS ? null : requestId;

/** The parent id of a span; null for a root, and for a span that names itself as its parent. */
export const parentIdOf = ({ spanId, parentSpanId }: Step): string | null =>
  parentSpanId === spanId ? null : parentSpanId;

/**
 * The estimates that count in a trace, by span id: each call once, however many spans describe it. The result does not
 * depend on the order of the spans. An estimate does not count in these cases:
 *
 * - its span has type `llm` and a known call below it, with no agent or tool span between;
 * - its answer id is that of an `llm` call of the gateway, or of another span whose estimate counts.
 *
 * In a cycle of parents every call is below itself.
 */
export function countedEstimates(spans: readonly CallLink[]): ReadonlyMap<string, Usd> {
  const estimated = spans.filter(isEstimated);
  if (estimated.length === 0) return new Map();
  const repeated = repeatingCalls(spans, isKnownCall);
  const answers = answersOfGateway(spans);
  const counted = new Map<string, Usd>();
  for (const span of sharesAnswer(estimated) ? estimated.toSorted(compareIds) : estimated) {
    const { spanId, estimate } = span;
    const answer = answerIdOf(span);
    if (estimate === null || repeated.has(spanId) || (answer !== null && answers.has(answer))) continue;
    counted.set(spanId, estimate);
    if (answer !== null) answers.add(answer);
  }
  return counted;
}

function answersOfGateway(spans: readonly CallLink[]): Set<string> {
  const answers = new Set<string>();
  for (const span of spans) {
    const answer = isGatewayCall(span) ? answerIdOf(span) : null;
    if (answer !== null) answers.add(answer);
  }
  return answers;
}

/** Whether two spans have one answer id. Then the order of the spans decides which of them counts. */
function sharesAnswer(spans: readonly CallLink[]): boolean {
  const answers = new Set<string>();
  for (const span of spans) {
    const answer = answerIdOf(span);
    if (answer === null) continue;
    if (answers.has(answer)) return true;
    answers.add(answer);
  }
  return false;
}

const compareIds = (left: CallLink, right: CallLink): number => (left.spanId < right.spanId ? -1 : 1);

/** Model calls of a trace and their tokens. */
export interface CallCounts {
  readonly llmCalls: number;
  /** Model calls that the gateway made, included in `llmCalls`. */
  readonly gatewayCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Whether a span is a model call, of the gateway or of a client. */
export const isCall = ({ type }: Pick<CallLink, 'type'>): boolean => type === 'llm';

/** Whether a model call has token counts of its own. They replace those of the calls above it. */
export const hasUsage = (span: CallCount): boolean =>
  isGatewayCall(span) || (isCall(span) && span.inputTokens + span.outputTokens > 0);

/** The spans that count as model calls, each call once: see `countedCalls`. */
export const countedCallSpans = <Span extends CallLink>(spans: readonly Span[]): readonly Span[] =>
  countedAmong(callsOf(spans), isCall);

/** The model calls whose tokens count, each call once: see `countedCalls`. */
export const countedTokenSpans = <Span extends CallCount>(spans: readonly Span[]): readonly Span[] =>
  tokenSpansAmong(callsOf(spans));

function tokenSpansAmong<Span extends CallCount>(calls: TraceCalls<Span>): readonly Span[] {
  const { answers } = calls;
  // The tokens of a call with the answer of a gateway call are those of the gateway call.
  return countedAmong(calls, (span) => hasUsage(span) || (isCall(span) && answers.has(answerIdOf(span) ?? '')));
}

/** The spans of a trace, with facts that decide which calls count. */
interface TraceCalls<Span extends CallLink> {
  readonly spans: readonly Span[];
  /** Whether a model call is the parent of a span. Nearly all model calls are leaves. */
  readonly isNested: boolean;
  /** Answer ids of the calls of the gateway. */
  readonly answers: ReadonlySet<string>;
}

const callsOf = <Span extends CallLink>(spans: readonly Span[]): TraceCalls<Span> => ({
  spans,
  isNested: hasCallWithChild(spans),
  answers: answersOfGateway(spans),
});

/**
 * The model calls without the client calls that another span replaces. A span that matches `isReplacing` replaces the
 * calls above it, if no agent or tool span is between. A gateway call replaces calls with its answer id.
 */
function countedAmong<Span extends CallLink>(
  { spans, isNested, answers }: TraceCalls<Span>,
  isReplacing: (span: Span) => boolean,
): readonly Span[] {
  const repeated = isNested ? repeatingCalls(spans, isReplacing) : null;
  const isReplaced = (span: Span): boolean =>
    repeated?.has(span.spanId) === true || (answers.size > 0 && answers.has(answerIdOf(span) ?? ''));
  return spans.filter((span) => isCall(span) && (span.gateway || !isReplaced(span)));
}

function hasCallWithChild(spans: readonly CallLink[]): boolean {
  const parents = new Set<string>();
  let previous: string | null = null;
  for (const { parentSpanId } of spans) {
    // Neighbours often have one parent. Comparing is cheaper than a look-up in the set.
    if (parentSpanId === null || parentSpanId === previous) continue;
    parents.add(parentSpanId);
    previous = parentSpanId;
  }
  return spans.some((span) => isCall(span) && parents.has(span.spanId));
}

/**
 * Counts each model call once. Where model call spans are nested with no agent or tool span between, the innermost is
 * the call. Its tokens are those of the innermost span that has tokens or the answer id of a gateway call. A call of
 * the gateway always counts, and client spans with its answer id do not.
 */
export function countedCalls(spans: readonly CallCount[]): CallCounts {
  const all = callsOf(spans);
  const calls = countedAmong(all, isCall);
  // Agent spans repeat the usage of their calls. They count only in a trace without calls.
  const counted = calls.length > 0 ? tokenSpansAmong(all) : spans;
  return {
    llmCalls: calls.length,
    gatewayCalls: calls.filter(isGatewayCall).length,
    inputTokens: counted.reduce((total, { inputTokens }) => total + inputTokens, 0),
    outputTokens: counted.reduce((total, { outputTokens }) => total + outputTokens, 0),
  };
}

/** Ids of the model calls above a span that matches `isReplacing`, with no agent or tool span between. */
function repeatingCalls<Span extends CallLink>(
  spans: readonly Span[],
  isReplacing: (span: Span) => boolean,
): ReadonlySet<string> {
  const repeated = new Set<string>();
  const calls = spans.filter((span) => isReplacing(span) && parentIdOf(span) !== null);
  if (calls.length === 0) return repeated;
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const visited = new Set<string>();
  for (const call of calls) {
    // The ancestors of a visited step are visited already.
    let step = stepAbove(call, byId);
    while (step !== undefined && !visited.has(step.spanId)) {
      visited.add(step.spanId);
      if (step.type === 'llm') repeated.add(step.spanId);
      step = stepAbove(step, byId);
    }
  }
  return repeated;
}

type Step = Pick<CallLink, 'spanId' | 'parentSpanId' | 'type'>;

/** The parent of a span; undefined at a boundary or a missing span. */
function stepAbove<Span extends Step>(span: Step, byId: ReadonlyMap<string, Span>): Span | undefined {
  const parent = byId.get(parentIdOf(span) ?? '');
  return parent === undefined || isBoundary(parent) ? undefined : parent;
}

/**
 * For each of these calls, the nearest ancestor that is also one of them, with no agent or tool span between. The
 * result maps the id of the call to the id of the ancestor. Calls without such an ancestor are absent.
 */
export function nearestCallAncestors(spans: readonly Step[], calls: ReadonlySet<string>): ReadonlyMap<string, string> {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const nearest = new Map<string, string>();
  for (const span of spans) {
    if (!calls.has(span.spanId)) continue;
    const seen = new Set<string>();
    let step = stepAbove(span, byId);
    while (step !== undefined && !seen.has(step.spanId) && !calls.has(step.spanId)) {
      seen.add(step.spanId);
      step = stepAbove(step, byId);
    }
    if (step !== undefined && calls.has(step.spanId)) nearest.set(span.spanId, step.spanId);
  }
  return nearest;
}

/** The sum of the amounts that are not null; null when both are. */
export function sumOfKnown(left: Usd | null, right: Usd | null): Usd | null {
  if (left === null || right === null) return left ?? right;
  return addUsd(left, right);
}

/** The sum of some estimates; null when there is none. */
export const sumOfEstimates = (estimates: Iterable<Usd>): Usd | null =>
  [...estimates].reduce<Usd | null>(sumOfKnown, null);
