import type { Caller } from '../../domain/caller.ts';
import type { Tier } from '../../domain/auto-routers/tiers.ts';
import { SESSION } from '../../domain/calls/call-labels.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import { evictOldest } from '../../domain/evict-oldest.ts';

/** Sessions whose decisions are kept in this process. The session that was used longest ago is evicted. */
const MOST_SESSIONS = 10_000;

/** Tier and model that a session keeps. */
interface HeldDecision {
  readonly tier: Tier;
  readonly model: string;
}

/** Decisions of sessions, by router and key. */
export interface HeldDecisions {
  /** The decision of a session, whose time begins again; null for none. */
  find(session: string, heldMs: number): HeldDecision | null;
  keep(session: string, decision: HeldDecision, heldMs: number): void;
}

export function createHeldDecisions(nowMs: () => number): HeldDecisions {
  const held = new Map<string, HeldDecision & { readonly untilMs: number }>();
  const keep = (session: string, { tier, model }: HeldDecision, heldMs: number): void => {
    held.delete(session);
    held.set(session, { tier, model, untilMs: nowMs() + heldMs });
    evictOldest(held, MOST_SESSIONS);
  };
  return {
    find(session, heldMs) {
      const found = held.get(session);
      if (found === undefined) return null;
      if (found.untilMs <= nowMs()) {
        held.delete(session);
        return null;
      }
      keep(session, found, heldMs);
      return found;
    },
    keep,
  };
}

/** Identity of the session of a call, separate for each router and key; null for a call without a session. */
export function sessionOf(routerId: string, { keyHash }: Caller, { labels }: ModelRequest): string | null {
  const session = labels?.[SESSION];
  return session === undefined ? null : JSON.stringify([routerId, keyHash, session]);
}
