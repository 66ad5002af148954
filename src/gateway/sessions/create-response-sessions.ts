import type { Clock } from '../../domain/clock.ts';
import { Unavailable } from '../../domain/errors.ts';
import { createResponseSession, type LiveResponseSession } from './response-session.ts';
import type { ResponseSessionLimits, ResponseSessions } from './response-sessions.ts';

const MINUTE_MS = 60_000;
/** Time in seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = 5;

/** `running` and `lifeMs` are OpenAI's limits. */
const LIMITS: ResponseSessionLimits = {
  pingMs: 30_000,
  heartbeatTimeoutMs: 75_000,
  stalledMs: MINUTE_MS,
  lifeMs: 60 * MINUTE_MS,
  running: 16,
  waiting: 64,
  waitingBytes: 4 * 1024 * 1024,
  sessions: 2_000,
};

export function createResponseSessions(
  clock: Pick<Clock, 'monotonicMs'>,
  limits: ResponseSessionLimits = LIMITS,
): ResponseSessions {
  const sessions = new Set<LiveResponseSession>();
  let opening = 0;
  let isRetired = false;
  /** Functions that resolve the promises of `ended`. */
  let endWaiters: (() => void)[] = [];
  const shutdownError = (): Unavailable => new Unavailable('The process is shutting down.');

  function resolveIfIdle(): void {
    if (sessions.size + opening > 0) return;
    for (const resolve of endWaiters) resolve();
    endWaiters = [];
  }

  return {
    open() {
      if (sessions.size + opening >= limits.sessions)
        throw new Unavailable('Too many connections for responses are open. Try again later.', RETRY_AFTER_SECONDS);
      opening += 1;
      return {
        join(client) {
          opening -= 1;
          const session = createResponseSession(client, {
            limits,
            nowMs: () => clock.monotonicMs(),
            onEnd() {
              sessions.delete(session);
              resolveIfIdle();
            },
          });
          sessions.add(session);
          session.listen();
          if (isRetired) session.retire(shutdownError());
        },
        abandon() {
          opening -= 1;
          resolveIfIdle();
        },
      };
    },
    runChecks() {
      for (const session of sessions) session.runChecks();
    },
    retire() {
      isRetired = true;
      for (const session of sessions) session.retire(shutdownError());
    },
    ended: () =>
      new Promise((resolve) => {
        endWaiters.push(resolve);
        resolveIfIdle();
      }),
    endAll() {
      for (const session of sessions) session.endAtShutdown(shutdownError());
    },
  };
}
