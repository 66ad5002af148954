import { InvalidInput, TooLarge } from '../domain/errors.ts';
import type { SocketEnd, SocketMessage } from '../domain/realtime/sockets.ts';
import type { AskedTurn, Turn } from '../domain/responses/turns.ts';
import { createSide } from './realtime-side.ts';
import type { ResponseClient, ResponseSessionLimits } from './response-sessions.ts';

/** A connection as those who look after all of them see it. */
export interface LiveResponses {
  /** Starts the flow. */
  listen(): void;
  tend(): void;
  /** Begins nothing new, refuses what waits, and ends when nothing is under way. */
  retire(failure: Error): void;
  /** Ends it, and what is under way. */
  leave(failure: Error): void;
}

type End = 'completed' | 'failed' | 'abandoned';

/** A turn that was begun. */
interface Running {
  readonly asked: AskedTurn;
  /** Fires when what has not begun to answer is given up. */
  readonly controller: AbortController;
  /** What has begun to answer; null until then. */
  answering: { readonly turn: Turn; close(end: End, failure?: Error): void } | null;
}

/** Close codes of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const BROKEN = 1011;

/**
 * The turns of one connection: those of a lane one after another, lanes beside each other, each answered no faster than the
 * client reads. When the client goes, everything under way is given up.
 */
export function createResponseSession(
  client: ResponseClient,
  {
    limits,
    nowMs,
    over,
  }: {
    readonly limits: ResponseSessionLimits;
    readonly nowMs: () => number;
    /** Told once, when it has ended and nothing is under way any more. */
    readonly over: () => void;
  },
): LiveResponses {
  const { socket } = client;
  const side = createSide(socket, limits, nowMs);
  const openedMs = nowMs();
  /** By lane. */
  const running = new Map<string, Running>();
  const waiting: AskedTurn[] = [];
  let waitingBytes = 0;
  /** More waits for the client than it has read; what answers it then waits, too. */
  let full = false;
  const paused = new Set<Turn>();
  /** Why nothing new is begun, and what is said of that at the end. */
  let retired: { readonly failure: Error; readonly farewell: SocketMessage | null } | null = null;
  let ended: { readonly failure: unknown } | null = null;

  function say(message: SocketMessage): boolean {
    if (ended !== null) return false;
    if (!side.take(message)) full = true;
    return !full;
  }

  /** Reads on, or not, by how much waits. */
  function regulate(): void {
    if (ended !== null) return;
    if (full || waiting.length > limits.waiting || waitingBytes > limits.waitingBytes) side.hold();
    else side.release();
  }

  function came(message: SocketMessage): void {
    if (ended !== null) return;
    const read = client.read(message);
    if (read.kind === 'answer') say(read.message);
    else if (retired !== null) say(read.refused(retired.failure));
    else {
      waiting.push(read);
      waitingBytes += read.size;
      beginAll();
    }
    regulate();
  }

  /** Begins what can be begun, in the order it came. */
  function beginAll(): void {
    for (let at = 0; at < waiting.length && running.size < limits.running;) {
      const asked = waiting[at];
      if (asked === undefined || running.has(asked.lane)) at += 1;
      else {
        waiting.splice(at, 1);
        waitingBytes -= asked.size;
        begin(asked);
      }
    }
  }

  function begin(asked: AskedTurn): void {
    const one: Running = { asked, controller: new AbortController(), answering: null };
    running.set(asked.lane, one);
    answer(one)
      .catch((bug: unknown) => {
        say(client.words(bug));
        finish(BROKEN, '', bug);
      })
      .finally(() => {
        running.delete(asked.lane);
        if (ended === null) beginAll();
        regulate();
        settle();
      });
  }

  async function answer(one: Running): Promise<void> {
    const { asked, controller } = one;
    let turn: Turn;
    try {
      turn = await asked.begin(controller.signal);
    } catch (failure) {
      if (!controller.signal.aborted) say(asked.refused(failure));
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
      let open = true;
      const close = (end: End, failure?: Error): void => {
        if (!open) return;
        open = false;
        paused.delete(turn);
        turn.ended(end, failure);
        if (end === 'abandoned' || ended !== null) turn.messages.cancel();
        resolve();
      };
      one.answering = { turn, close };
      turn.messages.pipe({
        chunk(bytes) {
          if (!open) return false;
          const goOn = say({ bytes, binary: false });
          if (!goOn) paused.add(turn);
          regulate();
          return goOn;
        },
        done: () => close('completed'),
        fail(error) {
          if (open) say(turn.lastWords(error));
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
    regulate();
  }

  /** Ends the connection, and gives up what is under way. */
  function finish(code: number, reason: string, failure: unknown): void {
    if (ended !== null) return;
    ended = { failure };
    waiting.length = 0;
    for (const { controller, answering } of running.values()) {
      answering?.close('abandoned');
      controller.abort();
    }
    socket.close(code, reason);
    settle();
  }

  let settled = false;
  /** Whoever only waited until nothing is under way ends here; the end is told when nothing is any more. */
  function settle(): void {
    if (running.size > 0 || settled) return;
    if (ended === null && retired !== null) {
      if (retired.farewell !== null) say(retired.farewell);
      return finish(GOING_AWAY, '', null);
    }
    if (ended === null) return;
    settled = true;
    client.ended(ended.failure);
    over();
  }

  function retire(failure: Error, farewell: SocketMessage | null = null): void {
    if (ended !== null || retired !== null) return;
    retired = { failure, farewell };
    for (const asked of waiting.splice(0)) say(asked.refused(failure));
    waitingBytes = 0;
    settle();
  }

  return {
    listen() {
      socket.listen({
        message(message) {
          side.heard();
          came(message);
        },
        alive: () => side.heard(),
        drained,
        ended: (how) => finish(NORMAL, '', faultOf(how)),
      });
    },
    tend() {
      if (ended !== null) return;
      if (!side.tend()) return finish(GOING_AWAY, '', null);
      if (nowMs() - openedMs <= limits.lifeMs) return;
      const failure = outlived(limits.lifeMs);
      retire(failure, client.words(failure));
    },
    retire: (failure) => retire(failure),
    leave(failure) {
      retire(failure);
      if (ended !== null) return;
      for (const { asked, controller, answering } of running.values()) {
        say(answering === null ? asked.refused(failure) : answering.turn.lastWords(failure));
        answering?.close('failed', failure);
        answering?.turn.messages.cancel();
        controller.abort(failure);
      }
      finish(GOING_AWAY, '', null);
    },
  };
}

/** What is wrong with how a client ended the connection; null when nothing is. */
function faultOf({ kind }: SocketEnd): Error | null {
  if (kind === 'too large') return new TooLarge('/responses: A message was larger than is taken.', 0);
  if (kind === 'garbled') return new InvalidInput('/responses: The client sent what is no WebSocket message.');
  return null;
}

function outlived(lifeMs: number): InvalidInput {
  const message = `This connection has lasted ${Math.round(lifeMs / 60_000)} minutes, which is the most. Open another to go on.`;
  return new InvalidInput(message, [{ path: [], rule: 'websocket_connection_limit_reached', message }]);
}
