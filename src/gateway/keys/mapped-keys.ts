import { type DomainError, Forbidden, Unauthenticated } from '../../domain/errors.ts';
import type { TokenRules } from '../../domain/identity/token-rules.ts';
import type { KnownToken } from '../../domain/identity/verified-tokens.ts';
import type { KeyStore, VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { TokenMappingStore } from '../../domain/token-mappings/token-mapping.ts';
import { roleOf } from './known-keys.ts';
import type { OwnedKeys } from './owned-keys.ts';

/** Stores and rules for reading mapped keys. */
export interface MappedKeyOptions {
  readonly keys: Pick<OwnedKeys, 'withOwners'>;
  readonly stored: Pick<KeyStore, 'findMany'>;
  readonly stores: { readonly tokenMappings: Pick<TokenMappingStore, 'all'> };
  readonly rules: Pick<TokenRules, 'keyField' | 'needsKey'>;
}

const earlierDate = (one: Date | null, other: Date): Date => (one !== null && one < other ? one : other);

/** The key for a token that is mapped to a stored key. It expires with the key or the token, whichever is earlier. */
function keyForToken(key: VirtualKey, secretHash: string, { identity }: KnownToken): VirtualKey {
  const { endUserId, expiresAt } = identity;
  return {
    ...key,
    secretHash,
    previousSecret: null,
    role: roleOf(key),
    expiresAt: earlierDate(key.expiresAt, expiresAt),
    token: { endUserId, otherTeams: [], hasRole: true, keyExpires: key.expiresAt !== null },
  };
}

/**
 * Results of mappings, by the hash of the token. A token without a mapping is in neither map, unless `needsKey` refuses
 * it.
 */
export interface MappedTokens {
  readonly keys: ReadonlyMap<string, VirtualKey>;
  readonly refused: ReadonlyMap<string, () => DomainError>;
}

const NONE: MappedTokens = { keys: new Map(), refused: new Map() };
const unmapped = (): Forbidden => new Forbidden('The token is mapped to no key.');
const deletedKey = (): Unauthenticated =>
  new Unauthenticated('The key that the token is mapped to was deleted.', 'unknown');

/** The stored keys that tokens are mapped to: a few statements for any number of tokens. */
export async function mappedKeys(
  found: ReadonlyMap<string, KnownToken>,
  { keys, stored, stores, rules: { keyField, needsKey } }: MappedKeyOptions,
): Promise<MappedTokens> {
  if (keyField === null) return NONE;
  const claimValues = [...new Set([...found.values()].flatMap(({ identity }) => identity.keyValue ?? []))];
  const rows =
    claimValues.length === 0 ? [] : await stores.tokenMappings.all({ claimName: keyField, claimValues, active: true });
  const hashByValue = new Map(rows.map(({ claimValue, keyHash }) => [claimValue, keyHash]));
  const hashes = [...new Set(hashByValue.values())];
  const byHash = new Map((hashes.length === 0 ? [] : await stored.findMany(hashes)).map((key) => [key.hash, key]));
  const usable = new Map<string, VirtualKey>();
  const refused = new Map<string, () => DomainError>();
  for (const [secretHash, token] of found) {
    const hash = hashByValue.get(token.identity.keyValue ?? '');
    if (hash === undefined) {
      if (needsKey) refused.set(secretHash, unmapped);
      continue;
    }
    const key = byHash.get(hash);
    if (key === undefined || key.deletedAt !== null) refused.set(secretHash, deletedKey);
    else usable.set(secretHash, key);
  }
  const owned = await keys.withOwners(usable);
  const keysOfTokens = [...found].flatMap(([secretHash, token]) => {
    const key = owned.get(secretHash);
    return key === undefined ? [] : [[secretHash, keyForToken(key, secretHash, token)] as const];
  });
  return { keys: new Map(keysOfTokens), refused };
}
