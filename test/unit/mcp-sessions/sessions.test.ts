import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Forbidden, LimitExceeded, NotFound } from '../../../src/domain/errors.ts';
import { CancelledByClient, type McpSession } from '../../../src/domain/mcp-sessions/session.ts';
import {
  createMcpSessions,
  MAX_SESSIONS_OF_OWNER,
  MCP_SESSION_IDLE_MS,
} from '../../../src/domain/mcp-sessions/sessions.ts';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { aKey } from '../../support/chat.ts';

const caller = (keyHash: string, userId: string | null = null): Caller => ({
  role: 'internal_user',
  keyHash,
  key: null,
  teamId: null,
  userId,
});
const ANNA = caller('anna', 'user-1');
const BERT = caller('bert', 'user-2');

function start() {
  let nowMs = 0;
  const sessions = createMcpSessions({ clock: { monotonicMs: () => nowMs }, newId: keyGenerator.token });
  return {
    sessions,
    pass: (ms: number): void => void (nowMs += ms),
    open: (by: Caller): McpSession =>
      sessions.open({ caller: by, client: { name: 'c', version: '1' }, clientAddress: null }),
  };
}

describe('sessions of MCP clients', () => {
  it('are found by their id and their caller', () => {
    const { sessions, open } = start();
    const session = open(ANNA);
    expect(session.facts.id).toMatch(/^[\w-]{32}$/);
    expect(sessions.find(session.facts.id, ANNA)).toBe(session);
    expect(sessions.find('unknown', ANNA)).toBeNull();
  });

  it('belong to their caller', () => {
    const { sessions, open } = start();
    const { id } = open(ANNA).facts;
    expect(() => sessions.find(id, BERT)).toThrow(Forbidden);
    expect(() => sessions.find(id, null)).toThrow(Forbidden);
    expect(() => sessions.close(id, BERT)).toThrow(Forbidden);
    sessions.close(id, ANNA);
    expect(sessions.find(id, ANNA)).toBeNull();
  });

  it('of the sign-ins of one key are limited together', () => {
    const { sessions, open } = start();
    const signIn = (hash: string): Caller => ({
      ...caller(hash),
      key: aKey({ hash, settings: { session: { openedBy: 'key:anna:secret', needsMembership: false } } }),
    });
    const [first, second] = [signIn('first'), signIn('second')];
    const { id } = open(first).facts;
    for (let count = 1; count < MAX_SESSIONS_OF_OWNER; count += 1) open(second);
    expect(sessions.find(id, first)).not.toBeNull();
    open(second);
    expect(sessions.list()).toHaveLength(MAX_SESSIONS_OF_OWNER);
  });

  it('are closed after 30 minutes without a request', () => {
    const { sessions, open, pass } = start();
    const [used, unused, active] = [open(ANNA), open(ANNA), open(ANNA)];
    active.takeStream();
    pass(MCP_SESSION_IDLE_MS - 1);
    sessions.find(used.facts.id, ANNA);
    pass(1);
    expect(sessions.list()).toEqual([
      { session: active, idleMs: MCP_SESSION_IDLE_MS },
      { session: used, idleMs: 1 },
    ]);
    expect(unused.ended.aborted).toBe(true);
  });

  it('replace the longest unused session of the same caller at its limit', () => {
    const { sessions, open } = start();
    const ofBert = open(BERT);
    const [first, second] = Array.from({ length: MAX_SESSIONS_OF_OWNER }, () => open(ANNA));
    sessions.find(first?.facts.id ?? '', ANNA);
    open(ANNA);
    expect([first, second, ofBert].map((session) => session?.ended.aborted)).toEqual([false, true, false]);
    expect(sessions.list()).toHaveLength(MAX_SESSIONS_OF_OWNER + 1);
  });

  it('are refused when all sessions of the caller have open requests', () => {
    const { open } = start();
    const opened = Array.from({ length: MAX_SESSIONS_OF_OWNER }, () => open(ANNA));
    for (const session of opened) session.start(1, new AbortController());
    expect(() => open(ANNA)).toThrow(LimitExceeded);
    expect(open(BERT).ended.aborted).toBe(false);
  });

  it('are ended by an administrator, and then refused for 30 minutes', () => {
    const { sessions, open, pass } = start();
    const [anna, bert] = [open(ANNA), open(BERT)];
    const running = new AbortController();
    anna.start(7, running);
    const selector = { idPrefix: anna.facts.id.slice(0, 8), userId: 'user-1' };
    expect(sessions.endSelected({ ...selector, userId: 'user-2' })).toEqual([]);
    expect(sessions.endSelected(selector)).toEqual([anna]);
    expect([anna.ended.aborted, running.signal.aborted, bert.ended.aborted]).toEqual([true, true, false]);
    expect(() => sessions.find(anna.facts.id, ANNA)).toThrow(NotFound);
    pass(MCP_SESSION_IDLE_MS);
    expect(sessions.find(anna.facts.id, ANNA)).toBeNull();
  });

  it('have one stream, and cancel requests by their id', () => {
    const session = start().open(ANNA);
    expect([session.takeStream(), session.takeStream()]).toEqual([true, false]);
    session.releaseStream();
    expect(session.takeStream()).toBe(true);
    const [first, second] = [new AbortController(), new AbortController()];
    session.start('a', first);
    session.start(1, second);
    expect([session.cancel('1'), session.cancel('a')]).toEqual([false, true]);
    expect([first.signal.reason, second.signal.aborted]).toEqual([new CancelledByClient(), false]);
    session.finish(first);
    expect(session.runningRequests).toBe(1);
  });

  it('abort all running requests with the same id, when it is cancelled and when the session ends', () => {
    const session = start().open(ANNA);
    const started = (): AbortController => {
      const running = new AbortController();
      session.start('a', running);
      return running;
    };
    const cancelled = [started(), started()];
    session.cancel('a');
    expect(cancelled.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    const [finished, running, another] = [started(), started(), started()];
    session.finish(finished);
    session.end();
    expect([finished, running, another].map(({ signal }) => signal.aborted)).toEqual([false, true, true]);
  });

  it('abort a request that starts after their end', () => {
    const session = start().open(ANNA);
    session.end();
    const late = new AbortController();
    session.start('a', late);
    expect(late.signal.aborted).toBe(true);
  });

  it('end with the process', () => {
    const { sessions, open } = start();
    const session = open(ANNA);
    sessions.closeAll();
    expect([session.ended.aborted, sessions.closing.aborted, sessions.list()]).toEqual([true, true, []]);
  });
});
