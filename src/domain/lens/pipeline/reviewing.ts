import { EVIDENCE_ROLES, FINDING_KINDS, type Finding } from '../finding.ts';
import { type ContentPart, isQuoteOfPart } from '../content.ts';
import type { Execution } from '../execution.ts';
import { shownFeedback } from '../feedback.ts';
import { fenced, REVIEW_TASK } from '../prompts/prompts.ts';
import { type Extraction, type Observation, type Review, REVIEW_LIMITS } from '../review.ts';
import { enabledChecks, type LensSettings } from '../settings.ts';
import type { Analyst } from './analyst.ts';
import { flag, listOf, objectOf, oneOf, textUpTo } from './structure.ts';

/** Maximum length of trace text in one question, in characters, and maximum number of questions about one execution. */
const WINDOW_CHARACTERS = 48_000;
const MAX_WINDOWS = 6;
/** Maximum number of spans in the list of a question. */
const MAX_LISTED_SPANS = 200;
/** Maximum length of a quote, in characters. */
const MAX_QUOTE_CHARACTERS = 600;

const quoteOfSpan = objectOf({ span_id: textUpTo(64), quote: textUpTo(MAX_QUOTE_CHARACTERS) });
export const quoteOfExecution = objectOf({
  execution: textUpTo(64),
  span_id: textUpTo(64),
  quote: textUpTo(MAX_QUOTE_CHARACTERS),
  role: oneOf(...EVIDENCE_ROLES),
});

const REVIEW_ANSWER = objectOf({
  observations: listOf(
    objectOf({
      check_id: textUpTo(200),
      kind: oneOf(...FINDING_KINDS),
      summary: textUpTo(REVIEW_LIMITS.summary),
      evidence: listOf(quoteOfSpan, 10),
    }),
    50,
  ),
  assessable: flag,
  reasoning: textUpTo(REVIEW_LIMITS.reasoning),
});

/** Input of a review. */
export interface ReviewInput {
  readonly execution: Execution;
  readonly parts: readonly ContentPart[];
  /** Whether content was left out when it was loaded. */
  readonly partial: boolean;
  readonly contentVersion: string;
}

/** Judgement of one execution. */
export interface ExecutionJudgement {
  /** Null when a question failed and no answer has content, and when `final` is true. */
  readonly extraction: Extraction | null;
  /** Whether the judgement may be incomplete, for example because parts were left out or a question failed. */
  readonly partial: boolean;
  /** Why the latest unanswered question has no answer; null when all questions have one. */
  readonly failure: string | null;
  /** Whether a limit, such as the budget, is used up, so that no further question is answered. */
  readonly final: boolean;
}

const headOf = ({ content }: ContentPart): string =>
  content.slice(0, REVIEW_LIMITS.preview).replaceAll(/\s+/g, ' ').trim();

/** One line for each of the first `MAX_LISTED_SPANS` spans: id, parent, kind, name and the beginning of its text. */
export const catalogueOf = (parts: readonly ContentPart[]): string =>
  parts
    .slice(0, MAX_LISTED_SPANS)
    .map((part) => [part.spanId, part.parentSpanId ?? '-', part.kind, part.name, headOf(part)].join(' | '))
    .join('\n');

/** Splits the parts into windows of one question each, in order. */
function windowsOf(parts: readonly ContentPart[]): readonly (readonly ContentPart[])[] {
  const windows: ContentPart[][] = [];
  // Infinite, so that the first part begins a window.
  let size = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    if (size + part.content.length > WINDOW_CHARACTERS) {
      windows.push([]);
      size = 0;
    }
    windows.at(-1)?.push(part);
    size += part.content.length;
  }
  return windows;
}

export const textOfParts = (parts: readonly ContentPart[]): string =>
  parts
    .map(
      (part) =>
        `## span ${part.spanId} | ${part.kind} | ${part.name}${part.truncated ? ' | cut' : ''}\n${part.content}`,
    )
    .join('\n\n');

/** Remarks of people on earlier findings, which reviewers must respect. */
export const feedbackOnFindings = (findings: readonly Finding[]): readonly object[] =>
  findings.flatMap(({ title, status, reason, kind }) =>
    reason === '' && status !== 'dismissed' ? [] : [{ finding: title, kind, status, reason }],
  );

/** The observations of known checks with at least one quote that is literally in its span. Other quotes are removed. */
function verifyObservations(
  observations: readonly Observation[],
  checks: ReadonlySet<string>,
  parts: readonly ContentPart[],
) {
  const bySpan = Map.groupBy(parts, ({ spanId }) => spanId);
  const verified = observations.flatMap((one): readonly Observation[] => {
    const evidence = one.evidence.filter(({ spanId, quote }) =>
      (bySpan.get(spanId) ?? []).some((part) => isQuoteOfPart(part, quote)),
    );
    return evidence.length === 0 || !checks.has(one.checkId) ? [] : [{ ...one, evidence }];
  });
  return { verified, isPartial: verified.length < observations.length };
}

/** Judges one execution by the checks of a run: one question for each of its first `MAX_WINDOWS` windows. */
export async function judgeExecution(
  { execution, parts, partial }: ReviewInput,
  {
    settings,
    findings,
    analyst,
  }: { readonly settings: LensSettings; readonly findings: readonly Finding[]; readonly analyst: Analyst },
): Promise<ExecutionJudgement> {
  const checks = enabledChecks(settings);
  const checkIds = new Set(checks.map(({ id }) => id));
  const windows = windowsOf(parts);
  const observations: Observation[] = [];
  const reasons: string[] = [];
  let isPartial = partial || windows.length > MAX_WINDOWS;
  let assessed = 0;
  let failure: string | null = null;
  for (const [index, window] of windows.slice(0, MAX_WINDOWS).entries()) {
    const answer = await analyst.ask({
      purpose: 'extract',
      task: REVIEW_TASK,
      structure: REVIEW_ANSWER,
      members: {
        context: settings.context,
        checks: checks.map(({ id, instruction }) => ({ id, instruction })),
        feedback: feedbackOnFindings(findings),
        run_feedback: fenced(shownFeedback(execution.metadata).join('\n')),
        execution: { name: execution.name, service: execution.service, part: index + 1, parts: windows.length },
        spans: fenced(catalogueOf(parts)),
        content: fenced(textOfParts(window)),
      },
    });
    if ('failure' in answer) {
      isPartial = true;
      failure = answer.failure;
      if (answer.final) return { extraction: null, partial: true, failure, final: true };
      continue;
    }
    const { observations: sent, assessable, reasoning } = answer.value;
    const found = sent.map(({ check_id: checkId, evidence, ...one }): Observation => ({
      ...one,
      checkId,
      evidence: evidence.map(({ span_id: spanId, quote }) => ({ spanId, quote: quote.trim() })),
    }));
    const result = verifyObservations(found, checkIds, window);
    observations.push(...result.verified);
    isPartial ||= result.isPartial;
    if (assessable) assessed += 1;
    if (reasoning !== '') reasons.push(reasoning);
    if (windows.length > 1 && !assessable) isPartial = true;
  }
  const cannotAssess = assessed === 0 && observations.length === 0;
  const hasContent = !cannotAssess || reasons.length > 0;
  if (failure !== null && !hasContent) return { extraction: null, partial: true, failure, final: false };
  const reasoning = reasons.join(' ').slice(0, REVIEW_LIMITS.reasoning);
  return { extraction: { observations, cannotAssess, reasoning }, partial: isPartial, failure, final: false };
}

function toolCallsOf(parts: readonly ContentPart[]): Review['toolCalls'] {
  const tools = parts.filter(({ kind }) => kind === 'tool');
  return [...Map.groupBy(tools, ({ name }) => name)].map(([name, calls]) => ({ name, calls: calls.length }));
}

/** The review of an execution, from its judgement. */
export function reviewOf(
  { execution, parts, contentVersion }: ReviewInput,
  { extraction, partial }: ExecutionJudgement,
  callFacts: Pick<Review, 'model' | 'durationMs' | 'at'>,
): Review {
  const observations = extraction?.observations ?? [];
  const cited = new Set(observations.flatMap(({ evidence }) => evidence.map(({ spanId }) => spanId)));
  const isCited = ({ spanId }: ContentPart): boolean => cited.has(spanId);
  // Quoted spans first, because only a few spans are shown.
  const ordered = [...parts.filter(isCited), ...parts.filter((part) => !isCited(part))];
  return {
    ...callFacts,
    executionId: execution.id,
    traceId: execution.traceId,
    agent: execution.agent,
    name: execution.name,
    spans: ordered.slice(0, REVIEW_LIMITS.spans).map((part) => ({
      spanId: part.spanId,
      name: part.name.slice(0, REVIEW_LIMITS.spanName),
      kind: part.kind.slice(0, REVIEW_LIMITS.spanKind),
      preview: headOf(part),
      cited: isCited(part),
    })),
    reasoning: extraction?.reasoning ?? '',
    verdicts: observations.map(({ checkId, kind, summary }) => ({ checkId, kind, summary })),
    cannotAssess: extraction?.cannotAssess ?? true,
    toolCalls: toolCallsOf(parts),
    extraction,
    contentVersion,
    reused: false,
    consolidated: false,
    partial,
  };
}
