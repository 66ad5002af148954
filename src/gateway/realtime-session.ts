import type { Caller } from '../domain/caller.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { DomainError, InvalidInput, TooLarge, Unavailable } from '../domain/errors.ts';
import { assertMayCall } from '../domain/keys/virtual-key.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../domain/realtime/realtime.ts';
import type { SocketEnd, SocketMessage } from '../domain/realtime/sockets.ts';
import type { Books } from './books.ts';
import type { Budgets, CostReservation } from './budgets.ts';
import type { RealtimeClient, RealtimeLimits, RealtimeSession } from './realtime.ts';
import type { RealtimeAccount } from './realtime-account.ts';
import { createSide, type Side } from './realtime-side.ts';

/** A session as those who look after all of them see it. */
export interface LiveSession extends RealtimeSession {
  tend(): void;
  /** Ends it because the process is going away. */
  leave(): void;
}

/** What a session is made of. */
export interface SessionParts {
  readonly request: RealtimeRequest;
  readonly deployment: Deployment;
  readonly upstream: RealtimeUpstream;
  readonly books: Books;
  readonly account: RealtimeAccount;
  readonly budgets: Budgets;
  /** For its next turn, and what its turns have cost; null where nothing is counted. */
  readonly reserved: CostReservation | null;
  readonly limits: RealtimeLimits;
  readonly nowMs: () => number;
  readonly caller: Caller;
  /** The caller's key as it stands now. Throws Unauthenticated. */
  readonly identify: () => Caller | Promise<Caller>;
  /** Told once, when it is over. */
  readonly over: () => void;
}

/** How a session ends, as its two sides and its record are told. */
interface Ending {
  readonly end: 'completed' | 'failed' | 'abandoned';
  readonly failure?: unknown;
  /** For the caller's close frame. A failure is told by an `error` event before it, unless `silent`. */
  readonly code: number;
  readonly reason?: string;
  readonly silent?: boolean;
}

/** Close codes of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNNAMED = 1005;
const POLICY = 1008;
const BROKEN = 1011;

/** The relay between two open sockets: messages both ways, each side read no faster than the other takes them. */
export function createSession(parts: SessionParts): LiveSession {
  const { request, deployment, upstream, books, account, budgets, limits, nowMs } = parts;
  const openedMs = nowMs();
  let spokenMs = openedMs;
  let checkedMs = openedMs;
  let checking = false;
  let refused = 0;
  let over = false;
  let client: RealtimeClient | null = null;
  let caller: Side | null = null;
  const vendor = createSide(upstream.socket, limits, nowMs);
  /** The key as it was last seen, for the models that messages name. */
  let { key } = parts.caller;
  /** The upstream's last message, when that was an error. */
  let lastError: string | null = null;

  function finish({ end, failure = null, code, reason = '', silent = false }: Ending): void {
    if (over) return;
    over = true;
    const cost = account.cost();
    books.close(end, { failure, outcome: account.outcome(), cost });
    parts.reserved?.settle(cost);
    if (client !== null) {
      if (failure !== null && !silent) client.socket.send(client.words(failure, null));
      client.socket.close(code, reason);
      client.ended(failure);
    }
    upstream.socket.close(NORMAL, '');
    parts.over();
  }

  /** A bug ends the session, and is told as one. */
  const broken = (failure: unknown): void => finish({ end: 'failed', failure, code: BROKEN });

  function fromCaller(message: SocketMessage): void {
    if (over || client === null) return;
    spokenMs = nowMs();
    try {
      const outbound = upstream.outbound(message, (model) => assertMayCall(key, model));
      if (!vendor.take(outbound)) caller?.hold();
    } catch (failure) {
      if (!(failure instanceof DomainError)) return broken(failure);
      refused += 1;
      if (refused > limits.refusals) return finish({ end: 'failed', failure, code: POLICY });
      client.socket.send(client.words(failure, message));
    }
  }

  function fromUpstream(message: SocketMessage): void {
    if (over || caller === null) return;
    spokenMs = nowMs();
    try {
      const { message: inbound, news } = upstream.inbound(message);
      if (!caller.take(inbound)) vendor.hold();
      lastError = news?.kind === 'error' ? news.message : null;
      if (news !== null && account.take(news)) recheck();
    } catch (failure) {
      broken(failure);
    }
  }

  function callerEnded(how: SocketEnd): void {
    if (how.kind === 'closed') return finish({ end: 'completed', code: NORMAL });
    if (how.kind === 'cut') return finish({ end: 'abandoned', code: NORMAL });
    const failure =
      how.kind === 'too large'
        ? new TooLarge('/realtime: A message was larger than is taken.', 0)
        : new InvalidInput('/realtime: The caller sent what is no WebSocket message.');
    finish({ end: 'failed', failure, code: NORMAL, silent: true });
  }

  function upstreamEnded(how: SocketEnd): void {
    const failure = upstream.failureOf(how, lastError);
    if (how.kind !== 'closed') return finish({ end: 'failed', failure, code: BROKEN });
    const code = how.code === UNNAMED ? NORMAL : how.code;
    const reason = upstream.showable(how.reason);
    if (failure === null) return finish({ end: 'completed', code, reason });
    // The caller has heard the upstream's own words.
    finish({ end: 'failed', failure, code, reason, silent: lastError !== null });
  }

  /** Looks whether the key still may: it can be blocked, run out, or use its allowance up meanwhile. */
  function recheck(): void {
    if (checking || over) return;
    checking = true;
    checkedMs = nowMs();
    stillMay()
      .catch((failure: unknown) => {
        // A store that is away is no reason to stop: the key was good.
        if (!(failure instanceof Unavailable)) finish({ end: 'failed', failure, code: POLICY });
      })
      .finally(() => {
        checking = false;
      });
  }

  async function stillMay(): Promise<void> {
    ({ key } = await parts.identify());
    assertMayCall(key, request.model);
    await budgets.check({ ...parts.caller, key }, { deployment, request: null });
  }

  function tend(): void {
    if (over || caller === null) return;
    if (!caller.tend()) return finish({ end: 'abandoned', code: GOING_AWAY });
    if (!vendor.tend())
      return finish({ end: 'failed', failure: upstream.failureOf({ kind: 'cut' }, lastError), code: BROKEN });
    const limit = reached();
    if (limit !== null)
      return finish({ end: 'completed', failure: new Unavailable(`/realtime: ${limit}`, null), code: GOING_AWAY });
    if (nowMs() - checkedMs > limits.recheckMs) recheck();
  }

  function reached(): string | null {
    if (nowMs() - openedMs > limits.lifeMs)
      return `The session has lasted ${minutes(limits.lifeMs)}, which is the most.`;
    if (nowMs() - spokenMs > limits.idleMs) return `Nothing was said for ${minutes(limits.idleMs)}.`;
    return null;
  }

  return {
    callId: books.callId,
    modelGroup: request.model,
    deployment,
    relay(joined) {
      client = joined;
      caller = createSide(joined.socket, limits, nowMs);
      join(caller, vendor, fromCaller, callerEnded);
      join(vendor, caller, fromUpstream, upstreamEnded);
    },
    abandon: () => finish({ end: 'abandoned', code: NORMAL }),
    leave: () => finish({ end: 'failed', failure: new Unavailable('The process is shutting down.'), code: GOING_AWAY }),
    tend,
  };
}

/** Listens to a side. When it has taken what waited for it, the other is read again. */
function join(
  side: Side,
  other: Side,
  message: (message: SocketMessage) => void,
  ended: (how: SocketEnd) => void,
): void {
  side.socket.listen({
    message(came) {
      side.heard();
      message(came);
    },
    alive: () => side.heard(),
    drained() {
      side.drained();
      other.release();
    },
    ended,
  });
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`;
