import type { JsonObject } from '../json-object.ts';
import { Conflict } from '../errors.ts';
import { type Usd, ZERO_USD } from '../money.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { Role } from '../role.ts';
import { assertPeriods, keyWindowsOf } from './budget-windows.ts';
import { instantAfter, windowEnd } from './durations.ts';
import { assertBudget, assertNames, type IssuedSecret } from './key-draft.ts';
import { mergedMetadata, mergedSettings, type SettingsPatch, type WantedWindow } from './key-settings.ts';
import { keyName } from './chosen-key.ts';
import { assertRouterSettings } from './router-settings.ts';
import type { VirtualKey } from './virtual-key.ts';
import { withKeptSecrets } from '../settings/redaction.ts';

/** Changes to a key. An absent field is unchanged, null clears it. */
export interface KeyPatch {
  readonly alias?: string | null;
  readonly role?: Role;
  readonly teamId?: string | null;
  readonly userId?: string | null;
  readonly models?: readonly string[];
  readonly maxBudget?: Usd | null;
  /** Counted from now, as in a draft; null and `-1` never expire. */
  readonly duration?: string | null;
  readonly metadata?: JsonObject;
  /** Single members of the metadata to set; null removes one. */
  readonly metadataMembers?: JsonObject;
  readonly settings?: Omit<SettingsPatch, 'budgetLimits'>;
  readonly budgetLimits?: readonly WantedWindow[] | null;
  readonly budgetDuration?: string | null;
  /** Spend of the key in its current budget window. */
  readonly spend?: Usd;
  readonly blocked?: boolean;
}

/** Time and author of a change. */
export interface Change {
  readonly now: Date;
  /** Hash of the key that makes the change. */
  readonly by: string;
  /** Total spend of the key. Needed where the patch sets its spend or its windows. */
  readonly total?: Usd;
}

const stampedKey = (key: VirtualKey, { now, by }: Change): VirtualKey => ({ ...key, updatedAt: now, updatedBy: by });

function expiryAfter(duration: string | null, now: Date): Date | null {
  return duration === null || duration === '-1' ? null : instantAfter(duration, now, 'duration');
}

type BudgetFields = Pick<VirtualKey, 'settings'> &
  Partial<Pick<VirtualKey, 'budgetDuration' | 'budgetResetAt' | 'spentBefore'>>;

function budgetChanges(key: VirtualKey, patch: KeyPatch, { now, total = ZERO_USD }: Change): BudgetFields {
  const { budgetDuration, budgetLimits, spend } = patch;
  assertRouterSettings(patch.settings?.routerSettings);
  const windows = budgetLimits && keyWindowsOf(budgetLimits, { now, total, before: key.settings.budgetLimits ?? [] });
  const settings = mergedSettings(key.settings, {
    ...patch.settings,
    // An empty list removes the windows.
    ...(windows === undefined ? {} : { budgetLimits: windows?.length ? windows : null }),
  });
  const budgetResetAt = typeof budgetDuration === 'string' ? windowEnd(budgetDuration, now) : null;
  return {
    settings,
    ...(budgetDuration === undefined ? {} : { budgetDuration, budgetResetAt }),
    ...(spend === undefined ? {} : { spentBefore: (total - spend) as Usd }),
  };
}

/** A key with a patch applied. Throws InvalidInput for a value that no key can have. */
export function patchedKey(key: VirtualKey, patch: KeyPatch, change: Change): VirtualKey {
  assertNames(patch);
  assertBudget(patch.maxBudget);
  assertPeriods(patch.settings ?? {}, change.now);
  const { alias, role, teamId, userId, models, maxBudget, duration, blocked } = patch;
  return {
    ...stampedKey(key, change),
    ...budgetChanges(key, patch, change),
    metadata: mergedMetadata(
      withKeptSecrets(patch.metadata, key.metadata) ?? key.metadata,
      patch.metadataMembers ?? {},
    ),
    ...(alias === undefined ? {} : { alias: nullIfBlank(alias) }),
    ...(role === undefined ? {} : { role }),
    ...(teamId === undefined ? {} : { teamId: nullIfBlank(teamId) }),
    ...(userId === undefined ? {} : { userId: nullIfBlank(userId) }),
    ...(models === undefined ? {} : { models }),
    ...(maxBudget === undefined ? {} : { maxBudget }),
    ...(duration === undefined ? {} : { expiresAt: expiryAfter(duration, change.now) }),
    ...(blocked === undefined ? {} : { blocked }),
  };
}

/** A key marked as deleted: it is invalid, and its alias can be used by another key. */
export const deletedKey = (key: VirtualKey, change: Change): VirtualKey => ({
  ...stampedKey(key, change),
  previousSecret: null,
  deletedAt: change.now,
  deletedBy: change.by,
});

/**
 * A key with a new secret. Throws Conflict when the new secret is the current one. The old secret is valid until the
 * end of `gracePeriod` (`30s`, `30m`, `30h`, `30d`, `2w` or `1mo`); without a grace period it is invalid immediately.
 * Throws InvalidInput for a malformed duration.
 */
export function rotatedKey(key: VirtualKey, secret: IssuedSecret, gracePeriod: string | null): VirtualKey {
  const { now, createdBy: by } = secret;
  if (secret.hash === key.secretHash) throw new Conflict('This key already exists.');
  const previousSecret =
    gracePeriod === null ? null : { hash: key.secretHash, until: instantAfter(gracePeriod, now, 'grace_period') };
  return {
    ...stampedKey(key, { now, by }),
    secretHash: secret.hash,
    previousSecret,
    name: keyName(secret.key),
    rotations: key.rotations + 1,
    rotatedAt: now,
  };
}
