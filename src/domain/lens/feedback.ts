import type { Annotation, Judgement } from '../annotations/annotation.ts';
import { storable } from '../storable.ts';
import { InvalidInput } from '../errors.ts';

/** Name of the annotations that hold feedback. */
const FEEDBACK_NAME = 'feedback';

/** Maximum score, and maximum lengths of texts in characters. */
export const FEEDBACK_LIMITS = { score: 10, comment: 10_000, user: 256, session: 512 } as const;

/** Filter of the annotations that are feedback. */
export const FEEDBACK_FILTER = {
  spanId: '',
  name: FEEDBACK_NAME,
  minScore: 0,
  maxScore: FEEDBACK_LIMITS.score,
} as const;

/** Feedback of a person about a trace as a whole. Each author has one feedback per trace. */
export interface Feedback {
  readonly traceId: string;
  readonly traceRef: string;
  /** 0 to 10; 10 is best. */
  readonly score: number;
  readonly comment: string;
  readonly author: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const feedbackOfAnnotation = (annotation: Annotation): Feedback => ({
  traceId: annotation.traceId,
  traceRef: annotation.traceRef,
  score: annotation.score ?? 0,
  comment: annotation.note ?? '',
  author: annotation.createdBy,
  createdAt: annotation.createdAt,
  updatedAt: annotation.updatedAt,
});

export const judgementOf = ({ score, comment }: Pick<Feedback, 'score' | 'comment'>): Judgement => ({
  name: FEEDBACK_NAME,
  annotator: 'human',
  label: null,
  score,
  note: comment === '' ? null : storable(comment),
});

/** Counts of the feedback about one trace. */
export interface FeedbackSummary {
  readonly traceId: string;
  readonly traceRef: string;
  readonly count: number;
  /** Null without feedback. */
  readonly average: number | null;
  readonly lowest: number | null;
}

export function summaryOfFeedback(
  trace: { readonly traceId: string; readonly traceRef: string },
  feedback: readonly Pick<Feedback, 'score'>[],
): FeedbackSummary {
  const { traceId, traceRef } = trace;
  const scores = feedback.map(({ score }) => score);
  const count = scores.length;
  if (count === 0) return { traceId, traceRef, count, average: null, lowest: null };
  const sum = scores.reduce((left, right) => left + right, 0);
  return { traceId, traceRef, count, average: sum / count, lowest: Math.min(...scores) };
}

/** Text whose SHA-256 begins with the trace id of a session of Claude Code. */
export const sessionSeed = (sessionId: string): string => `litellm.claude.session.v1\0${sessionId}`;

/** Metadata keys of feedback on an execution, and of the version of all its feedback. */
const FEEDBACK_KEY = 'feedback';
const VERSION_KEY = 'feedback.version';
/** Maximum number of feedback entries that a reviewer reads, and maximum length of each comment in characters. */
const MAX_SHOWN = 10;
const MAX_COMMENT_CHARACTERS = 500;

type Metadata = readonly { readonly key: string; readonly value: string }[];

/**
 * The latest `MAX_SHOWN` feedback entries as metadata of an execution, oldest first, then the version of all feedback.
 */
export function feedbackMetadata(feedback: readonly Feedback[]): Metadata {
  if (feedback.length === 0) return [];
  const sorted = feedback.toSorted((left, right) => left.updatedAt.getTime() - right.updatedAt.getTime());
  const shown = sorted.slice(-MAX_SHOWN).map(({ score, comment }) => ({
    key: FEEDBACK_KEY,
    value: `${score}/${FEEDBACK_LIMITS.score} ${comment.slice(0, MAX_COMMENT_CHARACTERS)}`.trim(),
  }));
  const latest = sorted.at(-1)?.updatedAt.getTime() ?? 0;
  return [...shown, { key: VERSION_KEY, value: `${feedback.length}-${latest}` }];
}

/** The feedback among the metadata of an execution. */
export const shownFeedback = (metadata: Metadata): readonly string[] =>
  metadata.flatMap(({ key, value }) => (key === FEEDBACK_KEY ? [value] : []));

/** Version of a content and of the feedback about it: a cached review is used only while both are unchanged. */
export function versionWithFeedback(contentVersion: string, metadata: Metadata): string {
  const version = metadata.find(({ key }) => key === VERSION_KEY);
  return version === undefined ? contentVersion : `${contentVersion}-f${version.value}`;
}

/** The trace that feedback is about: by its id, or by the session of a coding agent. */
export interface FeedbackTarget {
  readonly traceId: string | null;
  readonly sessionId: string | null;
  /** Ref of the trace. May be empty when the trace id has only one owner. */
  readonly traceRef: string;
}

/** Throws InvalidInput unless exactly one of the two ids is given. */
export function assertFeedbackTarget<Target extends FeedbackTarget>(target: Target, place: 'query' | 'body'): Target {
  const hasExactlyOneId = (target.traceId === null) !== (target.sessionId === null);
  if (hasExactlyOneId) return target;
  const message = 'Value error, Pass exactly one of trace_id or session_id';
  throw new InvalidInput(message, [{ path: [place], rule: 'value_error', message }]);
}
