import { evictOldest } from '../../domain/evict-oldest.ts';
import type { TokenKey, TokenKeyStore } from '../../domain/identity/token-key.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';

/** Maximum number of hashes in memory. A key whose hash is evicted is stored again, which changes nothing. */
const MAX_HASHES = 100_000;

/** Stores the keys of signed tokens that this process has not stored yet. */
export interface KnownTokenKeys {
  /** Resolves when the owners of these keys are committed. A call of such a key may be recorded only afterwards. */
  store(keys: readonly VirtualKey[]): Promise<void>;
}

const tokenKeyOf = ({ hash, teamId, userId, settings }: VirtualKey): TokenKey => ({
  hash,
  teamId,
  userId,
  organizationId: teamId === null ? (settings.organizationId ?? null) : null,
});

const hasOwner = ({ teamId, userId, organizationId }: TokenKey): boolean =>
  teamId !== null || userId !== null || organizationId !== null;

export function createKnownTokenKeys(store: TokenKeyStore, most = MAX_HASHES): KnownTokenKeys {
  /** Hashes of stored keys. */
  const stored = new Set<string>();
  return {
    async store(keys) {
      const added = new Map(
        keys.flatMap((key) => (key.refusal !== undefined || stored.has(key.hash) ? [] : [[key.hash, tokenKeyOf(key)]])),
      );
      const rows = [...added.values()].filter(hasOwner);
      if (rows.length === 0) return;
      await store.add(rows);
      for (const { hash } of rows) stored.add(hash);
      evictOldest(stored, most);
    },
  };
}
