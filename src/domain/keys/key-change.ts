import { Conflict } from '../errors.ts';
import type { Usd } from '../money.ts';
import { idOrNull } from '../optional-id.ts';
import type { Role } from '../role.ts';
import { assertBudget, assertNames, instantAfter, type IssuedSecret } from './key-draft.ts';
import { keyName } from './own-key.ts';
import type { VirtualKey } from './virtual-key.ts';

/** Changes to a key. An absent field stays as it is, null clears it. */
export interface KeyPatch {
  readonly alias?: string | null;
  readonly role?: Role;
  readonly teamId?: string | null;
  readonly userId?: string | null;
  readonly models?: readonly string[];
  readonly maxBudget?: Usd | null;
  /** From now on, as in a draft; null and `-1` end never. */
  readonly duration?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly blocked?: boolean;
}

/** Time and author of a change. */
export interface Change {
  readonly now: Date;
  /** Hash of the key that makes it. */
  readonly by: string;
}

const changed = (key: VirtualKey, { now, by }: Change): VirtualKey => ({ ...key, updatedAt: now, updatedBy: by });

function expiryAfter(duration: string | null, now: Date): Date | null {
  return duration === null || duration === '-1' ? null : instantAfter(duration, now, 'duration');
}

/** A key with a patch applied. Throws InvalidInput for a value that no key can have. */
export function patched(key: VirtualKey, patch: KeyPatch, change: Change): VirtualKey {
  assertNames(patch);
  assertBudget(patch.maxBudget);
  const { alias, role, teamId, userId, models, maxBudget, duration, metadata, blocked } = patch;
  return {
    ...changed(key, change),
    ...(alias === undefined ? {} : { alias: idOrNull(alias) }),
    ...(role === undefined ? {} : { role }),
    ...(teamId === undefined ? {} : { teamId: idOrNull(teamId) }),
    ...(userId === undefined ? {} : { userId: idOrNull(userId) }),
    ...(models === undefined ? {} : { models }),
    ...(maxBudget === undefined ? {} : { maxBudget }),
    ...(duration === undefined ? {} : { expiresAt: expiryAfter(duration, change.now) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(blocked === undefined ? {} : { blocked }),
  };
}

/** A key that opens nothing any more. Its alias is free for another key. */
export const deleted = (key: VirtualKey, change: Change): VirtualKey => ({
  ...changed(key, change),
  previousSecret: null,
  deletedAt: change.now,
  deletedBy: change.by,
});

/** A key with another secret. Throws Conflict for the secret it has. The old one stops to open it at once, or after `gracePeriod` (`30s`, `30m`, `30h`, `30d`). */
export function rotated(key: VirtualKey, secret: IssuedSecret, gracePeriod: string | null): VirtualKey {
  const { now, createdBy: by } = secret;
  if (secret.hash === key.secretHash) throw new Conflict('This key already exists.');
  const previousSecret =
    gracePeriod === null ? null : { hash: key.secretHash, until: instantAfter(gracePeriod, now, 'grace_period') };
  return {
    ...changed(key, { now, by }),
    secretHash: secret.hash,
    previousSecret,
    name: keyName(secret.key),
    rotations: key.rotations + 1,
    rotatedAt: now,
  };
}
