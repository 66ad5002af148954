import type { RowStore, Stamps } from '../row-store.ts';

/** A key that may only send traces. Only the hash of its token is stored. */
export interface TracingKey extends Stamps {
  readonly id: string;
  readonly name: string;
  /** SHA-256 hex of its token. Traces of a key without a team belong to this hash. */
  readonly tokenHash: string;
  /** Team, user and organization of the sender; empty when unset. */
  readonly teamId: string;
  readonly userId: string;
  readonly organizationId: string;
  /** Null when it never expires. */
  readonly expiresAt: Date | null;
}

export type TracingKeyStore = RowStore<TracingKey, { readonly tokenHash: string | null }>;

/** Beginning of every token. */
export const TRACING_KEY_PREFIX = 'lens-trace-';
/** Maximum number of stored tracing keys. */
export const MAX_TRACING_KEYS = 10_000;

export const isExpired = ({ expiresAt }: TracingKey, now: Date): boolean => expiresAt !== null && expiresAt <= now;
