import { addUsd, type Usd } from '../money.ts';
import type { SpanHead } from './span.ts';

/** What of a span decides whose estimates count. */
export type CallLink = Pick<SpanHead, 'spanId' | 'parentSpanId' | 'type' | 'requestId' | 'gateway' | 'estimate'>;

/** The same with what it says it used. */
export type CallCount = CallLink & Pick<SpanHead, 'inputTokens' | 'outputTokens'>;

/** Between a call and what tells of it again there are only steps; these are somebody's doing. */
export const BOUNDARIES: readonly CallLink['type'][] = ['agent', 'tool'];

/** Whether nothing above a span tells of what is below it. */
export const isBoundary = ({ type }: Pick<CallLink, 'type'>): boolean => BOUNDARIES.includes(type);

/** Whether a span is a call that those above it tell of again, so that their estimates do not count. */
export const isKnownCall = ({ gateway, estimate }: CallLink): boolean => gateway || estimate !== null;

/** Whether a span has an estimate that may count. */
export const isEstimated = ({ gateway, estimate }: CallLink): boolean => !gateway && estimate !== null;

/** Whether a span is a model call that the gateway made. */
export const isGatewayCall = ({ gateway, type }: CallLink): boolean => gateway && type === 'llm';

/** Longer than any id of an answer, and short enough for a key of every database. */
const ANSWER_CHARACTERS = 512;

/** The answer that a span names; null where it names none, or something that is no id. */
export const answerOf = ({ requestId }: Pick<CallLink, 'requestId'>): string | null =>
  requestId === null || requestId === '' || requestId.length > ANSWER_CHARACTERS ? null : requestId;

/** What a span is part of, by its id; one that names itself has no parent. */
export const parentOf = ({ spanId, parentSpanId }: Step): string | null =>
  parentSpanId === spanId ? null : parentSpanId;

/**
 * The estimates that count in a trace, by span id: each call once, however many spans tell of it. One does not count
 * that has a call of its own below it, with a record of the gateway or an estimate: it tells of the same call; nor one
 * that names an answer which a call of the gateway, or another span that counts, has. Whatever is added to a trace only
 * ever takes estimates away, so that the order in which its spans come is all the same. In a circle of parents every
 * call is below itself.
 */
export function countedEstimates(spans: readonly CallLink[]): ReadonlyMap<string, Usd> {
  const estimated = spans.filter(isEstimated);
  if (estimated.length === 0) return new Map();
  const told = tellingAgain(spans, isKnownCall);
  const answers = answersOfGateway(spans);
  const counted = new Map<string, Usd>();
  for (const span of estimated.toSorted(byId)) {
    const [{ spanId, estimate }, answer] = [span, answerOf(span)];
    if (estimate === null || told.has(spanId) || (answer !== null && answers.has(answer))) continue;
    counted.set(spanId, estimate);
    if (answer !== null) answers.add(answer);
  }
  return counted;
}

const answersOfGateway = (spans: readonly CallLink[]): Set<string> =>
  new Set(spans.flatMap((span) => (isGatewayCall(span) ? (answerOf(span) ?? []) : [])));

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
  const gatewayCalls = spans.filter(isGatewayCall).length;
  const told = gatewayCalls === 0 ? null : tellingAgain(spans, isGatewayCall);
  const answers = answersOfGateway(spans);
  const isToldAgain = (span: CallLink): boolean =>
    told?.has(span.spanId) === true || (answers.size > 0 && answers.has(answerOf(span) ?? ''));
  const calls = spans.filter((span) => span.type === 'llm' && (span.gateway || !isToldAgain(span)));
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
function tellingAgain(spans: readonly CallLink[], isCall: (span: CallLink) => boolean): ReadonlySet<string> {
  const told = new Set<string>();
  const calls = spans.filter((span) => isCall(span) && parentOf(span) !== null);
  if (calls.length === 0) return told;
  const byOwnId = new Map(spans.map((span) => [span.spanId, span]));
  const above = new Set<string>();
  for (const call of calls) {
    // Once a step is known to be above a call, so is all that is above it.
    let step = stepAbove(call, byOwnId);
    while (step !== undefined && !above.has(step.spanId)) {
      above.add(step.spanId);
      if (step.type === 'llm') told.add(step.spanId);
      step = stepAbove(step, byOwnId);
    }
  }
  return told;
}

type Step = Pick<CallLink, 'spanId' | 'parentSpanId' | 'type'>;

/** What a span is part of; nothing where that does something itself or is missing. */
function stepAbove<Span extends Step>(span: Step, byOwnId: ReadonlyMap<string, Span>): Span | undefined {
  const parent = byOwnId.get(parentOf(span) ?? '');
  return parent === undefined || isBoundary(parent) ? undefined : parent;
}

/** Of some calls of a trace, by id, the nearest of them that tells of it again; nothing where there is none. */
export function callsAbove(spans: readonly Step[], calls: ReadonlySet<string>): ReadonlyMap<string, string> {
  const byOwnId = new Map(spans.map((span) => [span.spanId, span]));
  const nearest = new Map<string, string>();
  for (const span of spans) {
    if (!calls.has(span.spanId)) continue;
    const seen = new Set<string>();
    let step = stepAbove(span, byOwnId);
    while (step !== undefined && !seen.has(step.spanId) && !calls.has(step.spanId)) {
      seen.add(step.spanId);
      step = stepAbove(step, byOwnId);
    }
    if (step !== undefined && calls.has(step.spanId)) nearest.set(span.spanId, step.spanId);
  }
  return nearest;
}

/** The sum of some estimates; null when there is none. */
export const sumOfEstimates = (estimates: Iterable<Usd>): Usd | null =>
  [...estimates].reduce<Usd | null>((total, one) => (total === null ? one : addUsd(total, one)), null);
