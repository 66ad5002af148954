import type { Role } from '../role.ts';
import { InvalidInput } from '../errors.ts';
import type { Usd } from '../money.ts';
import { idOrNull } from '../optional-id.ts';
import { keyName } from './own-key.ts';
import type { VirtualKey } from './virtual-key.ts';

/** What a new key is to be; null leaves a thing out. */
export interface KeyDraft {
  /** The caller's own value for the key; null has one made. */
  readonly key: string | null;
  readonly alias: string | null;
  readonly role: Role | null;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Model names the key may call; empty means every model. */
  readonly models: readonly string[];
  readonly maxBudget: Usd | null;
  /** How long it holds, as `30s`, `30m`, `30h` or `30d`; null is for ever. */
  readonly duration: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A secret and its hash, when it was issued, and the hash of the key that asked for it. */
export interface IssuedSecret {
  readonly key: string;
  readonly hash: string;
  readonly now: Date;
  readonly createdBy: string;
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d{1,9})([smhd])$/;
/** The last instant a Date can name. */
const END_OF_TIME_MS = 8_640_000_000_000_000;

const isUnit = (text: string | undefined): text is keyof typeof UNIT_MS => text !== undefined && text in UNIT_MS;

/** The instant a duration from now ends. Throws InvalidInput, naming the field, for a duration that cannot be read. */
export function instantAfter(duration: string, now: Date, field: 'duration' | 'grace_period'): Date {
  const [, count, unit] = DURATION.exec(duration) ?? [];
  const endMs = isUnit(unit) ? now.getTime() + Number(count) * UNIT_MS[unit] : Number.NaN;
  if (endMs <= END_OF_TIME_MS) return new Date(endMs);
  throw new InvalidInput('The duration cannot be read.', [
    {
      path: ['body', field],
      rule: 'value_error',
      message: 'Value error, write a duration as 30s, 30m, 30h or 30d',
      input: duration,
    },
  ]);
}

/** Names are kept and compared as text, and no database keeps a NUL in text. */
export function assertNames(draft: {
  readonly alias?: string | null;
  readonly userId?: string | null;
  readonly teamId?: string | null;
}): void {
  const named = { key_alias: draft.alias, user_id: draft.userId, team_id: draft.teamId };
  for (const [field, value] of Object.entries(named)) {
    if (!value?.includes('\0')) continue;
    const message = 'Value error, a name has no NUL character';
    throw new InvalidInput('The name cannot be kept.', [{ path: ['body', field], rule: 'value_error', message }]);
  }
}

/** Refuses a budget below zero: zero allows no priced call, null is unlimited. */
export function assertBudget(maxBudget: Usd | null | undefined): void {
  if (maxBudget === null || maxBudget === undefined || maxBudget >= 0n) return;
  const message = 'Input should be greater than or equal to 0';
  throw new InvalidInput('The budget is not valid.', [
    { path: ['body', 'max_budget'], rule: 'greater_than_equal', message, context: { ge: 0 } },
  ]);
}

/** The row of a new key. A blank alias, team or user is none. */
export function newKey(draft: KeyDraft, { key, hash, now, createdBy }: IssuedSecret): VirtualKey {
  assertNames(draft);
  assertBudget(draft.maxBudget);
  return {
    hash,
    secretHash: hash,
    previousSecret: null,
    name: keyName(key),
    alias: idOrNull(draft.alias),
    role: draft.role ?? 'internal_user',
    teamId: idOrNull(draft.teamId),
    userId: idOrNull(draft.userId),
    models: draft.models,
    maxBudget: draft.maxBudget,
    metadata: draft.metadata,
    blocked: false,
    expiresAt: draft.duration === null ? null : instantAfter(draft.duration, now, 'duration'),
    rotations: 0,
    rotatedAt: null,
    createdAt: now,
    createdBy,
    updatedAt: now,
    updatedBy: createdBy,
    deletedAt: null,
    deletedBy: null,
  };
}
