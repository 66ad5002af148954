import { Conflict, Forbidden, NotFound } from '../src/domain/errors.ts';
import { assertOwnKey, type KeyDraft, newKey } from '../src/domain/keys/key-draft.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Usd } from '../src/domain/money.ts';
import { admin, anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';

const HASH = /^[0-9a-f]{64}$/;

/** A key as its maker sees it, once: afterwards only its hash exists. */
export interface GeneratedKey {
  readonly clearKey: string;
  readonly row: VirtualKey;
}

/** Makes a virtual key. Throws InvalidInput for a draft that cannot be a key, Conflict when it is taken. */
export const generateKey = operation({
  name: 'generateKey',
  access: admin,
  async run(scope, draft: KeyDraft): Promise<GeneratedKey> {
    const { stores, keySmith, keyRing, clock } = scope.platform;
    const maker = callerOf(scope);
    if (draft.key !== null) assertOwnKey(draft.key);
    const clearKey = draft.key ?? keySmith.make();
    const hash = keySmith.hash(clearKey);
    // The admin key is in no store, so nothing else would notice.
    if (hash === maker.keyHash) throw new Conflict('This key is taken.');
    const row = newKey(draft, { key: clearKey, hash, now: clock.now(), createdBy: maker.keyHash });
    await stores.keys.add(row);
    // It may have been tried, and refused from memory, before it existed.
    keyRing.forget(hash);
    return { clearKey, row };
  },
});

/** A key's row and what it has spent. */
export interface KeyInfo {
  readonly row: VirtualKey;
  readonly spend: Usd;
}

/** Reads a key by itself or its hash; the caller's own when none is named. Throws Forbidden and NotFound. */
export const getKeyInfo = operation({
  name: 'getKeyInfo',
  access: anyKey,
  async run(scope, { key }: { readonly key: string | null }): Promise<KeyInfo> {
    const { stores, keySmith } = scope.platform;
    const caller = callerOf(scope);
    const hash = key === null ? caller.keyHash : key.startsWith('sk-') ? keySmith.hash(key) : key;
    const isAdmin = caller.role === 'proxy_admin' || caller.role === 'proxy_admin_viewer';
    if (hash !== caller.keyHash && !isAdmin) throw new Forbidden('A key may read itself; only admins read others.');
    const missing = (): NotFound => new NotFound('key', hash, 'Key not found in database');
    // Text that is no hash names no key, and not every text can be asked of every database.
    if (!HASH.test(hash)) throw missing();
    const [row, spend] = await Promise.all([stores.keys.find(hash), stores.spend.totalOf(hash)]);
    if (row === null) throw missing();
    return { row, spend };
  },
});
