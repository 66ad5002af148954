import type { Caller } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { Forbidden, LimitExceeded, NotFound } from '../errors.ts';
import { limitedHashOf } from '../users/session.ts';
import { McpSession, type McpSessionFacts } from './session.ts';

/** Time without a request after which a session is closed, in ms. */
export const MCP_SESSION_IDLE_MS = 30 * 60 * 1000;
/** Time in which the id of a session that an administrator ended is refused, in ms. */
const REFUSED_MS = 30 * 60 * 1000;
/** Maximum number of sessions of one key, with those of the sign-ins that it opened. */
export const MAX_SESSIONS_OF_OWNER = 100;
/** Maximum number of sessions of all keys, and of refused ids. */
const MAX_SESSIONS = 10_000;

/** Selects the sessions that an administrator ends. Conditions that are not null must all match. */
export interface McpSessionSelector {
  /** Start of the id. */
  readonly idPrefix: string | null;
  readonly userId: string | null;
}

/** Open sessions of this process, by id. */
export interface McpSessions {
  /**
   * Opens a session. At a limit, the longest unused session without open requests is closed. Throws LimitExceeded when
   * all sessions have open requests.
   */
  open(facts: Omit<McpSessionFacts, 'id'>): McpSession;
  /**
   * The session with an id; null when there is none. Throws Forbidden for the session of another caller, and NotFound
   * for a session that an administrator has ended.
   */
  find(id: string, caller: Caller | null): McpSession | null;
  /** Closes a session of the caller. Throws Forbidden for the session of another caller. */
  close(id: string, caller: Caller | null): void;
  /** Open sessions with the time since their last use in ms. */
  list(): readonly { readonly session: McpSession; readonly idleMs: number }[];
  /** Ends sessions for an administrator, and refuses their ids for 30 minutes. */
  endSelected(selector: McpSessionSelector): readonly McpSession[];
  /** Aborts when `closeAll` is called, so that open streams end. */
  readonly closing: AbortSignal;
  /** Ends all sessions, when the process ends. */
  closeAll(): void;
}

/** `newId` returns an unguessable text, whose first characters differ. */
export function createMcpSessions({
  clock,
  newId,
}: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly newId: () => string;
}): McpSessions {
  /** In the order of their last use. */
  const sessions = new Map<string, McpSession>();
  /** Ids of sessions that an administrator ended, with the monotonic time in ms until which they are refused. */
  const refused = new Map<string, number>();
  const closing = new AbortController();

  function remove(session: McpSession): void {
    sessions.delete(session.facts.id);
    session.end();
  }

  function removeIdle(nowMs: number): void {
    for (const session of sessions.values()) {
      if (nowMs - session.lastUsedMs < MCP_SESSION_IDLE_MS) break;
      if (!session.isActive) remove(session);
    }
    for (const [id, untilMs] of refused) {
      if (untilMs > nowMs) break;
      refused.delete(id);
    }
  }

  /** Closes the longest unused session of a list that has no open request. Throws LimitExceeded when there is none. */
  function makeRoom(among: Iterable<McpSession>, limit: number): void {
    for (const session of among) if (!session.isActive) return remove(session);
    throw new LimitExceeded(`At most ${limit} sessions may be open. End one with DELETE.`, 'concurrent_requests');
  }

  function ownSession(id: string, caller: Caller | null): McpSession | null {
    const session = sessions.get(id) ?? null;
    if (session !== null && session.facts.caller.keyHash !== caller?.keyHash)
      throw new Forbidden('mcp-session-id is bound to a different caller.', 'mcp_session');
    return session;
  }

  return {
    open(facts) {
      const nowMs = clock.monotonicMs();
      removeIdle(nowMs);
      const owner = limitedHashOf(facts.caller);
      const ofOwner = [...sessions.values()].filter(({ facts: { caller } }) => limitedHashOf(caller) === owner);
      if (ofOwner.length >= MAX_SESSIONS_OF_OWNER) makeRoom(ofOwner, MAX_SESSIONS_OF_OWNER);
      if (sessions.size >= MAX_SESSIONS) makeRoom(sessions.values(), MAX_SESSIONS);
      const session = new McpSession({ ...facts, id: newId() }, nowMs);
      sessions.set(session.facts.id, session);
      return session;
    },
    find(id, caller) {
      const nowMs = clock.monotonicMs();
      removeIdle(nowMs);
      if (refused.has(id)) throw endedByAdmin(id);
      const session = ownSession(id, caller);
      if (session === null) return null;
      session.lastUsedMs = nowMs;
      sessions.delete(id);
      sessions.set(id, session);
      return session;
    },
    close(id, caller) {
      const session = ownSession(id, caller);
      if (session !== null) remove(session);
    },
    list() {
      const nowMs = clock.monotonicMs();
      removeIdle(nowMs);
      return [...sessions.values()].map((session) => ({ session, idleMs: nowMs - session.lastUsedMs }));
    },
    endSelected({ idPrefix, userId }) {
      const untilMs = clock.monotonicMs() + REFUSED_MS;
      const selected = [...sessions.values()].filter(
        ({ facts: { id, caller } }) =>
          (idPrefix === null || id.startsWith(idPrefix)) && (userId === null || caller.userId === userId),
      );
      for (const session of selected) {
        remove(session);
        refused.set(session.facts.id, untilMs);
      }
      for (const id of refused.keys()) {
        if (refused.size <= MAX_SESSIONS) break;
        refused.delete(id);
      }
      return selected;
    },
    closing: closing.signal,
    closeAll() {
      closing.abort();
      for (const session of sessions.values()) session.end();
      sessions.clear();
    },
  };
}

const endedByAdmin = (id: string): NotFound =>
  new NotFound(
    'mcp_session',
    id,
    'mcp-session-id was terminated by an administrator. Send initialize to start a new session.',
  );
