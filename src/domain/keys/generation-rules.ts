import type { JsonObject } from '../json-object.ts';
import type { Caller } from '../caller.ts';
import { InvalidInput } from '../errors.ts';
import { snakeCase } from '../key-case.ts';
import { type Usd, usdText } from '../money.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { MemberRole } from '../teams/member.ts';
import { durationMs, endsAfter } from './durations.ts';
import type { KeyPatch } from './key-change.ts';
import type { KeyDraft } from './key-draft.ts';
import { keyOwnerRefusal } from './key-owner-refusal.ts';

/** Upper limits of keys, from the configuration. */
export interface KeyCaps {
  readonly maxBudget?: Usd;
  readonly budgetDuration?: string;
  readonly duration?: string;
  readonly tpmLimit?: number;
  readonly rpmLimit?: number;
  readonly maxParallelRequests?: number;
}

/** Defaults of new keys for settings that a request leaves out, among them the limits that `KeyCaps` names. */
export interface KeyDefaults extends KeyCaps {
  readonly models?: readonly string[];
  readonly teamId?: string;
  readonly metadata?: JsonObject;
}

/** Roles that may create keys, and required members of new keys. */
export interface KeyCreationRule {
  /** Roles of users for keys without a team, roles of members for keys of a team. Null allows every role. */
  readonly roles: readonly string[] | null;
  /** Members that a request for a new key must have, by their names on the wire. */
  readonly requiredParams: readonly string[];
}

/** Rules of the configuration about new keys. `caps` and `checksAliases` also apply to changes of keys. */
export interface KeyRules {
  readonly defaults: KeyDefaults;
  readonly caps: KeyCaps;
  /** Rule for keys without a team; null for none. */
  readonly personal: KeyCreationRule | null;
  /** Rule for keys of teams; null for none. */
  readonly team: KeyCreationRule | null;
  /** Whether a key of a team that does not exist is refused to proxy administrators too. */
  readonly refusesUnknownTeams: boolean;
  /** Whether the format of aliases is checked: see `assertAlias`. */
  readonly checksAliases: boolean;
}

export const NO_KEY_RULES: KeyRules = {
  defaults: {},
  caps: {},
  personal: null,
  team: null,
  refusesUnknownTeams: false,
  checksAliases: false,
};

const LIMIT_SETTINGS = ['tpmLimit', 'rpmLimit', 'maxParallelRequests'] as const;

/**
 * Sets each member that is absent from the draft to its default in the configuration. A limit without a default is set
 * to its cap.
 */
export function withDefaults(draft: KeyDraft, { defaults, caps }: KeyRules): KeyDraft {
  const settings = { ...draft.settings };
  for (const name of LIMIT_SETTINGS) {
    const defaultValue = defaults[name] ?? caps[name];
    if (defaultValue !== undefined) settings[name] ??= defaultValue;
  }
  return {
    ...draft,
    models: draft.models.length === 0 ? (defaults.models ?? []) : draft.models,
    teamId: nullIfBlank(draft.teamId) ?? defaults.teamId ?? null,
    metadata: Object.keys(draft.metadata).length === 0 ? (defaults.metadata ?? {}) : draft.metadata,
    maxBudget: draft.maxBudget ?? defaults.maxBudget ?? caps.maxBudget ?? null,
    budgetDuration: draft.budgetDuration ?? defaults.budgetDuration ?? caps.budgetDuration ?? null,
    duration: draft.duration ?? defaults.duration ?? caps.duration ?? null,
    settings,
  };
}

const overLimit = (member: string, sent: unknown, cap: unknown): InvalidInput =>
  new InvalidInput(`${member} is over max limit set in config - user_value=${String(sent)}; max_value=${String(cap)}`);

/**
 * Refuses limits above the caps of the configuration. In a change, null removes a limit: it exceeds every cap.
 * Lifetimes are compared by their end when they begin now. Budget windows are compared by their length: a month is 30
 * days, because the windows `1mo` and `30d` are the same. Throws InvalidInput.
 */
export function assertCaps(sent: KeyDraft | KeyPatch, { caps }: KeyRules, now: Date): void {
  const { maxBudget, duration, budgetDuration, settings = {} } = sent;
  const limits = [
    ['tpm_limit', settings.tpmLimit, caps.tpmLimit],
    ['rpm_limit', settings.rpmLimit, caps.rpmLimit],
    ['max_parallel_requests', settings.maxParallelRequests, caps.maxParallelRequests],
  ] as const;
  if (caps.maxBudget !== undefined && maxBudget !== undefined && (maxBudget === null || maxBudget > caps.maxBudget))
    throw overLimit('max_budget', maxBudget === null ? null : usdText(maxBudget), usdText(caps.maxBudget));
  for (const [member, value, cap] of limits)
    if (cap !== undefined && value !== undefined && (value === null || value > cap))
      throw overLimit(member, value, cap);
  if (isOver(duration, caps.duration, (value, cap) => endsAfter(value, cap, now)))
    throw overLimit('duration', duration, caps.duration);
  if (isOver(budgetDuration, caps.budgetDuration, isLonger))
    throw overLimit('budget_duration', budgetDuration, caps.budgetDuration);
}

/** Whether a duration exceeds its cap. Null and `-1` never end. */
function isOver(
  value: string | null | undefined,
  cap: string | undefined,
  exceeds: (value: string, cap: string) => boolean,
): boolean {
  if (cap === undefined || value === undefined) return false;
  return value === null || value === '-1' || exceeds(value, cap);
}

/** Whether a window is longer than another one. False for a malformed text, which its parser refuses. */
function isLonger(value: string, cap: string): boolean {
  const [sentMs, capMs] = [durationMs(value), durationMs(cap)];
  return sentMs !== null && capMs !== null && sentMs > capMs;
}

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9_\-/.@]{0,253}[A-Za-z0-9]$/;

/** Refuses an alias with an invalid format, if `checksAliases` is set. Throws InvalidInput. */
export function assertAlias(alias: string | null | undefined, { checksAliases }: KeyRules): void {
  const sent = nullIfBlank(alias ?? null);
  if (!checksAliases || sent === null || ALIAS.test(sent)) return;
  throw new InvalidInput(
    'Invalid key_alias format. Must be 2-255 characters, start/end with alphanumeric, and only contain a-zA-Z0-9_-/.@.',
    [],
    { field: 'key_alias' },
  );
}

/** Members of a draft, by their names on the wire. */
function sentMembers({
  alias,
  role,
  settings = {},
  metadataMembers = {},
  ...columns
}: KeyDraft): ReadonlyMap<string, unknown> {
  const named = [...Object.entries(columns), ...Object.entries(settings)];
  return new Map([
    ...Object.entries(metadataMembers),
    ...named.map(([name, value]): [string, unknown] => [snakeCase(name), value]),
    ['key_alias', alias],
    ['user_role', role],
  ]);
}

const isAbsent = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** Caller that requests a new key. */
interface KeyCreator {
  readonly caller: Caller;
  /** Role of the caller in the team of the key; null if the caller is not a member. */
  readonly memberRole: MemberRole | null;
  /** The draft without defaults of the configuration, which do not replace required members. */
  readonly sent: KeyDraft;
}

/**
 * Checks that the configuration allows the caller to create this key. Proxy administrators may create every key, but
 * must send the required members for a key without a team. Throws Forbidden and InvalidInput.
 */
export function assertMayCreate({ caller, memberRole, sent }: KeyCreator, draft: KeyDraft, rules: KeyRules): void {
  const isOfTeam = nullIfBlank(draft.teamId) !== null;
  const rule = isOfTeam ? rules.team : rules.personal;
  const isAdmin = caller.role === 'proxy_admin';
  if (rule === null || (isAdmin && isOfTeam)) return;
  const { roles, requiredParams } = rule;
  if (!isAdmin && roles !== null) {
    const listed = `[${roles.map((role) => `'${role}'`).join(', ')}]`;
    if (!isOfTeam && !roles.includes(caller.role))
      throw keyOwnerRefusal(
        `Personal key creation has been restricted by admin. Allowed roles=${listed}. Your role=${caller.role}`,
      );
    if (isOfTeam && memberRole !== null && !roles.includes(memberRole))
      throw new InvalidInput(`Team member role ${memberRole} not in allowed_team_member_roles=${listed}`);
  }
  const members = sentMembers(sent);
  const missing = requiredParams.find((name) => isAbsent(members.get(name)));
  if (missing !== undefined) throw new InvalidInput(`Required param ${missing} not in data`);
}
