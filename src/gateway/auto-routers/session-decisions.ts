import type { Caller } from '../../domain/caller.ts';
import type { Tier } from '../../domain/auto-routers/tiers.ts';
import { SESSION } from '../../domain/calls/call-labels.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';

/** Maximum number of sessions with a decision in this process. The least recently used session is evicted. */
const MAX_SESSIONS = 10_000;

/** Tier and model that a session keeps. */
interface SessionDecision {
  readonly tier: Tier;
  readonly model: string;
}

/** Decisions that sessions keep. A session is named as by `sessionOf`. */
export interface SessionDecisions {
  /** The decision of a session; null for none. It then expires `ttlMs` from now. */
  use(session: string, ttlMs: number): SessionDecision | null;
  /** Stores a decision. It expires `ttlMs` from now, unless it is used. */
  keep(session: string, decision: SessionDecision, ttlMs: number): void;
}

/** `nowMs` is a monotonic clock. */
export function createSessionDecisions(nowMs: () => number): SessionDecisions {
  const decisions = new Map<string, SessionDecision & { readonly expiresAtMs: number }>();
  const keep = (session: string, { tier, model }: SessionDecision, ttlMs: number): void => {
    // A replaced entry would keep its place in the map, and be evicted as an old one.
    decisions.delete(session);
    decisions.set(session, { tier, model, expiresAtMs: nowMs() + ttlMs });
    evictOldest(decisions, MAX_SESSIONS);
  };
  return {
    use(session, ttlMs) {
      const found = decisions.get(session);
      if (found === undefined) return null;
      if (found.expiresAtMs <= nowMs()) {
        decisions.delete(session);
        return null;
      }
      keep(session, found, ttlMs);
      return found;
    },
    keep,
  };
}

/** Name of the session of a call, different for each router and key; null for a call without a session id. */
export function sessionOf(routerId: string, { keyHash }: Caller, { labels }: ModelRequest): string | null {
  const session = labels?.[SESSION];
  return session === undefined ? null : JSON.stringify([routerId, keyHash, session]);
}
