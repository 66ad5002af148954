import { InvalidInput, NotFound } from '../errors.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import { assertName, assertNames } from './policy.ts';

/**
 * The calls to which a policy applies. Dimensions are teams, keys, models and tags: all must match a call, and an empty
 * one matches every call.
 */
export interface AttachmentRules {
  readonly policyName: string;
  /** `*`: the policy applies to every call. Else null. */
  readonly scope: string | null;
  /** Aliases or ids of teams. In every dimension, `abc*` matches all texts that begin with `abc`. */
  readonly teams: readonly string[];
  /** Aliases of keys. */
  readonly keys: readonly string[];
  /** Public model names. */
  readonly models: readonly string[];
  readonly tags: readonly string[];
  /** Order of the policies of a call: ascending, null last. */
  readonly priority: number | null;
  /** The attachment applies only when no attachment without this flag applies. */
  readonly isDefault: boolean;
}

export interface PolicyAttachment extends AttachmentRules {
  readonly id: string;
  /** Whether the attachment is in the configuration file. If so, the members below are null. */
  readonly isFromConfig: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  readonly createdBy: string | null;
  readonly updatedBy: string | null;
}

export type StoredAttachment = Omit<PolicyAttachment, 'isFromConfig' | keyof Stamps> & Stamps;
export type AttachmentStore = RowStore<StoredAttachment, null>;

const MAX_PRIORITY = 1_000_000;

/** Returns the rules unchanged. Throws InvalidInput for rules that cannot be stored. */
export function validAttachment<Rules extends AttachmentRules>(rules: Rules): Rules {
  const { policyName, scope, teams, keys, models, tags, priority, isDefault } = rules;
  assertName('policy_name', policyName);
  for (const [member, names] of Object.entries({ teams, keys, models, tags })) assertNames(member, names);
  const dimensions = [teams, keys, models, tags].filter(({ length }) => length > 0);
  if (scope !== null && scope !== '*') throw new InvalidInput("scope must be '*', or absent");
  if (scope === '*' && dimensions.length > 0)
    throw new InvalidInput("scope '*' applies to every call: leave out scope, or teams, keys, models and tags");
  if (scope === null && dimensions.length === 0 && !isDefault)
    throw new InvalidInput("An attachment needs scope '*', default, or at least one of teams, keys, models and tags");
  if (priority !== null && (!Number.isSafeInteger(priority) || Math.abs(priority) > MAX_PRIORITY))
    throw new InvalidInput(`priority must be an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}`);
  return rules;
}

export const unknownAttachment = (id: string): NotFound =>
  new NotFound('policy attachment', id, `Attachment with ID ${id} not found`);

/** Facts of a call that attachments match. */
export interface CallFacts {
  readonly teamAlias: string | null;
  readonly teamId: string | null;
  readonly keyAlias: string | null;
  readonly model: string | null;
  readonly tags: readonly string[];
}

const matchesText = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : pattern === text;

const withoutNulls = (...texts: readonly (string | null)[]): readonly string[] =>
  texts.filter((text): text is string => text !== null);

/** The first text that matches a pattern; null for no match. The pattern `*` also matches a call without texts. */
function matchingText(patterns: readonly string[], texts: readonly string[]): string | null {
  const found = texts.find((text) => patterns.some((pattern) => matchesText(pattern, text)));
  return found ?? (patterns.includes('*') ? '*' : null);
}

/** Reason why an attachment applies to a call, such as `team:sales+model:gpt-4o`; null when it does not apply. */
export function matchedVia(attachment: AttachmentRules, facts: CallFacts): string | null {
  if (attachment.scope === '*') return 'scope:*';
  const dimensions: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['tag', attachment.tags, facts.tags],
    ['team', attachment.teams, withoutNulls(facts.teamAlias, facts.teamId)],
    ['key', attachment.keys, withoutNulls(facts.keyAlias)],
    ['model', attachment.models, withoutNulls(facts.model)],
  ];
  const reasons: string[] = [];
  for (const [name, patterns, texts] of dimensions) {
    if (patterns.length === 0) continue;
    const found = matchingText(patterns, texts);
    if (found === null) return null;
    reasons.push(`${name}:${found}`);
  }
  return reasons.length === 0 ? 'scope:default' : reasons.join('+');
}
