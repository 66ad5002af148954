import { type ContentPart, isQuoteOfPart } from '../content.ts';
import { type Evidence, type Finding, type FindingDraft, joinedEvidence, PRIORITIES } from '../finding.ts';
import { fenced, INVESTIGATE_TASK } from '../prompts/prompts.ts';
import type { Analyst } from './analyst.ts';
import type { Candidate } from './grouping.ts';
import { catalogueOf, feedbackOnFindings, quoteOfExecution, textOfParts } from './reviewing.ts';
import { listOf, objectOf, oneOf, orNull, textUpTo } from './structure.ts';

/** Maximum numbers of supporting executions and of other executions, which may have counterexamples, in a question. */
const MAX_SUPPORTING = 6;
const MAX_OTHERS = 6;
/** Maximum number of observations in a question, and length of one excerpt in characters. */
const MAX_OBSERVATIONS = 60;
const EXCERPT_CHARACTERS = 5_000;
/** Maximum number of quotes of one execution that a finding takes from observations. */
const MAX_QUOTES_OF_EXECUTION = 2;

/** Maximum number of spans in the list of an execution that does not support the candidate. */
const MAX_LISTED_SPANS = 20;
/** Up to this number, the parts of an excerpt share its length equally. */
const MAX_EQUAL_PARTS = 8;

const MAX_TEXT_CHARACTERS = 2_000;

const EXAMINATION = objectOf({
  decision: oneOf('submit', 'inconclusive'),
  title: textUpTo(160),
  description: textUpTo(MAX_TEXT_CHARACTERS),
  priority: oneOf(...PRIORITIES),
  suggestion: textUpTo(MAX_TEXT_CHARACTERS),
  limitation: textUpTo(MAX_TEXT_CHARACTERS),
  brief: orNull(
    objectOf({
      problem: textUpTo(MAX_TEXT_CHARACTERS),
      user_goal: textUpTo(MAX_TEXT_CHARACTERS),
      what_happened: textUpTo(MAX_TEXT_CHARACTERS),
      test_cases: listOf(
        objectOf({ input: textUpTo(MAX_TEXT_CHARACTERS), expected: textUpTo(MAX_TEXT_CHARACTERS) }),
        10,
      ),
    }),
  ),
  evidence: listOf(quoteOfExecution, 20),
  existing_finding_id: orNull(textUpTo(100)),
});

/** An execution and its content. */
export interface Excerpt {
  readonly executionId: string;
  readonly parts: readonly ContentPart[];
}

/** Input of the examination of a candidate. */
export interface ExaminationInput {
  readonly candidate: Candidate;
  readonly findings: readonly Finding[];
  /** Loads the content of an execution of the sample. */
  load(executionId: string): Promise<Excerpt>;
  /** Reviewed executions that do not support the candidate, in the order of the sample. */
  readonly others: readonly string[];
}

/** Draft of a finding; null for an inconclusive answer and for a failure. `final`: the budget is used up. */
export type Examination =
  | { readonly draft: FindingDraft }
  | { readonly draft: null; readonly failure: string | null; readonly final: boolean };

/** Shortened content, at most `EXCERPT_CHARACTERS`: the beginning of each part, the wanted spans first. */
function excerptText(parts: readonly ContentPart[], wanted: ReadonlySet<string>): string {
  // With more parts, each part keeps an eighth, and the last ones are cut off.
  const partCharacters = Math.floor(EXCERPT_CHARACTERS / Math.max(1, Math.min(parts.length, MAX_EQUAL_PARTS)));
  const ordered = [
    ...parts.filter(({ spanId }) => wanted.has(spanId)),
    ...parts.filter(({ spanId }) => !wanted.has(spanId)),
  ];
  const short = ordered.map((part) => ({ ...part, content: part.content.slice(0, partCharacters) }));
  return textOfParts(short).slice(0, EXCERPT_CHARACTERS);
}

const observedEvidence = ({ sightings }: Candidate): readonly Evidence[] =>
  [...Map.groupBy(sightings, ({ executionId }) => executionId)].flatMap(([executionId, ofOne]) =>
    ofOne
      .flatMap(({ observation }) => observation.evidence)
      .slice(0, MAX_QUOTES_OF_EXECUTION)
      .map((quoted): Evidence => ({ executionId, ...quoted, role: 'support' })),
  );

/**
 * The quotes of an answer that are literally in their span. `excerpts`: by the short names of executions in the
 * question.
 */
function verifiedEvidence(
  sent: readonly {
    readonly execution: string;
    readonly span_id: string;
    readonly quote: string;
    readonly role: Evidence['role'];
  }[],
  excerpts: ReadonlyMap<string, Excerpt>,
): readonly Evidence[] {
  return sent.flatMap(({ execution, span_id: spanId, quote: sentQuote, role }): readonly Evidence[] => {
    const quote = sentQuote.trim();
    const excerpt = excerpts.get(execution);
    if (excerpt === undefined) return [];
    const isLiteral = excerpt.parts.some((part) => part.spanId === spanId && isQuoteOfPart(part, quote));
    return isLiteral ? [{ executionId: excerpt.executionId, spanId, quote, role }] : [];
  });
}

/**
 * Examines a candidate: the model sees its observations, excerpts of some supporting and some other executions, and
 * earlier findings. Quotes of the answer are kept only if they are literally in their span. The quotes of the
 * observations were already verified when the executions were reviewed.
 */
export async function examine(
  analyst: Analyst,
  { candidate, findings, load, others }: ExaminationInput,
): Promise<Examination> {
  const { checkId, kind, sightings } = candidate;
  const supporting = [...new Set(sightings.map(({ executionId }) => executionId))];
  const loaded = async (ids: readonly string[], prefix: string): Promise<readonly (readonly [string, Excerpt])[]> =>
    Promise.all(ids.map(async (id, at) => [`${prefix}${at + 1}`, await load(id)] as const));
  const supportingExcerpts = await loaded(supporting.slice(0, MAX_SUPPORTING), 's');
  const otherExcerpts = await loaded(others.slice(0, MAX_OTHERS), 'c');
  const quoted = new Set(sightings.flatMap(({ observation }) => observation.evidence.map(({ spanId }) => spanId)));
  const answer = await analyst.ask({
    purpose: 'investigate',
    task: INVESTIGATE_TASK,
    structure: EXAMINATION,
    members: {
      check: checkId,
      kind,
      suspicion: { title: candidate.title, hypothesis: candidate.hypothesis },
      runs: { supporting: supporting.length, others: others.length },
      feedback: feedbackOnFindings(findings),
      earlier_findings: findings
        .filter((one) => one.kind === kind)
        .map(({ id, title, description, status, reason }) => ({ id, title, description, status, reason })),
      observations: fenced(
        sightings
          .slice(0, MAX_OBSERVATIONS)
          .map(({ observation }) => `- ${observation.summary}`)
          .join('\n'),
      ),
      supporting_runs: supportingExcerpts.map(([execution, { parts }]) => ({
        execution,
        content: fenced(excerptText(parts, quoted)),
      })),
      other_runs: otherExcerpts.map(([execution, { parts }]) => ({
        execution,
        spans: fenced(catalogueOf(parts.slice(0, MAX_LISTED_SPANS))),
        content: fenced(excerptText(parts, new Set())),
      })),
    },
  });
  if ('failure' in answer) return { draft: null, failure: answer.failure, final: answer.final };
  const { value } = answer;
  if (value.decision === 'inconclusive') return { draft: null, failure: null, final: false };
  const answerEvidence = verifiedEvidence(value.evidence, new Map([...supportingExcerpts, ...otherExcerpts]));
  return { draft: draftOf(candidate, value, joinedEvidence(answerEvidence, observedEvidence(candidate))) };
}

/** The parsed answer of the model. */
type ExaminationAnswer = NonNullable<ReturnType<(typeof EXAMINATION)['read']>>;

function draftOf(
  { checkId, kind, title, hypothesis }: Candidate,
  value: ExaminationAnswer,
  evidence: readonly Evidence[],
): FindingDraft {
  const brief = value.brief.value;
  // In place of a text that is too short, the candidate's own text is used.
  return {
    title: value.title.trim().length < 3 ? title : value.title,
    description: value.description.trim().length < 10 ? `The runs show: ${hypothesis}` : value.description,
    checkId,
    checkIds: [checkId],
    kind,
    priority: value.priority,
    suggestion: value.suggestion,
    limitation: value.limitation,
    brief:
      brief === null || kind === 'pattern'
        ? null
        : {
            problem: brief.problem,
            userGoal: brief.user_goal,
            whatHappened: brief.what_happened,
            testCases: brief.test_cases,
          },
    evidence,
    existingFindingId: value.existing_finding_id.value,
    mergedFindingIds: [],
  };
}
