import type { JsonObject } from '../json-object.ts';
import type { Role } from '../role.ts';
import { InvalidInput } from '../errors.ts';
import { type Usd, usdText, ZERO_USD } from '../money.ts';
import { nullIfBlank } from '../optional-text.ts';
import { assertPeriods, keyWindowsOf } from './budget-windows.ts';
import { instantAfter, windowEnd } from './durations.ts';
import {
  mergedMetadata,
  mergedSettings,
  type SettingsPatch,
  type WantedWindow,
  withRoutesOfType,
} from './key-settings.ts';
import { keyName } from './chosen-key.ts';
import { assertRouterSettings } from './router-settings.ts';
import type { VirtualKey } from './virtual-key.ts';

/** Settings of a new key; null leaves a setting out. */
export interface KeyDraft {
  /** Secret that the caller chose; null generates one. */
  readonly key: string | null;
  readonly alias: string | null;
  readonly role: Role | null;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Model names the key may call; empty means every model. */
  readonly models: readonly string[];
  readonly maxBudget: Usd | null;
  /** Lifetime, as `30s`, `30m`, `30h`, `30d`, `2w` or `1mo`; null never expires. */
  readonly duration: string | null;
  readonly metadata: JsonObject;
  /** Members of the metadata that were sent beside `metadata`. */
  readonly metadataMembers?: JsonObject;
  readonly settings?: Omit<SettingsPatch, 'budgetLimits'>;
  /** Budgets of windows, in addition to the budget of the key. */
  readonly budgetLimits?: readonly WantedWindow[] | null;
  /** Reset interval of the spend that the budget limits, as a duration such as `1d`; null for never. */
  readonly budgetDuration?: string | null;
  /** Spend of the key before its first call. */
  readonly spend?: Usd | null;
  readonly blocked?: boolean | null;
}

/** A secret and its hash, when it was issued, and the author of the request. */
export interface IssuedSecret {
  readonly key: string;
  readonly hash: string;
  readonly now: Date;
  readonly createdBy: string;
}

/** Throws InvalidInput for a name with a NUL character, which PostgreSQL cannot store. */
export function assertNames(draft: {
  readonly alias?: string | null;
  readonly userId?: string | null;
  readonly teamId?: string | null;
}): void {
  const named = { key_alias: draft.alias, user_id: draft.userId, team_id: draft.teamId };
  for (const [field, value] of Object.entries(named)) {
    if (!value?.includes('\0')) continue;
    const message = 'Value error, a name must not contain a NUL character';
    throw new InvalidInput('The name cannot be stored.', [{ path: ['body', field], rule: 'value_error', message }]);
  }
}

/** Throws InvalidInput for a budget below zero. Zero allows no priced call, null is unlimited. */
export function assertBudget(maxBudget: Usd | null | undefined): void {
  if (maxBudget === null || maxBudget === undefined || maxBudget >= 0n) return;
  throw new InvalidInput(`max_budget must be a non-negative finite number. Received: ${usdText(maxBudget)}`);
}

/** A new key. A blank alias, team or user becomes null. Throws InvalidInput. */
export function newKey(draft: KeyDraft, { key, hash, now, createdBy }: IssuedSecret): VirtualKey {
  assertNames(draft);
  assertBudget(draft.maxBudget);
  assertPeriods(draft.settings ?? {}, now);
  assertRouterSettings(draft.settings?.routerSettings);
  return {
    hash,
    secretHash: hash,
    previousSecret: null,
    name: keyName(key),
    alias: nullIfBlank(draft.alias),
    role: draft.role ?? 'internal_user',
    teamId: nullIfBlank(draft.teamId),
    userId: nullIfBlank(draft.userId),
    models: draft.models,
    maxBudget: draft.maxBudget,
    metadata: mergedMetadata(draft.metadata, draft.metadataMembers ?? {}),
    settings: mergedSettings(
      {},
      {
        ...withRoutesOfType(draft.settings ?? {}),
        budgetLimits: draft.budgetLimits?.length
          ? keyWindowsOf(draft.budgetLimits, { now, total: ZERO_USD, before: [] })
          : null,
      },
    ),
    budgetDuration: draft.budgetDuration ?? null,
    budgetResetAt: typeof draft.budgetDuration === 'string' ? windowEnd(draft.budgetDuration, now) : null,
    spentBefore: (ZERO_USD - (draft.spend ?? ZERO_USD)) as Usd,
    blocked: draft.blocked ?? false,
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
