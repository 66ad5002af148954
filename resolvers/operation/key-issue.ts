import type { Budget } from '../../src/domain/budgets/budget.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { type KeyDraft, newKey } from '../../src/domain/keys/key-draft.ts';
import { assertChosenKey } from '../../src/domain/keys/chosen-key.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { keyAuthor } from './authored.ts';
import { assertGuardrailsOfKey } from './guardrail-rights.ts';
import { assertReferences } from './key-references.ts';
import { budgetOfKey } from './key-lookup.ts';
import { callerOf } from './operation.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** A new key with its secret, which is shown once; only its hash is stored. */
export interface GeneratedKey {
  readonly clearKey: string;
  readonly row: VirtualKey;
  /** The budget that the key names; null without one. */
  readonly budget?: Budget | null;
}

/**
 * The secret of a new or rotated key: the value that the caller chose, or a generated one for null. Throws InvalidInput
 * for an invalid value, and Conflict when the value is the admin key with which the caller authenticated.
 */
export function secretFor(scope: Scope<KeyPlatform>, chosen: string | null) {
  const { keyGenerator, clock } = scope.platform;
  const caller = callerOf(scope);
  if (chosen !== null) assertChosenKey(chosen);
  const key = chosen ?? keyGenerator.make();
  const hash = keyGenerator.hash(key);
  // The admin key has no row, so the unique constraint of the store does not refuse its value.
  if (caller.key === null && hash === caller.keyHash) throw new Conflict('This key is taken.');
  return { key, hash, now: clock.now(), createdBy: keyAuthor(caller) };
}

/** Adds a budget id to a draft with a soft budget, because a budget row stores the soft budget. */
function withBudgetId(scope: Scope<KeyPlatform>, draft: KeyDraft): KeyDraft {
  const { settings = {} } = draft;
  if (settings.softBudget === undefined || settings.softBudget === null) return draft;
  return { ...draft, settings: { ...settings, budgetId: settings.budgetId ?? scope.platform.ids.uuid() } };
}

/**
 * Creates a key for an operation that has checked access. Throws InvalidInput, Forbidden for guardrails that the caller
 * may not set, and Conflict when the secret or the alias is taken.
 */
export async function issueKey(scope: Scope<KeyPlatform>, draft: KeyDraft): Promise<GeneratedKey> {
  const { stores, keyRing } = scope.platform;
  const secret = secretFor(scope, draft.key);
  assertGuardrailsOfKey(scope, callerOf(scope), draft);
  await assertReferences(scope, draft.settings ?? {}, nullIfBlank(draft.teamId));
  const row = newKey(withBudgetId(scope, draft), secret);
  await stores.keys.add(row);
  // The secret may be cached as unknown, because a client sent it before the key existed.
  keyRing.evict(row);
  return { clearKey: secret.key, row, budget: await budgetOfKey(scope, row) };
}
