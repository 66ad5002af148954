import type { SpendRow } from '../spend/spend-row.ts';
import type { TraceLabels } from '../traces/span.ts';
import { labelsWith } from '../traces/trace-labels.ts';
import { type CallLabels, END_USER, SESSION, TAGS, tagsIn } from './call-labels.ts';

/** Prefix of the tags that are made from a user agent. */
export const AGENT_TAG = 'User-Agent: ';

/** Longest user agent of a tag, in characters; longer ones are cut. */
const MAX_USER_AGENT_CHARACTERS = 256;
/** Most user agents whose tags are cached. */
const MAX_CACHED_AGENTS = 512;

const NO_TAGS: readonly string[] = Object.freeze([]);
const tagsByAgent = new Map<string, readonly string[]>();

/** Tags of a user agent: without and with its version, as `User-Agent: curl` and `User-Agent: curl/8.1`. */
function agentTags(userAgent: string | undefined): readonly string[] {
  if (userAgent === undefined || userAgent === '') return NO_TAGS;
  const known = tagsByAgent.get(userAgent);
  if (known !== undefined) return known;
  const agent = userAgent.slice(0, MAX_USER_AGENT_CHARACTERS);
  const product = agent.split('/', 1)[0] ?? agent;
  const tags = [...new Set([`${AGENT_TAG}${product}`, `${AGENT_TAG}${agent}`])];
  if (tagsByAgent.size >= MAX_CACHED_AGENTS) tagsByAgent.clear();
  tagsByAgent.set(userAgent, tags);
  return tags;
}

/** The tags of a call, without those of its user agent. */
export const ownTags = (labels: CallLabels): readonly string[] =>
  labels[TAGS] === undefined ? NO_TAGS : tagsIn(labels);

/** The columns of a spend row that come from the caller's labels and user agent. */
export function spendLabels(
  labels: CallLabels | undefined,
  userAgent: string | undefined,
): Pick<SpendRow, 'endUser' | 'sessionId' | 'tags'> {
  const agent = agentTags(userAgent);
  if (labels === undefined) return { endUser: null, sessionId: null, tags: agent };
  const own = ownTags(labels);
  return {
    endUser: labels[END_USER] ?? null,
    sessionId: labels[SESSION] ?? null,
    tags: own.length === 0 ? agent : [...new Set([...own, ...agent])],
  };
}

/** The labels for the span of a call, from its spend row: without the tags of the user agent. Undefined for none. */
export function labelsOfCall({
  endUser,
  sessionId,
  tags,
}: Pick<SpendRow, 'endUser' | 'sessionId' | 'tags'>): TraceLabels | undefined {
  if (endUser === null && sessionId === null && tags.length === 0) return undefined;
  return labelsWith(
    sessionId,
    endUser,
    tags.filter((tag) => !tag.startsWith(AGENT_TAG)),
  );
}
