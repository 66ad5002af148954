import { MAX_VALUE_BYTES, truncateText } from '../traces/truncate.ts';

/** Labels that a caller sets on its call, as span attributes under the names that other tracers use. */
export type CallLabels = Readonly<Record<string, string>>;

export const SESSION = 'session.id';
export const END_USER = 'user.id';
export const TAGS = 'tag.tags';
const METADATA = 'metadata';

/** The labels of a call; undefined without any. */
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
