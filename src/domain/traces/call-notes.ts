import { keepableUsd, type Usd } from '../money.ts';
import {
  answerOf,
  type CallCount,
  isBoundary,
  isEstimated,
  isGatewayCall,
  isKnownCall,
  parentOf,
} from './estimates.ts';
import type { CountedOnce } from './recount.ts';

/** Under what names something is noted. */
export type NoteKind =
  /** A span, whether it is there or not, that has a known call below it with only steps between; or a call of the gateway. */
  | 'above call'
  | 'above gateway call'
  /** An answer that a call of the gateway has. */
  | 'answered'
  /** An answer that none has, with each span that names it and counts as a call: with an estimate that may count, or without. */
  | 'estimated'
  | 'unestimated';

export interface NoteName {
  readonly trace: string;
  readonly kind: NoteKind;
  /** Of a span or of an answer. */
  readonly name: string;
}

export interface Note extends NoteName {
  /** The span that names the answer; empty where none is meant. */
  readonly spanId: string;
}

/** A span or an answer of a trace. */
export type Named = Pick<NoteName, 'trace' | 'name'>;

/** What a climb came past: a span that nothing was noted of, or a place where one is missing. */
export interface Climbed extends NoteName {
  readonly kind: 'above call' | 'above gateway call';
  readonly span: CallCount | null;
  /** Whether a call of the gateway has the answer that it names. */
  readonly answered: boolean;
}

/**
 * What is kept of the traces that came in pieces, so that what spans add to them is counted without reading all that is
 * there: each question costs as much as its answer is long. Traces are named by their numbers.
 */
export interface CallNotes {
  /** Which of these spans stand above calls, and which of these answers are answered. */
  among(spans: readonly Named[], answers: readonly Named[]): Promise<readonly NoteName[]>;
  /** From these spans on, up to what does something itself, is missing, or is noted already. */
  climb(from: readonly NoteName[]): Promise<readonly Climbed[]>;
  /** The spans noted under these answers. */
  naming(answers: readonly Named[]): Promise<readonly (Note & { readonly span: CallCount })[]>;
  /** The estimate of the first span noted under each of these answers that has one. */
  firstEstimates(answers: readonly Named[]): Promise<readonly (Named & { readonly estimate: Usd })[]>;
  change(gone: readonly Note[], come: readonly Note[]): Promise<void>;
}

/** A trace that grows. */
export interface GrowingTrace {
  readonly trace: string;
  /** What is counted of it; null when nothing is noted yet. Then all of its spans are added. */
  readonly before: CountedOnce | null;
  /** What comes, stored already. */
  readonly added: readonly CallCount[];
}

type Keys = ReadonlySet<string>;
const keyOf = ({ trace, kind, name }: NoteName): string => `${trace} ${kind} ${name}`;
const keysOf = (names: readonly NoteName[]): Keys => new Set(names.map(keyOf));

/** What each of these traces comes to with the spans added, by trace; the notes are as they must be then. */
export async function countAdded(
  notes: CallNotes,
  traces: readonly GrowingTrace[],
): Promise<ReadonlyMap<string, CountedOnce>> {
  const known = traces.filter(({ before }) => before !== null);
  const noted = keysOf(await notes.among(known.flatMap(stepsOf), known.flatMap(answersOf)));
  const climbed = await notes.climb(traces.flatMap((trace) => startsOf(trace, noted)));
  const byTrace = Map.groupBy(climbed, ({ trace }) => trace);
  const growths = traces.map((trace) => growthOf(trace, noted, byTrace.get(trace.trace) ?? []));
  const answered = await notes.naming(growths.flatMap(({ trace, answered: names }) => namedIn(trace.trace, names)));
  const touched = growths.flatMap(({ trace, touched: names }) => namedIn(trace.trace, names));
  const [gone, come] = [[...answered, ...growths.flatMap(goneOf)], growths.flatMap(comeOf)];
  const before = Map.groupBy(await notes.firstEstimates(touched), ({ trace }) => trace);
  await notes.change(gone, come);
  const after = Map.groupBy(await notes.firstEstimates(touched), ({ trace }) => trace);
  const naming = Map.groupBy(answered, ({ trace }) => trace);
  return new Map(
    growths.map((growth): readonly [string, CountedOnce] => {
      const { trace } = growth.trace;
      const calls = callsOf(growth, lostCalls(growth, naming.get(trace) ?? []));
      return [trace, { ...calls, ...estimatesOf(growth, before.get(trace) ?? [], after.get(trace) ?? []) }];
    }),
  );
}

const namedIn = (trace: string, names: Iterable<string>): readonly Named[] =>
  [...names].map((name) => ({ trace, name }));

/** A span that something may be counted through. */
const stepsOf = ({ trace, added }: GrowingTrace): readonly Named[] =>
  namedIn(
    trace,
    added.filter((span) => !isBoundary(span)).map(({ spanId }) => spanId),
  );

const answersOf = ({ trace, added }: GrowingTrace): readonly Named[] =>
  namedIn(trace, new Set(added.flatMap((span) => answerOf(span) ?? [])));

/** Where to climb from: what the added spans are part of that are known calls, or that such are known to be below of. */
function startsOf({ trace, added }: GrowingTrace, noted: Keys): readonly NoteName[] {
  return added.flatMap((span): readonly NoteName[] => {
    const name = parentOf(span);
    if (name === null) return [];
    const isNoted = (kind: NoteKind): boolean => noted.has(keyOf({ trace, kind, name: span.spanId }));
    return [
      ...(isKnownCall(span) || isNoted('above call') ? [{ trace, kind: 'above call', name } as const] : []),
      ...(isGatewayCall(span) || isNoted('above gateway call')
        ? [{ trace, kind: 'above gateway call', name } as const]
        : []),
    ];
  });
}

/** What the added spans change. */
interface Growth {
  readonly trace: GrowingTrace;
  readonly climbed: readonly Climbed[];
  /** Those of the climbed that were there, now told again by another: their estimate no longer counts, or their call. */
  readonly toldAgain: readonly CallCount[];
  readonly toldByGateway: readonly CallCount[];
  /** Of these the answers that the gateway had before. */
  readonly answeredBefore: Keys;
  /** The answers that the gateway has now, and had not before. */
  readonly answered: Keys;
  /** The answers of which another estimate may count now. */
  readonly touched: Keys;
  /** Whether an added span tells of a call again, of whose estimate or of the gateway's. */
  isTold(span: CallCount): boolean;
  isToldByGateway(span: CallCount): boolean;
  /** Whether the gateway has the answer that an added span names. */
  isAnswered(span: CallCount): boolean;
}

function growthOf(trace: GrowingTrace, noted: Keys, climbed: readonly Climbed[]): Growth {
  const added = new Set(trace.added.map(({ spanId }) => spanId));
  const above = keysOf(climbed);
  const isAbove = (kind: NoteKind, name: string): boolean => {
    const key = keyOf({ trace: trace.trace, kind, name });
    return noted.has(key) || above.has(key);
  };
  const wasAnswered = (name: string): boolean => noted.has(keyOf({ trace: trace.trace, kind: 'answered', name }));
  const old = climbed.filter(({ name }) => !added.has(name));
  const callsThere = (wanted: Climbed['kind']): readonly CallCount[] =>
    old.flatMap(({ kind, span }) => (kind === wanted && span?.type === 'llm' ? span : []));
  const toldAgain = callsThere('above call').filter(isEstimated);
  const answered = new Set(
    trace.added.flatMap((span) => {
      const name = answerOf(span);
      return isGatewayCall(span) && name !== null && !wasAnswered(name) ? name : [];
    }),
  );
  const estimated = [...trace.added.filter(isEstimated), ...toldAgain];
  return {
    trace,
    climbed,
    toldAgain,
    toldByGateway: callsThere('above gateway call'),
    answeredBefore: new Set(
      old.flatMap(({ span, answered: was }) => (was && span !== null ? (answerOf(span) ?? []) : [])),
    ),
    answered,
    touched: new Set([...answered, ...estimated.flatMap((span) => answerOf(span) ?? [])]),
    isTold: ({ type, spanId }) => type === 'llm' && isAbove('above call', spanId),
    isToldByGateway: ({ spanId }) => isAbove('above gateway call', spanId),
    isAnswered(span) {
      const name = answerOf(span);
      return name !== null && (answered.has(name) || wasAnswered(name));
    },
  };
}

/** What is no longer noted of spans that were there. */
function goneOf({ trace: { trace }, toldAgain, toldByGateway }: Growth): readonly Note[] {
  const noteOf = (kind: NoteKind, span: CallCount): readonly Note[] => {
    const name = answerOf(span);
    return name === null ? [] : [{ trace, kind, name, spanId: span.spanId }];
  };
  return [
    ...toldAgain.flatMap((span) => noteOf('estimated', span)),
    ...toldByGateway.flatMap((span) => noteOf('unestimated', span)),
  ];
}

function comeOf(growth: Growth): readonly Note[] {
  const { trace, climbed, answered, toldAgain, toldByGateway, answeredBefore } = growth;
  const note = (kind: NoteKind, name: string, spanId = ''): Note => ({ trace: trace.trace, kind, name, spanId });
  const gatewayTells = new Set(toldByGateway.map(({ spanId }) => spanId));
  return [
    // Of what does something itself only a place before it came: nobody climbs past it.
    ...climbed.flatMap(({ kind, name, span }) => (span !== null && isBoundary(span) ? [] : [note(kind, name)])),
    ...[...answered].map((name) => note('answered', name)),
    ...toldAgain.flatMap((span) => {
      const name = answerOf(span);
      if (name === null || gatewayTells.has(span.spanId)) return [];
      return answered.has(name) || answeredBefore.has(name) ? [] : [note('unestimated', name, span.spanId)];
    }),
    ...trace.added.flatMap((span) => {
      const name = answerOf(span);
      if (name === null || growth.isAnswered(span)) return [];
      if (isEstimated(span) && !growth.isTold(span)) return [note('estimated', name, span.spanId)];
      return isUnansweredCall(growth, span) ? [note('unestimated', name, span.spanId)] : [];
    }),
  ];
}

/** Whether an added span is a call of somebody else, that the gateway does not tell of. */
const isUnansweredCall = (growth: Growth, span: CallCount): boolean =>
  span.type === 'llm' && !span.gateway && !growth.isToldByGateway(span) && !growth.isAnswered(span);

/** The calls that counted before, and do not now: the gateway tells of them. */
function lostCalls(
  { toldByGateway, answeredBefore }: Growth,
  naming: readonly { readonly span: CallCount }[],
): readonly CallCount[] {
  const told = toldByGateway.filter((span) => !answeredBefore.has(answerOf(span) ?? ''));
  const lost = [...told, ...naming.map(({ span }) => span)].filter(({ type, gateway }) => type === 'llm' && !gateway);
  return [...new Map(lost.map((span) => [span.spanId, span])).values()];
}

type Calls = Omit<CountedOnce, 'estimate' | 'estimatedCalls'>;

function callsOf(growth: Growth, lost: readonly CallCount[]): Calls {
  const { before, added } = growth.trace;
  const { llmCalls = 0, gatewayCalls = 0, inputTokens = 0, outputTokens = 0 } = before ?? {};
  const counted = added.filter((span) => isGatewayCall(span) || isUnansweredCall(growth, span));
  const tokens = (spans: readonly CallCount[]): readonly [input: number, output: number] => [
    spans.reduce((total, span) => total + span.inputTokens, 0),
    spans.reduce((total, span) => total + span.outputTokens, 0),
  ];
  // Nothing is noted of a trace without calls, and where there are some, only they say what was used.
  const [moreInput, moreOutput] = tokens(counted);
  const [lessInput, lessOutput] = tokens(lost);
  return {
    llmCalls: llmCalls + counted.length - lost.length,
    gatewayCalls: gatewayCalls + added.filter(isGatewayCall).length,
    inputTokens: inputTokens + moreInput - lessInput,
    outputTokens: outputTokens + moreOutput - lessOutput,
  };
}

type Estimate = { readonly estimate: Usd | null };

/** The estimates that count: of spans that name no answer each, of those that name one the first. */
function estimatesOf(
  growth: Growth,
  before: readonly Estimate[],
  after: readonly Estimate[],
): Pick<CountedOnce, 'estimate' | 'estimatedCalls'> {
  const { trace, toldAgain } = growth;
  const unnamed = (span: CallCount): boolean => isEstimated(span) && answerOf(span) === null;
  const more = [...trace.added.filter((span) => unnamed(span) && !growth.isTold(span)), ...after];
  const less = [...toldAgain.filter(unnamed), ...before];
  const estimatedCalls = (trace.before?.estimatedCalls ?? 0) + more.length - less.length;
  const sum = (of: readonly Estimate[]): bigint => of.reduce((total, { estimate }) => total + (estimate ?? 0n), 0n);
  const estimate = keepableUsd((trace.before?.estimate ?? 0n) + sum(more) - sum(less));
  return { estimate: estimatedCalls === 0 ? null : estimate, estimatedCalls };
}
