import { isJsonObject, type JsonObject } from '../json-object.ts';
import { parseStructure } from './conventions/conversation.ts';
import type { AttributeValue, RawSpan, SpanType, TraceLabels } from './span.ts';

/** The labels of a trace, and which of them its root states. */
export interface StatedLabels extends TraceLabels {
  /** Bits: `SESSION_OF_ROOT`, `USER_OF_ROOT`. A statement of a root replaces those of other spans. */
  readonly rootLabels: number;
}

export const SESSION_OF_ROOT = 1;
export const USER_OF_ROOT = 2;

/** Attributes of each convention, the standard name first. OpenInference and LangChain also have a JSON `metadata`. */
const SESSION_KEYS = [
  'session.id',
  'gen_ai.conversation.id',
  'langfuse.session.id',
  'langsmith.trace.session_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'ai.telemetry.metadata.sessionId',
  'ai.telemetry.metadata.session_id',
  'mlflow.trace.session',
];
const USER_KEYS = [
  'user.id',
  'enduser.id',
  'langfuse.user.id',
  'langsmith.metadata.user_id',
  'traceloop.association.properties.user_id',
  'ai.telemetry.metadata.userId',
  'ai.telemetry.metadata.user_id',
  'mlflow.trace.user',
  'llm.user',
];
const TAG_KEYS = [
  'tag.tags',
  'langfuse.trace.tags',
  'langsmith.span.tags',
  'logfire.tags',
  'ai.telemetry.metadata.tags',
  'traceloop.association.properties.tags',
];
const METADATA_KEY = 'metadata';
const SESSION_MEMBERS = ['session_id', 'thread_id', 'conversation_id'];
const USER_MEMBERS = ['user_id'];

type Meaning = 'session' | 'user' | 'tags' | 'metadata';

/** Every attribute that can state a label, with its rank among those of the same meaning. */
const MEANINGS: ReadonlyMap<string, { readonly means: Meaning; readonly rank: number }> = new Map(
  (
    [
      ['session', SESSION_KEYS],
      ['user', USER_KEYS],
      ['tags', TAG_KEYS],
      ['metadata', [METADATA_KEY]],
    ] as const
  ).flatMap(([means, keys]) => keys.map((key, rank) => [key, { means, rank }] as const)),
);

/** Maximum length of one label, in characters, and maximum number of tags of a trace. */
const MAX_LABEL_CHARACTERS = 512;
const MAX_TAGS = 100;

/** Tag of the model calls that the product makes itself: runs of lenses and signals. */
export const INTERNAL_TAG = 'litellm-lens';

const LABELLED: ReadonlySet<SpanType> = new Set(['agent', 'llm', 'chain']);

/**
 * The labels that a span states; undefined for none. Only roots and spans of type `agent`, `llm` or `chain` can state
 * labels.
 */
export function labelsOfSpan(
  { attributes, parentSpanId }: Pick<RawSpan, 'attributes' | 'parentSpanId'>,
  type: SpanType,
): TraceLabels | undefined {
  if (parentSpanId !== null && !LABELLED.has(type)) return undefined;
  let [session, user] = [NO_LABEL, NO_LABEL];
  let tags: string[] | null = null;
  let metadata: AttributeValue = null;
  // One pass: it runs for every span of an export, and few attributes state a label.
  for (const key of Object.keys(attributes)) {
    const meaning = MEANINGS.get(key);
    if (meaning === undefined) continue;
    const value = attributes[key] ?? null;
    const { means, rank } = meaning;
    if (means === 'metadata') metadata = value;
    else if (means === 'tags') tags = [...(tags ?? []), ...tagsIn(value)];
    else if (means === 'session') session = lowerRanked(session, value, rank);
    else user = lowerRanked(user, value, rank);
  }
  const more = metadata === null || (session.label !== null && user.label !== null) ? null : metadataIn(metadata);
  return labelsWith(
    session.label ?? memberIn(more, SESSION_MEMBERS),
    user.label ?? memberIn(more, USER_MEMBERS),
    tags ?? [],
  );
}

/** Labels within their limits; undefined for none. */
export function labelsWith(
  sessionId: string | null,
  userId: string | null,
  tags: readonly string[],
): TraceLabels | undefined {
  const labels = { sessionId: labelOf(sessionId), userId: labelOf(userId), tags: distinctTags(tags.flatMap(tagOf)) };
  return labels.sessionId === null && labels.userId === null && labels.tags.length === 0 ? undefined : labels;
}

export const NO_LABELS: StatedLabels = { sessionId: null, userId: null, tags: [], rootLabels: 0 };

/** Labels of one span, as part of its trace. */
export function statedLabelsOf(labels: TraceLabels, isRoot: boolean): StatedLabels {
  const sessionOfRoot = isRoot && labels.sessionId !== null ? SESSION_OF_ROOT : 0;
  const userOfRoot = isRoot && labels.userId !== null ? USER_OF_ROOT : 0;
  return { ...labels, rootLabels: sessionOfRoot | userOfRoot };
}

/**
 * Joins the labels of two parts of a trace, in any order. The result has the tags of both, at most `MAX_TAGS`. Of two
 * sessions or users, the one that a root states is kept, else the first in the order of their text.
 */
export function joinLabels(left: StatedLabels, right: StatedLabels): StatedLabels {
  if (isUnlabelled(right)) return left;
  if (isUnlabelled(left)) return right;
  const [session, sessionOfRoot] = firstLabel(left, right, 'sessionId', SESSION_OF_ROOT);
  const [user, userOfRoot] = firstLabel(left, right, 'userId', USER_OF_ROOT);
  const tags = right.tags.length === 0 ? left.tags : distinctTags([...left.tags, ...right.tags]);
  return { sessionId: session, userId: user, tags, rootLabels: sessionOfRoot | userOfRoot };
}

/** The labels of an object with further members. */
export const labelsIn = ({ sessionId, userId, tags, rootLabels }: StatedLabels): StatedLabels => ({
  sessionId,
  userId,
  tags,
  rootLabels,
});

const isUnlabelled = ({ sessionId, userId, tags }: TraceLabels): boolean =>
  sessionId === null && userId === null && tags.length === 0;

/** The session or user that is kept, and its bit: 0 when no root states it. */
function firstLabel(
  left: StatedLabels,
  right: StatedLabels,
  member: 'sessionId' | 'userId',
  bit: number,
): readonly [string | null, number] {
  const [one, other] = [left[member], right[member]];
  const [oneBit, otherBit] = [left.rootLabels & bit, right.rootLabels & bit];
  if (one === null) return [other, other === null ? 0 : otherBit];
  if (other === null) return [one, oneBit];
  if (oneBit !== otherBit) return oneBit === 0 ? [other, otherBit] : [one, oneBit];
  return one <= other ? [one, oneBit] : [other, otherBit];
}

interface RankedLabel {
  readonly label: string | null;
  readonly rank: number;
}
const NO_LABEL: RankedLabel = { label: null, rank: Infinity };

/** The label of the key with the lower rank: keys that are listed first take precedence. */
function lowerRanked(found: RankedLabel, value: AttributeValue, rank: number): RankedLabel {
  if (rank >= found.rank) return found;
  const label = labelOf(value);
  return label === null ? found : { label, rank };
}

/** The members of `metadata`, which is JSON text or a map. */
function metadataIn(value: AttributeValue): JsonObject | null {
  const members: unknown = typeof value === 'string' ? parseStructure(value) : value;
  return isJsonObject(members) ? members : null;
}

function memberIn(metadata: JsonObject | null, members: readonly string[]): string | null {
  if (metadata === null) return null;
  for (const member of members) {
    const label = labelOf(metadata[member]);
    if (label !== null) return label;
  }
  return null;
}

/** Tags in a list, in the JSON text of a list, or in a text with commas between them. */
function tagsIn(value: AttributeValue): readonly string[] {
  return tagParts(value).slice(0, MAX_TAGS).flatMap(tagOf);
}

function tagParts(value: AttributeValue): readonly unknown[] {
  const list: unknown = typeof value === 'string' ? parseStructure(value) : value;
  if (Array.isArray(list)) return list;
  return typeof value === 'string' ? value.split(',') : [];
}

const tagOf = (value: unknown): readonly string[] => {
  const label = labelOf(value);
  return label === null ? [] : [label];
};

const distinctTags = (tags: readonly string[]): readonly string[] =>
  tags.length === 0 ? [] : [...new Set(tags)].toSorted().slice(0, MAX_TAGS);

/**
 * A trimmed text; null for a blank or too long text, and for other values. Some senders write a missing value as
 * `null`.
 */
function labelOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text === 'null' || text.length > MAX_LABEL_CHARACTERS ? null : text;
}
