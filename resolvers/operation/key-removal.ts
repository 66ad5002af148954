import { deletedKey } from '../../src/domain/keys/key-change.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { keyAuthor } from './authored.ts';
import { callerOf } from './operation.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Deletes keys without an access check. Returns those that existed and were not deleted before. */
export async function removeKeys(scope: Scope<KeyPlatform>, hashes: readonly string[]): Promise<readonly VirtualKey[]> {
  const { stores, keyRing, clock } = scope.platform;
  const change = { now: clock.now(), by: keyAuthor(callerOf(scope)) };
  const removed: VirtualKey[] = [];
  for (const hash of hashes) {
    const done = await stores.keys.change(hash, (key) => deletedKey(key, change));
    if (done === null) continue;
    keyRing.evict(done.before);
    removed.push(done.after);
  }
  return removed;
}
