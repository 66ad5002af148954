import { addUsd, type Usd } from '../money.ts';
import type { SpanHead } from './span.ts';

/** What of a span decides whose estimates count. */
export type CallLink = Pick<SpanHead, 'spanId' | 'parentSpanId' | 'type' | 'requestId' | 'gateway' | 'estimate'>;

/** The same with what it says it used. */
export type CallCount = CallLink & Pick<SpanHead, 'inputTokens' | 'outputTokens'>;

/** Between a call and what tells of it again there are only steps; these are somebody's doing. */
const BOUNDARIES: ReadonlySet<CallLink['type']> = new Set(['agent', 'tool']);

/**
 * The estimates that count in a trace, by span id: each call once, however many spans tell of it. One does not count
 * that has a call of its own below it, with a record of the gateway or an estimate: it tells of the same call; nor one
 * that names an answer which the gateway, or another span that counts, has. Whatever is added to a trace only ever
 * takes estimates away, so that the order in which its spans come is all the same.
 */
export function countedEstimates(spans: readonly CallLink[]): ReadonlyMap<string, Usd> {
  const estimated = spans.filter(({ estimate }) => estimate !== null);
  if (estimated.length === 0) return new Map();
  const told = tellingAgain(spans, ({ gateway, estimate }) => gateway || estimate !== null);
  const answers = answersOfGateway(spans);
  const counted = new Map<string, Usd>();
  for (const { spanId, requestId, estimate } of estimated.toSorted(byId)) {
    if (estimate === null || told.has(spanId) || (requestId !== null && answers.has(requestId))) continue;
    counted.set(spanId, estimate);
    if (requestId !== null) answers.add(requestId);
  }
  return counted;
}

const answersOfGateway = (spans: readonly CallLink[]): Set<string> =>
  new Set(spans.flatMap(({ gateway, requestId }) => (gateway && requestId !== null ? requestId : [])));

const byId = (left: CallLink, right: CallLink): number => (left.spanId < right.spanId ? -1 : 1);

/** How many model calls a trace has, and what they used. */
export interface CallCounts {
  readonly llmCalls: number;
  /** Of those, the ones that the gateway made. */
  readonly gatewayCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The model calls of a trace and their tokens, each call once: what the gateway tells of is not counted as told above it. */
export function countedCalls(spans: readonly CallCount[]): CallCounts {
  const isGateways = ({ gateway, type }: CallLink): boolean => gateway && type === 'llm';
  const gatewayCalls = spans.filter(isGateways).length;
  const told = gatewayCalls === 0 ? null : tellingAgain(spans, isGateways);
  const answers = answersOfGateway(spans);
  const isTold = ({ spanId, gateway, requestId }: CallLink): boolean =>
    told?.has(spanId) === true || (!gateway && requestId !== null && answers.size > 0 && answers.has(requestId));
  const calls = spans.filter((span) => span.type === 'llm' && !isTold(span));
  // Runs tell the usage of their calls a second time: once a call is known, only calls count.
  const telling = calls.length > 0 ? calls : spans;
  return {
    llmCalls: calls.length,
    gatewayCalls,
    inputTokens: telling.reduce((total, { inputTokens }) => total + inputTokens, 0),
    outputTokens: telling.reduce((total, { outputTokens }) => total + outputTokens, 0),
  };
}

/** The model calls that only tell what one of these calls below them tells. */
function tellingAgain(spans: readonly CallLink[], tells: (span: CallLink) => boolean): ReadonlySet<string> {
  const byOwnId = new Map(spans.map((span) => [span.spanId, span]));
  const above = new Set<string>();
  for (const call of spans)
    if (tells(call)) for (const { spanId, type } of stepsAbove(call, byOwnId)) if (type === 'llm') above.add(spanId);
  return above;
}

type Step = Pick<CallLink, 'spanId' | 'parentSpanId' | 'type'>;

/** What a span is part of, from the inside out, up to what does something itself, a missing parent or a circle. */
function stepsAbove<Span extends Step>(span: Step, byOwnId: ReadonlyMap<string, Span>): readonly Span[] {
  const steps: Span[] = [];
  const seen = new Set([span.spanId]);
  let parent = byOwnId.get(span.parentSpanId ?? '');
  while (parent !== undefined && !BOUNDARIES.has(parent.type) && !seen.has(parent.spanId)) {
    steps.push(parent);
    seen.add(parent.spanId);
    parent = byOwnId.get(parent.parentSpanId ?? '');
  }
  return steps;
}

/** Of some calls of a trace, by id, the nearest of them that tells of it again; nothing where there is none. */
export function callsAbove(spans: readonly Step[], calls: ReadonlySet<string>): ReadonlyMap<string, string> {
  const byOwnId = new Map(spans.map((span) => [span.spanId, span]));
  const nearest = new Map<string, string>();
  for (const span of spans) {
    if (!calls.has(span.spanId)) continue;
    const above = stepsAbove(span, byOwnId).find(({ spanId }) => calls.has(spanId));
    if (above !== undefined) nearest.set(span.spanId, above.spanId);
  }
  return nearest;
}

/** The sum of some estimates; null when there is none. */
export const sumOfEstimates = (estimates: Iterable<Usd>): Usd | null =>
  [...estimates].reduce<Usd | null>((total, one) => (total === null ? one : addUsd(total, one)), null);
