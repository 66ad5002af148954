import type { Caller } from '../../domain/caller.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { DomainError, InvalidInput, TooLarge, Unavailable } from '../../domain/errors.ts';
import { assertMayCall } from '../../domain/keys/virtual-key.ts';
import type { RealtimeRequest, RealtimeUpstream } from '../../domain/realtime/realtime.ts';
import type { SocketEnd, SocketMessage } from '../../domain/realtime/sockets.ts';
import type { CallAccount } from '../accounting/call-account.ts';
import type { Budgets } from '../admission/budgets.ts';
import type { CostReservation } from '../admission/cost-reservation.ts';
import type { RealtimeClient, RealtimeLimits, RealtimeSession } from './realtime.ts';
import type { RealtimeAccount } from './realtime-account.ts';
import { chargedKeyOf } from '../admission/budget-charges.ts';
import { GOING_AWAY, INTERNAL_ERROR, NO_STATUS, NORMAL, POLICY } from './close-codes.ts';
import { createSide, type Side } from './realtime-side.ts';

/** A session as `createRealtime` manages it. */
export interface LiveSession extends RealtimeSession {
  runChecks(): void;
  /** Ends the session at shutdown. */
  endAtShutdown(): void;
}

/** Parts of a session. */
export interface SessionParts {
  readonly request: RealtimeRequest;
  /** Model of the budgets: that of the request, or the model of its alias. */
  readonly budgetedModel: string;
  readonly deployment: Deployment;
  readonly upstream: RealtimeUpstream;
  /** Ids, times and health of the session, which is recorded as one call. */
  readonly callAccount: CallAccount;
  /** Usage and cost of the turns. */
  readonly account: RealtimeAccount;
  readonly budgets: Budgets;
  /** Reservation of the next turn, with the cost of past turns; null when nothing is reserved. */
  readonly reserved: CostReservation | null;
  readonly limits: RealtimeLimits;
  readonly nowMs: () => number;
  readonly caller: Caller;
  /** The caller with the current state of its key. Throws as `KeyRing.current`. */
  readonly identify: () => Caller | Promise<Caller>;
  /** Called once, at the end. */
  readonly onEnd: () => void;
}

/** End of a session, for both sides and the record. */
interface Ending {
  readonly end: 'completed' | 'failed' | 'abandoned';
  readonly failure?: unknown;
  /** Code of the close frame to the client. An `error` event is sent before it for a failure, unless `silent`. */
  readonly code: number;
  readonly reason?: string;
  readonly silent?: boolean;
}

/** Relays messages between two open sockets, with backpressure in both directions. */
export function createSession(parts: SessionParts): LiveSession {
  const { request, deployment, upstream, callAccount, account, budgets, limits, nowMs } = parts;
  const openedMs = nowMs();
  let lastMessageMs = openedMs;
  let checkedMs = openedMs;
  let checking = false;
  let refusals = 0;
  let hasEnded = false;
  let client: RealtimeClient | null = null;
  let clientSide: Side | null = null;
  const upstreamSide = createSide(upstream.socket, limits, nowMs);
  /** The key as of its last check. Messages that name a model are checked with it. */
  let { key } = parts.caller;
  /** Text of the upstream's last message when it was an error, else null. */
  let lastError: string | null = null;

  function finish({ end, failure = null, code, reason = '', silent = false }: Ending): void {
    if (hasEnded) return;
    hasEnded = true;
    const cost = account.cost();
    const { labels } = request;
    const windows =
      parts.reserved === null
        ? budgets.windowsOf(key, { deployment, model: parts.budgetedModel }, labels)
        : parts.reserved.windowsAt(deployment);
    callAccount.close(end, { failure, outcome: account.outcome(), cost, windows });
    if (parts.reserved !== null) parts.reserved.settle(cost);
    else if (cost !== null) budgets.charge(key === null ? null : chargedKeyOf(key), cost, { labels, windows });
    if (client !== null) {
      if (failure !== null && !silent) client.socket.send(client.errorEvent(failure, null));
      client.socket.close(code, reason);
      client.ended(failure);
    }
    upstream.socket.close(NORMAL, '');
    parts.onEnd();
  }

  /** Ends the session with an internal error after a bug. */
  const failWithBug = (failure: unknown): void => finish({ end: 'failed', failure, code: INTERNAL_ERROR });

  function fromClient(message: SocketMessage): void {
    if (hasEnded || client === null) return;
    lastMessageMs = nowMs();
    try {
      const outbound = upstream.outbound(message, (model) => assertMayCall(key, model));
      if (!upstreamSide.send(outbound)) clientSide?.hold();
    } catch (failure) {
      if (!(failure instanceof DomainError)) return failWithBug(failure);
      refusals += 1;
      if (refusals > limits.maxRefusals) return finish({ end: 'failed', failure, code: POLICY });
      client.socket.send(client.errorEvent(failure, message));
    }
  }

  function fromUpstream(message: SocketMessage): void {
    if (hasEnded || clientSide === null) return;
    lastMessageMs = nowMs();
    try {
      const { message: inbound, fact } = upstream.inbound(message);
      if (!clientSide.send(inbound)) upstreamSide.hold();
      lastError = fact?.kind === 'error' ? fact.message : null;
      if (fact !== null && account.add(fact)) recheck();
    } catch (failure) {
      failWithBug(failure);
    }
  }

  function clientEnded(how: SocketEnd): void {
    if (how.kind === 'closed') return finish({ end: 'completed', code: NORMAL });
    if (how.kind === 'cut') return finish({ end: 'abandoned', code: NORMAL });
    // `limit` is 0: only the socket has the limit, and the client receives no error event.
    const failure =
      how.kind === 'too large'
        ? new TooLarge('/realtime: A message exceeds the size limit.', 0)
        : new InvalidInput('/realtime: The caller sent an invalid WebSocket frame.');
    finish({ end: 'failed', failure, code: NORMAL, silent: true });
  }

  function upstreamEnded(how: SocketEnd): void {
    const failure = upstream.failureOf(how, lastError);
    if (how.kind !== 'closed') return finish({ end: 'failed', failure, code: INTERNAL_ERROR });
    const code = how.code === NO_STATUS ? NORMAL : how.code;
    const reason = upstream.showable(how.reason);
    if (failure === null) return finish({ end: 'completed', code, reason });
    // With `lastError`, the client has already received the upstream's error event.
    finish({ end: 'failed', failure, code, reason, silent: lastError !== null });
  }

  /** Checks the key again: it may be blocked or expired, or its budget used up. */
  function recheck(): void {
    if (checking || hasEnded) return;
    checking = true;
    checkedMs = nowMs();
    assertStillAllowed()
      .catch((failure: unknown) => {
        // A store outage does not end a session: the key was valid.
        if (!(failure instanceof Unavailable)) finish({ end: 'failed', failure, code: POLICY });
      })
      .finally(() => {
        checking = false;
      });
  }

  async function assertStillAllowed(): Promise<void> {
    const current = await parts.identify();
    key = current.key;
    assertMayCall(key, request.model);
    const at = { deployment, request: null, model: parts.budgetedModel };
    await budgets.check({ ...parts.caller, key }, at, request.labels);
  }

  function runChecks(): void {
    if (hasEnded || clientSide === null) return;
    if (!clientSide.checkLiveness()) return finish({ end: 'abandoned', code: GOING_AWAY });
    if (!upstreamSide.checkLiveness())
      return finish({ end: 'failed', failure: upstream.failureOf({ kind: 'cut' }, lastError), code: INTERNAL_ERROR });
    const limit = exceededLimit();
    if (limit !== null)
      return finish({ end: 'completed', failure: new Unavailable(`/realtime: ${limit}`, null), code: GOING_AWAY });
    if (nowMs() - checkedMs > limits.recheckMs) recheck();
  }

  function exceededLimit(): string | null {
    if (nowMs() - openedMs > limits.lifeMs)
      return `The session reached its maximum duration of ${minutes(limits.lifeMs)}.`;
    if (nowMs() - lastMessageMs > limits.idleMs) return `The session was idle for ${minutes(limits.idleMs)}.`;
    return null;
  }

  return {
    callId: callAccount.callId,
    modelGroup: parts.budgetedModel,
    deployment,
    relay(joined) {
      client = joined;
      clientSide = createSide(joined.socket, limits, nowMs);
      connect(clientSide, upstreamSide, fromClient, clientEnded);
      connect(upstreamSide, clientSide, fromUpstream, upstreamEnded);
    },
    abandon: () => finish({ end: 'abandoned', code: NORMAL }),
    endAtShutdown: () =>
      finish({ end: 'failed', failure: new Unavailable('The process is shutting down.'), code: GOING_AWAY }),
    runChecks,
  };
}

/** Listens to a side. When its send buffer has capacity again, reading from the other side resumes. */
function connect(
  side: Side,
  other: Side,
  message: (message: SocketMessage) => void,
  ended: (how: SocketEnd) => void,
): void {
  side.socket.listen({
    message(received) {
      side.recordActivity();
      message(received);
    },
    alive: () => side.recordActivity(),
    drained() {
      side.drained();
      other.release();
    },
    ended,
  });
}

const minutes = (ms: number): string => `${Math.round(ms / 60_000)} minutes`;
