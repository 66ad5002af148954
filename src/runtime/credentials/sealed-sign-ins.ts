import type { PendingSignInStore } from '../../domain/users/pending-sign-ins.ts';
import type { Secret } from '../../domain/secret.ts';
import { keyFor, open, seal } from './encryption.ts';

/** Pending sign-ins whose contents are encrypted with a key derived from the salt key. */
export function createSealedSignIns(store: PendingSignInStore, saltKey: Secret): PendingSignInStore {
  const key = keyFor(saltKey, 'pending sign-ins');
  const sealed = (id: string, content: string): string => seal(key, Buffer.from(content), id).toString('base64');
  const opened = (id: string, content: string): string | null =>
    open(key, Buffer.from(content, 'base64'), id)?.toString('utf8') ?? null;
  return {
    add: (pending, bounds) => store.add({ ...pending, content: sealed(pending.id, pending.content) }, bounds),
    async find(id, nowMs) {
      const found = await store.find(id, nowMs);
      const content = found === null ? null : opened(id, found.content);
      return found === null || content === null ? null : { content, revision: found.revision };
    },
    replace: (id, revision, content, untilMs) => store.replace(id, revision, sealed(id, content), untilMs),
    async take(id, nowMs) {
      const content = await store.take(id, nowMs);
      return content === null ? null : opened(id, content);
    },
  };
}
