import type { Owner, Visibility } from '../caller.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import type { TraceKey } from '../traces/store.ts';
import { nullIfEmpty } from '../optional-text.ts';
import { type AnnotationConditions, type AnnotatorKind, NO_ANNOTATION_CONDITIONS } from './annotation-conditions.ts';

/** Maximum and default page size. */
export const ANNOTATION_PAGE_SIZE = 100;

/** Maximum lengths of texts, in characters. */
export const MAX_NAME_LENGTH = 120;
export const MAX_LABEL_LENGTH = 256;
export const MAX_NOTE_LENGTH = 10_000;
/** Largest absolute score. */
const MAX_SCORE = 1e15;
/** Maximum number of annotations of one trace, its spans included. */
export const MAX_ANNOTATIONS = 1_000;

/**
 * A label, score or note that an author gives to a trace or to one of its spans. An author has at most one annotation
 * of a name on each trace or span. The author is `createdBy`. `updatedBy` is the user or key that sent the last change.
 * They differ, for example, when a sender of feedback names another author.
 */
export interface Annotation extends Stamps {
  readonly id: string;
  readonly traceId: string;
  readonly traceRef: string;
  /** Empty for the trace as a whole. */
  readonly spanId: string;
  /** Team that owns the trace; empty for none. Team and key decide who may read the trace and its annotations. */
  readonly teamId: string;
  /** Key that owns the trace. */
  readonly keyHash: string;
  /** Start of the trace, in Unix ms. Annotations are removed together with old traces. */
  readonly traceStartMs: number;
  /** What is judged, e.g. `helpfulness`. */
  readonly name: string;
  readonly annotator: AnnotatorKind;
  readonly label: string | null;
  readonly score: number | null;
  readonly note: string | null;
}

/** Content of an annotation. */
export interface Judgement {
  readonly name: string;
  readonly annotator: AnnotatorKind;
  readonly label: string | null;
  readonly score: number | null;
  readonly note: string | null;
}

/** Filter of annotations. Every member that is not null must match. */
export interface AnnotationFilter extends AnnotationConditions {
  /** Owners that the reader may see. */
  readonly visibility: Visibility;
  readonly traces: readonly TraceKey[] | null;
  /** Traces that began before this time, in Unix ms. */
  readonly traceBeforeMs: number | null;
}

/** Filter that every annotation matches. */
export const ALL_ANNOTATIONS: AnnotationFilter = {
  ...NO_ANNOTATION_CONDITIONS,
  visibility: { kind: 'all' },
  traces: null,
  traceBeforeMs: null,
};

export type AnnotationStore = RowStore<Annotation, AnnotationFilter>;

/** Why a text is not accepted; null when it is. PostgreSQL cannot store a NUL character. */
function textFault(
  text: string | null,
  { least = 0, most }: { readonly least?: number; readonly most: number },
): string | null {
  const length = text?.length ?? 0;
  if (length < least || length > most)
    return least === 0 ? `must have at most ${most} characters` : `must have ${least} to ${most} characters`;
  return text?.includes('\0') === true ? 'must not contain a NUL character' : null;
}

/** A judgement with trimmed texts; a blank label or note is null. Throws InvalidInput with every fault. */
export function readJudgement({ name, annotator, label, score, note }: Judgement): Judgement {
  const texts = { name: name.trim(), label: label?.trim() || null, note: note?.trim() || null };
  const issues: Issue[] = [];
  const addIssue = (field: string, message: string | null): void => {
    if (message !== null) issues.push({ path: [field], rule: 'range', message });
  };
  addIssue('name', textFault(texts.name, { least: 1, most: MAX_NAME_LENGTH }));
  addIssue('label', textFault(texts.label, { most: MAX_LABEL_LENGTH }));
  addIssue('note', textFault(texts.note, { most: MAX_NOTE_LENGTH }));
  if (score !== null && (Number.isNaN(score) || Math.abs(score) > MAX_SCORE))
    addIssue('score', `must be between ±${MAX_SCORE}`);
  if (texts.label === null && texts.note === null && score === null)
    addIssue('label', 'must be given where there is no score and no note');
  if (issues.length === 0) return { ...texts, annotator, score };
  throw new InvalidInput(
    `Invalid annotation: ${issues.map(({ path, message }) => `${path.join('.')} ${message}`).join(', ')}.`,
    issues,
  );
}

/** A new annotation of a trace, or of a span of it. */
export const newAnnotation = (
  judgement: Judgement,
  about: Authored & {
    readonly id: string;
    readonly trace: TraceKey & { readonly owner: Owner; readonly startNs: bigint };
    readonly spanId: string;
  },
): Annotation => {
  const { traceId, traceRef, owner, startNs } = about.trace;
  return {
    id: about.id,
    traceId,
    traceRef,
    spanId: about.spanId,
    teamId: owner.teamId ?? '',
    keyHash: owner.keyHash,
    traceStartMs: Number(startNs / 1_000_000n),
    ...judgement,
    ...newStamps(about),
  };
};

/** An annotation whose author has changed the judgement. */
export const withJudgement = (annotation: Annotation, judgement: Judgement, { now, by }: Authored): Annotation => ({
  ...annotation,
  ...judgement,
  updatedAt: now,
  updatedBy: by,
});

/** Owner of the annotated trace. */
export const ownerOfAnnotation = ({ teamId, keyHash }: Annotation): Owner => ({
  teamId: nullIfEmpty(teamId),
  keyHash,
});
