import { MAX_VALUE_BYTES, truncateText } from '../traces/truncate.ts';

/** What a caller notes on a call for its own purposes, as attributes of its span under the names other tracers have for it. */
export type CallLabels = Readonly<Record<string, string>>;

const SESSION = 'session.id';
const END_USER = 'user.id';
const TAGS = 'tag.tags';
const METADATA = 'metadata';
const NAMES = new Set([SESSION, END_USER, TAGS, METADATA]);

/** Whether an attribute of a span holds what a caller noted on its call: that is each call's own, and of nobody else's. */
export const isCallLabel = (attribute: string): boolean => NAMES.has(attribute);

/** The labels of a call; undefined where nothing was noted. */
export function callLabels(noted: {
  readonly session: string | null;
  readonly endUser: string | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}): CallLabels | undefined {
  const { session, endUser, tags, metadata } = noted;
  const labels: Record<string, string> = {};
  if (session !== null) labels[SESSION] = session;
  if (endUser !== null) labels[END_USER] = endUser;
  if (tags.length > 0) labels[TAGS] = JSON.stringify([...new Set(tags)]);
  if (Object.keys(metadata).length > 0) labels[METADATA] = JSON.stringify(metadata);
  const all = Object.entries(labels);
  if (all.length === 0) return undefined;
  return Object.fromEntries(all.map(([name, value]) => [name, truncateText(value, MAX_VALUE_BYTES)]));
}
