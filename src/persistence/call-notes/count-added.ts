import { clampUsd, type Usd } from '../../domain/money.ts';
import {
  answerIdOf,
  type CallCount,
  hasUsage,
  isBoundary,
  isCall,
  isEstimated,
  isGatewayCall,
  isKnownCall,
  parentIdOf,
} from '../../domain/traces/estimates.ts';
import type { CountedOnce } from '../../domain/traces/recount.ts';

/** Kinds of notes. */
export type NoteKind =
  /**
   * A span, stored or not, with a call below it and no agent or tool span between. The call is a known call for `above
   * call`, and any model call for `above any call`. For `above usage` it is a call with usage, or a call with the
   * answer of a gateway call.
   */
  | 'above call'
  | 'above any call'
  | 'above usage'
  /** The answer of a call of the gateway. */
  | 'answered'
  /**
   * An answer that no gateway call has, with one note for each span that names the answer. `estimated`: the estimate of
   * this span may count. `unestimated`: this span is any other model call, and its tokens count.
   */
  | 'estimated'
  | 'unestimated';

export interface NoteName {
  readonly trace: string;
  readonly kind: NoteKind;
  /** Span id or answer id. */
  readonly name: string;
}

export interface Note extends NoteName {
  /** The span that names the answer; empty for the kinds `above …` and `answered`. */
  readonly spanId: string;
}

/** A span or an answer of a trace. */
export type SpanOrAnswer = Pick<NoteName, 'trace' | 'name'>;

/** Ancestor visited during the traversal of `visitAncestors`: a span without a note, or a missing span. */
export interface VisitedAncestor extends NoteName {
  readonly kind: 'above call' | 'above any call' | 'above usage';
  readonly span: CallCount | null;
  /** Whether a gateway call has the answer that the span names. */
  readonly answered: boolean;
}

/**
 * Notes on traces that arrive in many pieces (ADR 0038), with which added spans are counted without reading the
 * stored ones. The cost of a query is proportional to its result. Traces are identified by their numbers.
 */
export interface CallNotes {
  /** The stored notes of the kinds `above …` for these spans, and of the kind `answered` for these answers. */
  among(spans: readonly SpanOrAnswer[], answers: readonly SpanOrAnswer[]): Promise<readonly NoteName[]>;
  /**
   * These spans and their ancestors, up to and including a boundary or a missing span. A traversal ends before a span
   * that already has a note of its kind.
   */
  visitAncestors(from: readonly NoteName[]): Promise<readonly VisitedAncestor[]>;
  /** The notes of spans that name these answers, each with its span. */
  naming(answers: readonly SpanOrAnswer[]): Promise<readonly (Note & { readonly span: CallCount })[]>;
  /** For each of these answers, the estimate of the span with the lowest id among the spans noted as `estimated`. */
  firstEstimates(answers: readonly SpanOrAnswer[]): Promise<readonly (SpanOrAnswer & { readonly estimate: Usd })[]>;
  change(removed: readonly Note[], added: readonly Note[]): Promise<void>;
}

/** A trace with added spans. */
export interface GrowingTrace {
  readonly trace: string;
  /** Counts of the trace; null when it has no notes yet, and `added` has all of its spans. */
  readonly before: CountedOnce | null;
  /** The added spans, already stored. */
  readonly added: readonly CallCount[];
}

type Keys = ReadonlySet<string>;
const NO_NAMES: Keys = new Set();
const keyOf = ({ trace, kind, name }: NoteName): string => `${trace} ${kind} ${name}`;
const keysOf = (names: readonly NoteName[]): Keys => new Set(names.map(keyOf));

/** The counts of these traces with the added spans, by trace. Updates the notes. */
export async function countAdded(
  notes: CallNotes,
  traces: readonly GrowingTrace[],
): Promise<ReadonlyMap<string, CountedOnce>> {
  const tracesWithNotes = traces.filter(({ before }) => before !== null);
  const noted = keysOf(await notes.among(tracesWithNotes.flatMap(stepsOf), tracesWithNotes.flatMap(answersOf)));
  const newAnswers = traces.map((trace) => newAnswersOf(trace, noted));
  const answeredNotes = await notes.naming(
    traces.flatMap(({ trace }, index) => namedIn(trace, newAnswers[index] ?? NO_NAMES)),
  );
  const visited = await notes.visitAncestors([
    ...traces.flatMap((trace, index) => startsOf(trace, noted, newAnswers[index] ?? NO_NAMES)),
    ...answeredNotes.flatMap(startsAbove),
  ]);
  const byTrace = Map.groupBy(visited, ({ trace }) => trace);
  const growths = traces.map((trace, index) =>
    growthOf(trace, { noted, answered: newAnswers[index] ?? NO_NAMES, ancestors: byTrace.get(trace.trace) ?? [] }),
  );
  const answeredSpans = answeredNotes.map(({ trace, span }) => ({ trace, name: span.spanId }));
  // An answered span with a note of a kind `above …` did not count before.
  const notesAbove = keysOf(answeredSpans.length === 0 ? [] : await notes.among(answeredSpans, []));
  const touched = growths.flatMap(({ growing, touched: names }) => namedIn(growing.trace, names));
  const estimatesBefore = Map.groupBy(await notes.firstEstimates(touched), ({ trace }) => trace);
  await notes.change([...answeredNotes, ...growths.flatMap(notesToRemove)], growths.flatMap(notesToAdd));
  const estimatesAfter = Map.groupBy(await notes.firstEstimates(touched), ({ trace }) => trace);
  const answeredByTrace = Map.groupBy(answeredNotes, ({ trace }) => trace);
  return new Map(
    growths.map((growth): readonly [string, CountedOnce] => {
      const { trace } = growth.growing;
      const spans = (answeredByTrace.get(trace) ?? []).map(({ span }) => span);
      const withoutNote = (kind: NoteKind): readonly CallCount[] =>
        spans.filter(({ spanId: name }) => !notesAbove.has(keyOf({ trace, kind, name })));
      const calls = callsOf(growth, { calls: withoutNote('above any call'), tokens: withoutNote('above usage') });
      const estimates = estimatesOf(growth, estimatesBefore.get(trace) ?? [], estimatesAfter.get(trace) ?? []);
      return [trace, { ...calls, ...estimates }];
    }),
  );
}

const namedIn = (trace: string, names: Iterable<string>): readonly SpanOrAnswer[] =>
  [...names].map((name) => ({ trace, name }));

/** Added spans that are steps. */
const stepsOf = ({ trace, added }: GrowingTrace): readonly SpanOrAnswer[] =>
  namedIn(
    trace,
    added.filter((span) => !isBoundary(span)).map(({ spanId }) => spanId),
  );

const answersOf = ({ trace, added }: GrowingTrace): readonly SpanOrAnswer[] =>
  namedIn(trace, new Set(added.flatMap((span) => answerIdOf(span) ?? [])));

/** Answers of added gateway calls that no gateway call had before. */
const newAnswersOf = ({ trace, added }: GrowingTrace, noted: Keys): Keys =>
  new Set(
    added.flatMap((span) => {
      const name = answerIdOf(span);
      return isGatewayCall(span) && name !== null && !noted.has(keyOf({ trace, kind: 'answered', name })) ? name : [];
    }),
  );

/** Where traversals start: at the parents of added spans that are calls or have calls below. */
function startsOf({ trace, added }: GrowingTrace, noted: Keys, answered: Keys): readonly NoteName[] {
  return added.flatMap((span): readonly NoteName[] => {
    const name = parentIdOf(span);
    if (name === null) return [];
    const isNoted = (kind: NoteKind): boolean => noted.has(keyOf({ trace, kind, name: span.spanId }));
    const answer = answerIdOf(span);
    const isAnswered =
      answer !== null && (answered.has(answer) || noted.has(keyOf({ trace, kind: 'answered', name: answer })));
    const hasTokens = hasUsage(span) || (isCall(span) && isAnswered);
    return [
      ...(isKnownCall(span) || isNoted('above call') ? [{ trace, kind: 'above call', name } as const] : []),
      ...(isCall(span) || isNoted('above any call') ? [{ trace, kind: 'above any call', name } as const] : []),
      ...(hasTokens || isNoted('above usage') ? [{ trace, kind: 'above usage', name } as const] : []),
    ];
  });
}

/** Where the traversal starts above a stored call whose answer an added gateway call has. */
function startsAbove({ trace, span }: Note & { readonly span: CallCount }): readonly NoteName[] {
  const name = parentIdOf(span);
  return name === null || !isCall(span) ? [] : [{ trace, kind: 'above usage', name }];
}

/** Changes by the added spans. */
interface Growth {
  readonly growing: GrowingTrace;
  readonly ancestors: readonly VisitedAncestor[];
  /** Stored ancestors with an estimate that no longer counts, because an added call describes the same call. */
  readonly repeatedCalls: readonly CallCount[];
  /** Stored ancestors that no longer count as a call. */
  readonly replacedCalls: readonly CallCount[];
  /** Stored ancestors whose tokens no longer count. */
  readonly replacedTokens: readonly CallCount[];
  /** Answers of stored ancestors that a call of the gateway had before. */
  readonly answeredBefore: Keys;
  /** Answers of added gateway calls that no gateway call had before. */
  readonly answered: Keys;
  /** Answers for which another estimate may count now. */
  readonly touched: Keys;
  /** Whether an added span is a model call above a known call. */
  isRepeated(span: CallCount): boolean;
  /** Whether an added span is above any call. */
  isAboveCall(span: CallCount): boolean;
  /** Whether an added span is above a call with usage. */
  isAboveUsage(span: CallCount): boolean;
  /** Whether a gateway call has the answer that an added span names. */
  isAnswered(span: CallCount): boolean;
}

function growthOf(
  growing: GrowingTrace,
  {
    noted,
    answered,
    ancestors,
  }: { readonly noted: Keys; readonly answered: Keys; readonly ancestors: readonly VisitedAncestor[] },
): Growth {
  const added = new Set(growing.added.map(({ spanId }) => spanId));
  const above = keysOf(ancestors);
  const isAbove = (kind: NoteKind, name: string): boolean => {
    const key = keyOf({ trace: growing.trace, kind, name });
    return noted.has(key) || above.has(key);
  };
  const wasAnswered = (name: string): boolean => noted.has(keyOf({ trace: growing.trace, kind: 'answered', name }));
  const storedAncestors = ancestors.filter(({ name }) => !added.has(name));
  const storedCallsAbove = (wanted: VisitedAncestor['kind']): readonly CallCount[] =>
    storedAncestors.flatMap(({ kind, span }) => (kind === wanted && span?.type === 'llm' ? span : []));
  const repeatedCalls = storedCallsAbove('above call').filter(isEstimated);
  const estimated = [...growing.added.filter(isEstimated), ...repeatedCalls];
  return {
    growing,
    ancestors,
    repeatedCalls,
    replacedCalls: storedCallsAbove('above any call'),
    replacedTokens: storedCallsAbove('above usage'),
    answeredBefore: new Set(
      storedAncestors.flatMap(({ span, answered: isAnswered }) =>
        isAnswered && span !== null ? (answerIdOf(span) ?? []) : [],
      ),
    ),
    answered,
    touched: new Set([...answered, ...estimated.flatMap((span) => answerIdOf(span) ?? [])]),
    isRepeated: ({ type, spanId }) => type === 'llm' && isAbove('above call', spanId),
    isAboveCall: ({ spanId }) => isAbove('above any call', spanId),
    isAboveUsage: ({ spanId }) => isAbove('above usage', spanId),
    isAnswered(span) {
      const name = answerIdOf(span);
      return name !== null && (answered.has(name) || wasAnswered(name));
    },
  };
}

/** Notes of stored spans to delete. */
function notesToRemove({ growing: { trace }, repeatedCalls, replacedTokens }: Growth): readonly Note[] {
  const noteOf = (kind: NoteKind, span: CallCount): readonly Note[] => {
    const name = answerIdOf(span);
    return name === null ? [] : [{ trace, kind, name, spanId: span.spanId }];
  };
  return [
    ...repeatedCalls.flatMap((span) => noteOf('estimated', span)),
    ...replacedTokens.flatMap((span) => noteOf('unestimated', span)),
  ];
}

function notesToAdd(growth: Growth): readonly Note[] {
  const { growing, ancestors, answered, repeatedCalls, replacedTokens, answeredBefore } = growth;
  const note = (kind: NoteKind, name: string, spanId = ''): Note => ({ trace: growing.trace, kind, name, spanId });
  const replaced = new Set(replacedTokens.map(({ spanId }) => spanId));
  return [
    // A boundary gets no note: traversals end at it anyway. A missing span gets a note, because its type is unknown.
    ...ancestors.flatMap(({ kind, name, span }) => (span !== null && isBoundary(span) ? [] : [note(kind, name)])),
    ...[...answered].map((name) => note('answered', name)),
    ...repeatedCalls.flatMap((span) => {
      const name = answerIdOf(span);
      if (name === null || replaced.has(span.spanId)) return [];
      return answered.has(name) || answeredBefore.has(name) ? [] : [note('unestimated', name, span.spanId)];
    }),
    ...growing.added.flatMap((span) => {
      const name = answerIdOf(span);
      if (name === null || growth.isAnswered(span)) return [];
      if (isEstimated(span) && !growth.isRepeated(span)) return [note('estimated', name, span.spanId)];
      return hasOwnTokens(growth, span) ? [note('unestimated', name, span.spanId)] : [];
    }),
  ];
}

/** Whether an added span is a client's call whose tokens count. */
const hasOwnTokens = (growth: Growth, span: CallCount): boolean =>
  isCall(span) && !span.gateway && !growth.isAboveUsage(span) && !growth.isAnswered(span);

/** Whether an added span counts as a call of a client. */
const isOwnCall = (growth: Growth, span: CallCount): boolean =>
  isCall(span) && !span.gateway && !growth.isAboveCall(span) && !growth.isAnswered(span);

/** The stored calls that counted before and no longer count, each once: some of `replaced` and `answered`. */
function replacedCallsOf({ answeredBefore }: Growth, replaced: readonly CallCount[], answered: readonly CallCount[]) {
  const before = replaced.filter((span) => !answeredBefore.has(answerIdOf(span) ?? ''));
  const removed = [...before, ...answered].filter((span) => isCall(span) && !span.gateway);
  return [...new Map(removed.map((span) => [span.spanId, span])).values()];
}

/**
 * Stored spans whose answer a gateway call has now. `calls`: those that counted as calls before. `tokens`: those whose
 * tokens counted before.
 */
interface AnsweredCalls {
  readonly calls: readonly CallCount[];
  readonly tokens: readonly CallCount[];
}

type Calls = Omit<CountedOnce, 'estimate' | 'estimatedCalls'>;

function callsOf(growth: Growth, answered: AnsweredCalls): Calls {
  const { before, added } = growth.growing;
  const { llmCalls = 0, gatewayCalls = 0 } = before ?? {};
  const gateway = added.filter(isGatewayCall);
  const calls = added.filter((span) => isOwnCall(growth, span));
  const lostCalls = replacedCallsOf(growth, growth.replacedCalls, answered.calls);
  const callsNow = llmCalls + gateway.length + calls.length - lostCalls.length;
  // In a trace with calls, only the tokens of calls count. In a trace without calls, the tokens of all spans count.
  const isFirstCall = callsNow > 0 && llmCalls === 0;
  const newlyCounted = callsNow === 0 ? added : [...gateway, ...added.filter((span) => hasOwnTokens(growth, span))];
  const noLongerCounted = replacedCallsOf(growth, growth.replacedTokens, answered.tokens);
  const sum = (member: 'inputTokens' | 'outputTokens'): number => {
    const total = (spans: readonly CallCount[]): number => spans.reduce((tokens, span) => tokens + span[member], 0);
    const countedBefore = isFirstCall ? 0 : (before?.[member] ?? 0);
    return countedBefore + total(newlyCounted) - total(noLongerCounted);
  };
  return {
    llmCalls: callsNow,
    gatewayCalls: gatewayCalls + gateway.length,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
  };
}

type Estimate = { readonly estimate: Usd | null };

/** Sum and number of the estimates that count: all without an answer id, and the first estimate of each answer id. */
function estimatesOf(
  growth: Growth,
  before: readonly Estimate[],
  after: readonly Estimate[],
): Pick<CountedOnce, 'estimate' | 'estimatedCalls'> {
  const { growing, repeatedCalls } = growth;
  const isWithoutAnswer = (span: CallCount): boolean => isEstimated(span) && answerIdOf(span) === null;
  const newlyCounted = [...growing.added.filter((span) => isWithoutAnswer(span) && !growth.isRepeated(span)), ...after];
  const noLongerCounted = [...repeatedCalls.filter(isWithoutAnswer), ...before];
  const estimatedCalls = (growing.before?.estimatedCalls ?? 0) + newlyCounted.length - noLongerCounted.length;
  const sum = (of: readonly Estimate[]): bigint => of.reduce((total, { estimate }) => total + (estimate ?? 0n), 0n);
  const estimate = clampUsd((growing.before?.estimate ?? 0n) + sum(newlyCounted) - sum(noLongerCounted));
  return { estimate: estimatedCalls === 0 ? null : estimate, estimatedCalls };
}
