import type { JsonObject } from '../json-object.ts';
import type { Caller } from '../caller.ts';
import { Forbidden, InvalidInput } from '../errors.ts';
import { type Usd, usdText } from '../money.ts';
import { idOrNull } from '../optional-id.ts';
import type { MemberRole } from '../teams/member.ts';
import { durationMs } from './durations.ts';
import type { KeyPatch } from './key-change.ts';
import type { KeyDraft } from './key-draft.ts';

/** Limits of keys that the configuration sets. */
export interface KeyCaps {
  readonly maxBudget?: Usd;
  readonly budgetDuration?: string;
  readonly duration?: string;
  readonly tpmLimit?: number;
  readonly rpmLimit?: number;
  readonly maxParallelRequests?: number;
}

/** Defaults of new keys for settings that a request leaves out. */
export interface KeyDefaults extends KeyCaps {
  readonly models?: readonly string[];
  readonly teamId?: string;
  readonly metadata?: JsonObject;
}

/** Roles that may make keys, and required members of their requests. */
export interface KeyMakers {
  /** Roles of users, or of members of a team; null for every role. */
  readonly roles: readonly string[] | null;
  /** Members of a request, by their names on the wire. */
  readonly requiredParams: readonly string[];
}

/** Rules of the configuration about new keys. */
export interface KeyRules {
  readonly defaults: KeyDefaults;
  readonly caps: KeyCaps;
  /** Keys without a team; null for no rule. */
  readonly personal: KeyMakers | null;
  /** Keys of teams; null for no rule. */
  readonly team: KeyMakers | null;
  /** Whether aliases must have the form of names. */
  readonly checksAliases: boolean;
}

export const NO_KEY_RULES: KeyRules = { defaults: {}, caps: {}, personal: null, team: null, checksAliases: false };

const SETTINGS = ['tpmLimit', 'rpmLimit', 'maxParallelRequests'] as const;

/** A draft with the defaults of the configuration, then with its caps where it leaves a limit out. */
export function withDefaults(draft: KeyDraft, { defaults, caps }: KeyRules): KeyDraft {
  const settings = { ...draft.settings };
  for (const name of SETTINGS) {
    const defaultValue = defaults[name] ?? caps[name];
    if (defaultValue !== undefined) settings[name] ??= defaultValue;
  }
  return {
    ...draft,
    models: draft.models.length === 0 ? (defaults.models ?? []) : draft.models,
    teamId: idOrNull(draft.teamId) ?? defaults.teamId ?? null,
    metadata: Object.keys(draft.metadata).length === 0 ? (defaults.metadata ?? {}) : draft.metadata,
    maxBudget: draft.maxBudget ?? defaults.maxBudget ?? caps.maxBudget ?? null,
    budgetDuration: draft.budgetDuration ?? defaults.budgetDuration ?? caps.budgetDuration ?? null,
    duration: draft.duration ?? defaults.duration ?? caps.duration ?? null,
    settings,
  };
}

const overLimit = (member: string, sent: unknown, most: unknown): InvalidInput =>
  new InvalidInput(`${member} is over max limit set in config - user_value=${String(sent)}; max_value=${String(most)}`);

/**
 * Refuses limits above the caps of the configuration. In a change, null removes a limit, and so is above every cap. Throws
 * InvalidInput.
 */
export function assertCaps(sent: KeyDraft | KeyPatch, { caps }: KeyRules): void {
  const { maxBudget, settings = {} } = sent;
  const limits = [
    ['tpm_limit', settings.tpmLimit, caps.tpmLimit],
    ['rpm_limit', settings.rpmLimit, caps.rpmLimit],
    ['max_parallel_requests', settings.maxParallelRequests, caps.maxParallelRequests],
  ] as const;
  if (caps.maxBudget !== undefined && maxBudget !== undefined && (maxBudget === null || maxBudget > caps.maxBudget))
    throw overLimit('max_budget', maxBudget === null ? null : usdText(maxBudget), usdText(caps.maxBudget));
  for (const [member, value, most] of limits)
    if (most !== undefined && value !== undefined && (value === null || value > most))
      throw overLimit(member, value, most);
  for (const [member, value, most] of [
    ['duration', sent.duration, caps.duration],
    ['budget_duration', sent.budgetDuration, caps.budgetDuration],
  ] as const)
    if (most !== undefined && value !== undefined && isLonger(value, most)) throw overLimit(member, value, most);
}

/** Whether a duration is longer than the cap. False for a malformed text, which its parser refuses. */
function isLonger(value: string | null, most: string): boolean {
  if (value === null || value === '-1') return true;
  const [sent, longest] = [durationMs(value), durationMs(most)];
  return sent !== null && longest !== null && sent > longest;
}

const ALIAS = /^[A-Za-z0-9][A-Za-z0-9_\-/.@]{0,253}[A-Za-z0-9]$/;

/** Refuses an alias with an invalid format, where `checksAliases` is set. Throws InvalidInput. */
export function assertAlias(alias: string | null | undefined, { checksAliases }: KeyRules): void {
  const sent = idOrNull(alias ?? null);
  if (!checksAliases || sent === null || ALIAS.test(sent)) return;
  throw new InvalidInput(
    'Invalid key_alias format. Must be 2-255 characters, start/end with alphanumeric, and only contain a-zA-Z0-9_-/.@.',
    [],
    { field: 'key_alias' },
  );
}

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Members of a draft, by their names on the wire. */
function sentMembers({
  alias,
  settings = {},
  metadataMembers = {},
  ...columns
}: KeyDraft): ReadonlyMap<string, unknown> {
  const named = [...Object.entries(columns), ...Object.entries(settings)];
  return new Map([
    ...Object.entries(metadataMembers),
    ...named.map(([name, value]): [string, unknown] => [snakeCase(name), value]),
    ['key_alias', alias],
  ]);
}

const isAbsent = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);

/** Caller that requests a new key. */
interface KeyCreator {
  readonly caller: Caller;
  /** Role of the caller in the team of the key; null for no member. */
  readonly memberRole: MemberRole | null;
}

/**
 * Checks that the configuration lets the caller make a key like this. Proxy administrators may make every key, but must name
 * the required members of one without a team. Throws Forbidden and InvalidInput.
 */
export function assertMayCreate({ caller, memberRole }: KeyCreator, draft: KeyDraft, rules: KeyRules): void {
  const isOfTeam = idOrNull(draft.teamId) !== null;
  const makers = isOfTeam ? rules.team : rules.personal;
  const isAdmin = caller.role === 'proxy_admin';
  if (makers === null || (isAdmin && isOfTeam)) return;
  const { roles, requiredParams } = makers;
  const listed = `[${(roles ?? []).map((role) => `'${role}'`).join(', ')}]`;
  if (!isAdmin && !isOfTeam && roles !== null && !roles.includes(caller.role))
    throw new Forbidden(
      `Personal key creation has been restricted by admin. Allowed roles=${listed}. Your role=${caller.role}`,
      'key_owner',
    );
  if (!isAdmin && isOfTeam && roles !== null && memberRole !== null && !roles.includes(memberRole))
    throw new InvalidInput(`Team member role ${memberRole} not in allowed_team_member_roles=${listed}`);
  const sent = sentMembers(draft);
  const missing = requiredParams.find((name) => isAbsent(sent.get(name)));
  if (missing !== undefined) throw new InvalidInput(`Required param ${missing} not in data`);
}
