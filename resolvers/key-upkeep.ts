import { withResets } from '../src/domain/keys/budget-windows.ts';
import { type KeyPatch, patchedKey } from '../src/domain/keys/key-change.ts';
import { keySpendOf, type VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Usd } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { changeKey, findNamed, infoOf, type KeyInfo, keyInfos, namedKey, nameOf } from './operation/key-lookup.ts';
import { updateKey } from './keys.ts';
import { anyAdmin, anyKey, isAnyAdmin, keyAdmin, keyReader, system } from './operation/access.ts';
import { keyAuthor } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { resultOf } from './operation/change-result.ts';
import type { KeyPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertReset, smallerSpend } from './operation/window-spend.ts';

/** Reads several keys by secrets or hashes; unknown ones are left out. */
export const getKeyInfos = operation({
  name: 'getKeyInfos',
  access: anyAdmin,
  async run(scope: Scope<KeyPlatform>, keys: readonly string[]): Promise<readonly KeyInfo[]> {
    const found = await Promise.all(keys.map((key) => findNamed(scope, key)));
    return keyInfos(
      scope,
      found.flatMap((row) => row ?? []),
    );
  },
});

/** The outcome of one change among several: the changed key, or why it was not changed. */
export interface BulkOutcome {
  readonly key: string;
  readonly info: KeyInfo | null;
  readonly failure: string | null;
}

/** Changes several keys in order. A DomainError of one change does not stop the others. */
export const updateKeys = operation({
  name: 'updateKeys',
  access: keyAdmin,
  async run(
    scope: Scope<KeyPlatform>,
    changes: readonly { readonly key: string; readonly patch: KeyPatch }[],
  ): Promise<readonly BulkOutcome[]> {
    const outcomes: BulkOutcome[] = [];
    for (const { key, patch } of changes) {
      const named = nameOf(scope, key);
      const { value: info, failure } = await resultOf(() => updateKey(scope, { key, patch }));
      outcomes.push({ key: named, info, failure });
    }
    return outcomes;
  },
});

/** A key after a reset of its spend. `before` is the spend before the reset. */
export interface SpendReset extends KeyInfo {
  readonly before: Usd;
}

/** Sets the spend of a key to an amount between zero and its current spend. Throws NotFound and InvalidInput. */
export const resetKeySpend = operation({
  name: 'resetKeySpend',
  access: keyAdmin,
  async run(
    scope: Scope<KeyPlatform>,
    { key, resetTo }: { readonly key: string; readonly resetTo: Usd },
  ): Promise<SpendReset> {
    const { clock } = scope.platform;
    const { row: named, total, spend } = await infoOf(scope, await namedKey(scope, key));
    let before = spend;
    const { after } = await changeKey(scope, named.hash, (row) => {
      // The row may have changed since it was read above.
      before = smallerSpend(keySpendOf(row, total), spend);
      assertReset(resetTo, before);
      return patchedKey(row, { spend: resetTo }, { now: clock.now(), by: keyAuthor(callerOf(scope)), total });
    });
    return { ...(await infoOf(scope, after)), before };
  },
});

/** One page of the aliases of keys, in alphabetic order. */
export interface AliasPage {
  readonly aliases: readonly string[];
  readonly totalCount: number;
}

/**
 * Lists aliases: administrators see those of all keys, other callers those of their own key and of the keys of their
 * user.
 */
export const listKeyAliases = operation({
  name: 'listKeyAliases',
  access: keyReader,
  async run(
    scope: Scope<KeyPlatform>,
    { search, limit, from }: { readonly search: string | null; readonly limit: number; readonly from: number },
  ): Promise<AliasPage> {
    const { stores, clock } = scope.platform;
    const caller = callerOf(scope);
    const filter = {
      hash: null,
      alias: null,
      hasAlias: true,
      aliasPart: nullIfBlank(search),
      teamId: null,
      userId: null,
      blocked: null,
      status: null,
      visibleTo: isAnyAdmin(caller) ? null : { hash: caller.keyHash, userId: nullIfBlank(caller.userId) },
    };
    const now = clock.now();
    const [rows, totalCount] = await Promise.all([
      stores.keys.list({ filter, now, sort: 'key_alias', descending: false, limit, from }),
      stores.keys.count(filter, now),
    ]);
    return { aliases: rows.flatMap(({ alias }) => (alias === null ? [] : [alias])), totalCount };
  },
});

/**
 * Returns the caller's key, which the access rule has accepted; null for callers without a virtual key, such as the
 * admin key. Keys have no logging callbacks, so there is nothing else to check.
 */
export const checkKeyHealth = operation({
  name: 'checkKeyHealth',
  access: anyKey,
  run(scope): VirtualKey | null {
    return callerOf(scope).key;
  },
});

/** Maximum number of keys with ended windows that one run reads. */
const MAX_RESETS = 500;

/**
 * Starts new budget windows of keys whose windows have ended. Several processes may run this: only the first change of
 * a row has an effect.
 */
export const resetBudgetWindows = operation({
  name: 'resetBudgetWindows',
  access: system,
  async run({ platform, signal }: Scope<KeyPlatform>, _input: undefined): Promise<void> {
    const { stores, keyRing, clock } = platform;
    const due = await stores.keys.dueForReset(clock.now(), MAX_RESETS);
    for (const hash of due) {
      if (signal.aborted) return;
      const total = await stores.spend.totalOf(hash);
      const done = await stores.keys.change(hash, (key) => withResets(key, clock.now(), total));
      if (done !== null) keyRing.evict(done.before, done.after);
    }
  },
});
