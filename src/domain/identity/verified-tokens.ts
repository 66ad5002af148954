import { evictOldest } from '../evict-oldest.ts';
import type { TokenIdentity } from './token-identity.ts';

/** A verified token as it was sent: the same token with another team header is a separate entry. */
export interface KnownToken {
  readonly identity: TokenIdentity;
  /** Team that the request chose by id or alias; null for none. */
  readonly chosenTeam: string | null;
}

/** LRU cache of verified tokens by hash, so that a signature is verified once. */
export interface VerifiedTokens {
  /** The token, which becomes the most recently used one; undefined when it is not in memory. */
  use(hash: string): KnownToken | undefined;
  set(hash: string, token: KnownToken): void;
  delete(hash: string): void;
}

/** Capacity, in tokens. */
const MAX_TOKENS = 50_000;

export function createVerifiedTokens(most = MAX_TOKENS): VerifiedTokens {
  const tokens = new Map<string, KnownToken>();
  return {
    use(hash) {
      const token = tokens.get(hash);
      if (token === undefined) return undefined;
      tokens.delete(hash);
      tokens.set(hash, token);
      return token;
    },
    set(hash, token) {
      tokens.delete(hash);
      tokens.set(hash, token);
      evictOldest(tokens, most);
    },
    delete(hash) {
      tokens.delete(hash);
    },
  };
}
