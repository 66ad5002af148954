import { InvalidInput, TooLarge } from '../../domain/errors.ts';
import type { SocketEnd, SocketMessage } from '../../domain/realtime/sockets.ts';
import type { RequestedTurn, Turn } from '../../domain/responses/turns.ts';
import { GOING_AWAY, INTERNAL_ERROR, NORMAL } from './close-codes.ts';
import { createSide } from './realtime-side.ts';
import type { ResponseClient, ResponseSessionLimits } from './response-sessions.ts';

/** A connection as `createResponseSessions` manages it. */
export interface LiveResponseSession {
  /** Starts reading. */
  listen(): void;
  runChecks(): void;
  /** Refuses waiting and new turns. The connection ends when no turn is running. */
  retire(failure: Error): void;
  /** Fails the running turns and ends the connection. */
  endAtShutdown(failure: Error): void;
}

type End = 'completed' | 'failed' | 'abandoned';

/** A started turn. */
interface Running {
  readonly requested: RequestedTurn;
  /** Aborts a turn that has no response yet. */
  readonly controller: AbortController;
  /** The response; null before it starts. */
  answering: { readonly turn: Turn; close(end: End, failure?: Error): void } | null;
}

/**
 * The turns of one connection. Each turn belongs to a lane, which the client may name. Turns of one lane run in order,
 * lanes run concurrently, and all respect backpressure. A disconnect of the client cancels the running turns.
 */
export function createResponseSession(
  client: ResponseClient,
  {
    limits,
    nowMs,
    onEnd,
  }: {
    readonly limits: ResponseSessionLimits;
    readonly nowMs: () => number;
    /** Called once, when the connection has ended and no turn is running. */
    readonly onEnd: () => void;
  },
): LiveResponseSession {
  const { socket } = client;
  const side = createSide(socket, limits, nowMs);
  const openedMs = nowMs();
  /** Running turns by lane. */
  const running = new Map<string, Running>();
  const waiting: RequestedTurn[] = [];
  let waitingBytes = 0;
  /** Whether the send buffer to the client is full, so that answers are paused. */
  let full = false;
  const paused = new Set<Turn>();
  /** Set when no new turns are accepted: the reason, and the last message before the close. */
  let retired: { readonly failure: Error; readonly lastMessage: SocketMessage | null } | null = null;
  let ended: { readonly failure: unknown } | null = null;

  function send(message: SocketMessage): boolean {
    if (ended !== null) return false;
    if (!side.send(message)) full = true;
    return !full;
  }

  /** Pauses reading while the send buffer is full or too many turns wait, else resumes it. */
  function updatePause(): void {
    if (ended !== null) return;
    if (full || waiting.length > limits.waiting || waitingBytes > limits.waitingBytes) side.hold();
    else side.release();
  }

  function received(message: SocketMessage): void {
    if (ended !== null) return;
    const read = client.read(message);
    if (read.kind === 'answer') send(read.message);
    else if (retired !== null) send(read.refused(retired.failure));
    else {
      waiting.push(read);
      waitingBytes += read.size;
      startWaiting();
    }
    updatePause();
  }

  /** Starts the turns that may start, in order of arrival. */
  function startWaiting(): void {
    let index = 0;
    while (index < waiting.length && running.size < limits.running) {
      const requested = waiting[index];
      if (requested === undefined || running.has(requested.lane)) index += 1;
      else {
        waiting.splice(index, 1);
        waitingBytes -= requested.size;
        start(requested);
      }
    }
  }

  function start(requested: RequestedTurn): void {
    const one: Running = { requested, controller: new AbortController(), answering: null };
    running.set(requested.lane, one);
    answer(one)
      .catch((bug: unknown) => {
        send(client.errorEvent(bug));
        finish(INTERNAL_ERROR, '', bug);
      })
      .finally(() => {
        running.delete(requested.lane);
        if (ended === null) startWaiting();
        updatePause();
        endWhenIdle();
      });
  }

  async function answer(one: Running): Promise<void> {
    const { requested, controller } = one;
    let turn: Turn;
    try {
      turn = await requested.begin(controller.signal);
    } catch (failure) {
      if (!controller.signal.aborted) send(requested.refused(failure));
      return;
    }
    if (controller.signal.aborted) {
      turn.messages.cancel();
      return turn.ended('abandoned');
    }
    await relay(one, turn);
  }

  function relay(one: Running, turn: Turn): Promise<void> {
    return new Promise((resolve) => {
      let isOpen = true;
      const close = (end: End, failure?: Error): void => {
        if (!isOpen) return;
        isOpen = false;
        paused.delete(turn);
        turn.ended(end, failure);
        if (end === 'abandoned' || ended !== null) turn.messages.cancel(failure);
        resolve();
      };
      one.answering = { turn, close };
      turn.messages.pipe({
        chunk(bytes) {
          if (!isOpen) return false;
          const isAccepted = send({ bytes, binary: false });
          if (!isAccepted) paused.add(turn);
          updatePause();
          return isAccepted;
        },
        done: () => close('completed'),
        fail(error) {
          if (isOpen) send(turn.failureEvent(error));
          close('failed', error);
        },
      });
    });
  }

  function drained(): void {
    side.drained();
    full = false;
    const resumed = [...paused];
    paused.clear();
    for (const { messages } of resumed) messages.resume();
    updatePause();
  }

  /** Ends the connection and cancels the running turns. */
  function finish(code: number, reason: string, failure: unknown): void {
    if (ended !== null) return;
    ended = { failure };
    waiting.length = 0;
    for (const { controller, answering } of running.values()) {
      answering?.close('abandoned');
      controller.abort();
    }
    socket.close(code, reason);
    endWhenIdle();
  }

  let isReported = false;
  /** When no turn is running, ends a retired connection, and reports the end of the connection once. */
  function endWhenIdle(): void {
    if (running.size > 0 || isReported) return;
    if (ended === null && retired !== null) {
      if (retired.lastMessage !== null) send(retired.lastMessage);
      return finish(GOING_AWAY, '', null);
    }
    if (ended === null) return;
    isReported = true;
    client.ended(ended.failure);
    onEnd();
  }

  function retire(failure: Error, lastMessage: SocketMessage | null = null): void {
    if (ended !== null || retired !== null) return;
    retired = { failure, lastMessage };
    for (const requested of waiting.splice(0)) send(requested.refused(failure));
    waitingBytes = 0;
    endWhenIdle();
  }

  return {
    listen() {
      socket.listen({
        message(message) {
          side.recordActivity();
          received(message);
        },
        alive: () => side.recordActivity(),
        drained,
        ended: (how) => finish(NORMAL, '', faultOf(how)),
      });
    },
    runChecks() {
      if (ended !== null) return;
      if (!side.checkLiveness()) return finish(GOING_AWAY, '', null);
      if (nowMs() - openedMs <= limits.lifeMs) return;
      const failure = lifetimeExceeded(limits.lifeMs);
      retire(failure, client.errorEvent(failure));
    },
    retire: (failure) => retire(failure),
    endAtShutdown(failure) {
      retire(failure);
      if (ended !== null) return;
      for (const { requested, controller, answering } of running.values()) {
        send(answering === null ? requested.refused(failure) : answering.turn.failureEvent(failure));
        answering?.close('failed', failure);
        answering?.turn.messages.cancel(failure);
        controller.abort(failure);
      }
      finish(GOING_AWAY, '', null);
    },
  };
}

/** Error for an invalid end of the connection, which the client does not receive; null for a normal end. */
function faultOf({ kind }: SocketEnd): Error | null {
  // `limit` is 0: only the socket has the limit.
  if (kind === 'too large') return new TooLarge('/responses: A message exceeds the size limit.', 0);
  if (kind === 'garbled') return new InvalidInput('/responses: The client sent an invalid WebSocket frame.');
  return null;
}

function lifetimeExceeded(lifeMs: number): InvalidInput {
  const message = `This connection reached its maximum duration of ${Math.round(lifeMs / 60_000)} minutes. Open a new connection to continue.`;
  return new InvalidInput(message, [{ path: [], rule: 'websocket_connection_limit_reached', message }]);
}
