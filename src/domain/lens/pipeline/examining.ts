import { type ContentPart, isQuoteOfPart } from '../content.ts';
import { type Evidence, type Finding, type FindingDraft, joinedEvidence, PRIORITIES } from '../finding.ts';
import { fenced, INVESTIGATE_TASK } from '../prompts/prompts.ts';
import type { Analyst } from './analyst.ts';
import type { Candidate } from './grouping.ts';
import { catalogueOf, feedbackOf, quoteOfExecution, textOfParts } from './reviewing.ts';
import { listOf, objectOf, oneOf, orNull, textUpTo } from './structure.ts';

/** Supporting executions with excerpts, and others that are searched for counterexamples. */
const MOST_SUPPORTING = 6;
const MOST_OTHERS = 6;
/** Observations in the question, and characters of one excerpt. */
const MOST_OBSERVATIONS = 60;
const EXCERPT_CHARACTERS = 5_000;
/** Quotes of one execution that a finding keeps. */
const QUOTES_OF_EXECUTION = 2;

const MOST_TEXT = 2_000;

const EXAMINATION = objectOf({
  decision: oneOf('submit', 'inconclusive'),
  title: textUpTo(160),
  description: textUpTo(MOST_TEXT),
  priority: oneOf(...PRIORITIES),
  suggestion: textUpTo(MOST_TEXT),
  limitation: textUpTo(MOST_TEXT),
  brief: orNull(
    objectOf({
      problem: textUpTo(MOST_TEXT),
      user_goal: textUpTo(MOST_TEXT),
      what_happened: textUpTo(MOST_TEXT),
      test_cases: listOf(objectOf({ input: textUpTo(MOST_TEXT), expected: textUpTo(MOST_TEXT) }), 10),
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

/** What the examination of a candidate may read. */
export interface Examined {
  readonly candidate: Candidate;
  readonly findings: readonly Finding[];
  /** Loads the content of an execution of the sample. */
  load(executionId: string): Promise<Excerpt>;
  /** Sampled executions without this observation, in the order of the sample. */
  readonly others: readonly string[];
}

export type Examination =
  | { readonly draft: FindingDraft }
  | { readonly draft: null; readonly failure: string | null; readonly final: boolean };

/** Shortened content: the parts until the limit, each from its beginning. */
function excerptText(parts: readonly ContentPart[], wanted: ReadonlySet<string>): string {
  const each = Math.max(400, Math.floor(EXCERPT_CHARACTERS / Math.max(1, Math.min(parts.length, 8))));
  const ordered = [
    ...parts.filter(({ spanId }) => wanted.has(spanId)),
    ...parts.filter(({ spanId }) => !wanted.has(spanId)),
  ];
  const short = ordered.map((part) => ({ ...part, content: part.content.slice(0, each) }));
  return textOfParts(short).slice(0, EXCERPT_CHARACTERS);
}

const cutEvidence = ({ sightings }: Candidate): readonly Evidence[] =>
  [...Map.groupBy(sightings, ({ executionId }) => executionId)].flatMap(([executionId, ofOne]) =>
    ofOne
      .flatMap(({ observation }) => observation.evidence)
      .slice(0, QUOTES_OF_EXECUTION)
      .map((quoted): Evidence => ({ executionId, ...quoted, role: 'support' })),
  );

/** The quotes of an answer that are literally in their span; `names` are the short names of executions. */
function verifiedEvidence(
  sent: readonly {
    readonly execution: string;
    readonly span_id: string;
    readonly quote: string;
    readonly role: Evidence['role'];
  }[],
  names: ReadonlyMap<string, Excerpt>,
): readonly Evidence[] {
  return sent.flatMap(({ execution, span_id: spanId, quote: sentQuote, role }): readonly Evidence[] => {
    const quote = sentQuote.trim();
    const excerpt = names.get(execution);
    if (excerpt === undefined) return [];
    const isLiteral = excerpt.parts.some((part) => part.spanId === spanId && isQuoteOfPart(part, quote));
    return isLiteral ? [{ executionId: excerpt.executionId, spanId, quote, role }] : [];
  });
}

/**
 * Examines a candidate: the model sees its observations, excerpts of some of its executions and of others, and earlier
 * findings. The quotes of the answer are checked; those of the observations have been.
 */
export async function examine(analyst: Analyst, { candidate, findings, load, others }: Examined): Promise<Examination> {
  const { checkId, kind, sightings } = candidate;
  const supporting = [...new Set(sightings.map(({ executionId }) => executionId))];
  const loaded = async (ids: readonly string[], prefix: string): Promise<readonly (readonly [string, Excerpt])[]> =>
    Promise.all(ids.map(async (id, at) => [`${prefix}${at + 1}`, await load(id)] as const));
  const shown = await loaded(supporting.slice(0, MOST_SUPPORTING), 's');
  const compared = await loaded(others.slice(0, MOST_OTHERS), 'c');
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
      feedback: feedbackOf(findings),
      earlier_findings: findings
        .filter((one) => one.kind === kind)
        .map(({ id, title, description, status, reason }) => ({ id, title, description, status, reason })),
      observations: fenced(
        sightings
          .slice(0, MOST_OBSERVATIONS)
          .map(({ observation }) => `- ${observation.summary}`)
          .join('\n'),
      ),
      supporting_runs: shown.map(([execution, { parts }]) => ({
        execution,
        content: fenced(excerptText(parts, quoted)),
      })),
      other_runs: compared.map(([execution, { parts }]) => ({
        execution,
        spans: fenced(catalogueOf(parts.slice(0, 20))),
        content: fenced(excerptText(parts, new Set())),
      })),
    },
  });
  if ('failure' in answer) return { draft: null, failure: answer.failure, final: answer.final };
  const { value } = answer;
  if (value.decision === 'inconclusive') return { draft: null, failure: null, final: false };
  const own = verifiedEvidence(value.evidence, new Map([...shown, ...compared]));
  return { draft: draftOf(candidate, value, joinedEvidence(own, cutEvidence(candidate))) };
}

/** An examination that the model has sent. */
type Decided = NonNullable<ReturnType<(typeof EXAMINATION)['read']>>;

function draftOf(
  { checkId, kind, title, hypothesis }: Candidate,
  value: Decided,
  evidence: readonly Evidence[],
): FindingDraft {
  const brief = value.brief.value;
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
