import { isJsonObject, type JsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { storable } from '../storable.ts';
import { MAX_VALUE_BYTES, truncateText } from '../traces/truncate.ts';

/** Labels that a caller sets on its call, as span attributes under the names that other tracers use. */
export type CallLabels = Readonly<Record<string, string>>;

export const SESSION = 'session.id';
export const END_USER = 'user.id';
export const TAGS = 'tag.tags';
const METADATA = 'metadata';

/** Maximum number of tags of a call, the tags of its key, team and project included. */
const MAX_TAGS = 64;
/** Longest tag, in characters. */
const MAX_TAG_CHARACTERS = 256;

/**
 * Tags as one label, as `storable` returns them. Throws InvalidInput when the tags are too many or too long. They are
 * not truncated like other labels, because spend is counted for each tag.
 */
function tagsLabel(tags: readonly string[]): string {
  const distinct = [...new Set(tags.map(storable))];
  const refuse = (message: string): never => {
    throw new InvalidInput(message, [{ path: ['body', 'tags'], rule: 'too_long', message }]);
  };
  if (distinct.length > MAX_TAGS)
    refuse(
      `A call has at most ${MAX_TAGS} tags, with those of its key, team and project. This call has ${distinct.length}.`,
    );
  if (distinct.some((tag) => tag.length > MAX_TAG_CHARACTERS))
    refuse(`A tag has at most ${MAX_TAG_CHARACTERS} characters.`);
  const label = JSON.stringify(distinct);
  if (Buffer.byteLength(label) > MAX_VALUE_BYTES)
    refuse(`The tags of a call have at most ${MAX_VALUE_BYTES} bytes, as JSON.`);
  return label;
}

/** The tags in labels, each once. */
export function tagsIn(labels: CallLabels): readonly string[] {
  const text = labels[TAGS];
  return text === undefined ? [] : (JSON.parse(text) as readonly string[]);
}

/** Labels with a further member of their metadata. Returns the labels where the metadata is too long to be changed. */
export function withMetadata(labels: CallLabels | undefined, members: JsonObject): CallLabels {
  const text = JSON.stringify({ ...metadataIn(labels?.[METADATA]), ...members });
  return Buffer.byteLength(text) > MAX_VALUE_BYTES ? { ...labels } : { ...labels, [METADATA]: text };
}

/** Metadata of a label; empty where the label was truncated. */
function metadataIn(label: string | undefined): JsonObject {
  if (label === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(label);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Labels with further tags. Throws InvalidInput for too many or too long tags. */
export function withTags(labels: CallLabels | undefined, further: readonly string[]): CallLabels {
  const tags = labels === undefined ? further : [...tagsIn(labels), ...further];
  return { ...labels, [TAGS]: tagsLabel(tags) };
}

/**
 * The labels of a call; undefined without any. Session, end user and tags are as `storable` returns them, because
 * budgets and stored spend are counted under one name. Throws InvalidInput for too many or too long tags.
 */
export function callLabels(sent: {
  readonly session: string | null;
  readonly endUser: string | null;
  readonly tags: readonly string[];
  readonly metadata: JsonObject;
}): CallLabels | undefined {
  const { session, endUser, tags, metadata } = sent;
  const labels: Record<string, string> = {};
  if (session !== null) labels[SESSION] = storable(session);
  if (endUser !== null) labels[END_USER] = storable(endUser);
  if (tags.length > 0) labels[TAGS] = tagsLabel(tags);
  if (Object.keys(metadata).length > 0) labels[METADATA] = JSON.stringify(metadata);
  const all = Object.entries(labels);
  if (all.length === 0) return undefined;
  return Object.fromEntries(all.map(([name, value]) => [name, truncateText(value, MAX_VALUE_BYTES)]));
}
