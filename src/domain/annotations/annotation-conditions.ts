import { nullIfBlank } from '../optional-text.ts';

/** Kind of author: a person, a program, or a model. */
const ANNOTATOR_KINDS = ['human', 'code', 'llm'] as const;
export type AnnotatorKind = (typeof ANNOTATOR_KINDS)[number];

/** Conditions on an annotation. Every member that is not null must match. */
export interface AnnotationConditions {
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly name: string | null;
  readonly annotator: AnnotatorKind | null;
  readonly label: string | null;
  readonly author: string | null;
  readonly minScore: number | null;
  readonly maxScore: number | null;
  /** Earliest creation time, inclusive. */
  readonly from: Date | null;
  /** Latest creation time, exclusive. */
  readonly to: Date | null;
}

/** Conditions that every annotation matches. */
export const NO_ANNOTATION_CONDITIONS: AnnotationConditions = {
  traceId: null,
  spanId: null,
  name: null,
  annotator: null,
  label: null,
  author: null,
  minScore: null,
  maxScore: null,
  from: null,
  to: null,
};

/** Conditions as a list that a cursor contains. */
export const conditionList = (conditions: AnnotationConditions): readonly unknown[] => [
  conditions.traceId,
  conditions.spanId,
  conditions.name,
  conditions.annotator,
  conditions.label,
  conditions.author,
  conditions.minScore,
  conditions.maxScore,
  conditions.from?.getTime() ?? null,
  conditions.to?.getTime() ?? null,
];

const CONDITION_COUNT = conditionList(NO_ANNOTATION_CONDITIONS).length;
/** Largest absolute time of a `Date`, in ms. */
const MAX_MS = 8.64e15;

const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string';
const isKindOrNull = (value: unknown): value is AnnotatorKind | null =>
  value === null || ANNOTATOR_KINDS.some((kind) => kind === value);
const isNumberOrNull = (value: unknown): value is number | null => value === null || Number.isFinite(value);
const isTimeOrNull = (value: unknown): value is number | null =>
  value === null || (Number.isSafeInteger(value) && Math.abs(Number(value)) <= MAX_MS);
const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** Inverse of `conditionList`; undefined for any other value. */
export function conditionsOfList(list: unknown): AnnotationConditions | undefined {
  if (!Array.isArray(list) || list.length !== CONDITION_COUNT) return undefined;
  const [traceId, spanId, name, annotator, label, author, minScore, maxScore, from, to] = list as readonly unknown[];
  if (!isTextOrNull(traceId) || !isTextOrNull(spanId) || !isTextOrNull(name)) return undefined;
  if (!isKindOrNull(annotator) || !isTextOrNull(label) || !isTextOrNull(author)) return undefined;
  if (!isNumberOrNull(minScore) || !isNumberOrNull(maxScore)) return undefined;
  if (!isTimeOrNull(from) || !isTimeOrNull(to)) return undefined;
  return {
    traceId: nullIfBlank(traceId),
    spanId: nullIfBlank(spanId),
    name,
    annotator,
    label,
    author: nullIfBlank(author),
    minScore,
    maxScore,
    from: dateOf(from),
    to: dateOf(to),
  };
}
