import type { Budget } from '../../src/domain/budgets/budget.ts';
import { InvalidInput, NotFound } from '../../src/domain/errors.ts';
import {
  type ChangedKey,
  type KeyStatus,
  acceptsSecret,
  keySpendOf,
  keyStatusOf,
  type VirtualKey,
} from '../../src/domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { smallerSpend, startsOf, windowBudgetId } from './window-spend.ts';

export const KEY_HASH = /^[0-9a-f]{64}$/;

export const keyNotFound = (named: string, message = 'Key not found.'): NotFound => new NotFound('key', named, message);

/** A key's row, its spend, and its current status. */
export interface KeyInfo {
  readonly row: VirtualKey;
  /** Spend of all time. */
  readonly total: Usd;
  /** Spend in the current budget window. The budget of the key limits it. */
  readonly spend: Usd;
  readonly status: KeyStatus;
  /** The budget that the key names; null without one, absent in lists. */
  readonly budget?: Budget | null;
}

/** The row of a key by its secret or its hash. Null when there is none, and for a deleted key. */
export async function findNamed({ platform }: Scope<KeyPlatform>, named: string): Promise<VirtualKey | null> {
  const { stores, keyGenerator, clock } = platform;
  if (named.startsWith('sk-')) {
    const secretHash = keyGenerator.hash(named);
    // `find` takes the hash of a secret, `findMany` the hash that identifies a key: that of its first secret.
    const key = await stores.keys.find(secretHash);
    if (key !== null && acceptsSecret(key, secretHash, clock.now())) return key;
    // The first secret of a rotated key is not valid, but still names the key.
    const [first] = await stores.keys.findMany([secretHash]);
    return first?.deletedAt === null ? first : null;
  }
  // Text that is not a hash names no key. It is not looked up, because some databases reject some characters.
  if (!KEY_HASH.test(named)) return null;
  const [key] = await stores.keys.findMany([named]);
  if (key !== undefined) return key.deletedAt === null ? key : null;
  // A client may name a rotated key by the hash of its current secret.
  return await stores.keys.find(named);
}

/** As `findNamed`. Throws NotFound, and InvalidInput for text that can name no key. */
export async function namedKey(scope: Scope<KeyPlatform>, named: string): Promise<VirtualKey> {
  if (!named.startsWith('sk-') && !KEY_HASH.test(named))
    throw new InvalidInput('Invalid key format.', [], { field: 'key' });
  const key = await findNamed(scope, named);
  if (key === null) throw keyNotFound(nameOf(scope, named));
  return key;
}

/** Name of a key in an error: its hash, never the secret. */
export const nameOf = ({ platform }: Scope<KeyPlatform>, named: string): string =>
  named.startsWith('sk-') ? platform.keyGenerator.hash(named) : named;

/** The budget that a key names; null without one. */
export async function budgetOfKey(
  { platform }: Pick<Scope<KeyPlatform>, 'platform'>,
  { settings }: VirtualKey,
): Promise<Budget | null> {
  return settings.budgetId === undefined ? null : await platform.stores.budgets.find(settings.budgetId);
}

/** Keys with their spend: at most three statements for any number of keys. */
export async function keyInfos(
  { platform }: Pick<Scope<KeyPlatform>, 'platform'>,
  rows: readonly VirtualKey[],
): Promise<readonly KeyInfo[]> {
  const { stores, clock } = platform;
  const now = clock.now();
  const budgetIds = [...new Set(rows.flatMap((row) => windowBudgetId(row) ?? []))];
  const [totals, budgets] = await Promise.all([
    stores.spend.totalsOf(rows.map(({ hash }) => hash)),
    budgetIds.length === 0 ? [] : stores.budgets.findMany(budgetIds),
  ]);
  const budgetById = new Map(budgets.map((budget) => [budget.id, budget]));
  const counted = rows.map((row) => ({ id: row.hash, budget: budgetById.get(windowBudgetId(row) ?? '') }));
  const starts = startsOf(counted, now);
  const spendInWindow = starts.length === 0 ? new Map<string, Usd>() : await stores.spend.totalsSince('key', starts);
  const windowed = new Set(starts.map(({ id }) => id));
  return rows.map((row) => {
    const total = totals.get(row.hash) ?? ZERO_USD;
    const inWindow = windowed.has(row.hash) ? (spendInWindow.get(row.hash) ?? ZERO_USD) : null;
    return { row, total, spend: smallerSpend(keySpendOf(row, total), inWindow), status: keyStatusOf(row, now) };
  });
}

/** A key with its spend and its budget. */
export async function infoOf({ platform }: Scope<KeyPlatform>, row: VirtualKey): Promise<KeyInfo> {
  const [[info], budget] = await Promise.all([keyInfos({ platform }, [row]), budgetOfKey({ platform }, row)]);
  if (info === undefined) throw keyNotFound(row.hash);
  return { ...info, budget };
}

/**
 * Changes a key, then evicts it from memory, so that later calls use the change. Throws what `namedKey`, `change` and
 * the store throw.
 */
export async function changeKey(
  scope: Scope<KeyPlatform>,
  named: string,
  change: (key: VirtualKey) => VirtualKey,
): Promise<ChangedKey> {
  const { stores, keyRing } = scope.platform;
  const { hash } = await namedKey(scope, named);
  const done = await stores.keys.change(hash, change);
  if (done === null) throw keyNotFound(hash);
  keyRing.evict(done.before, done.after);
  return done;
}
