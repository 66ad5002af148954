import type { OpenSocket, SocketMessage } from '../domain/realtime/sockets.ts';
import type { SideLimits } from './realtime.ts';

/** One side of a session: whether it still is there, and whether it keeps up with what it is sent. */
export interface Side {
  readonly socket: OpenSocket;
  /** It gave a sign of life. */
  heard(): void;
  /** Sends it a message. False when so much waits for it that its source must be held back. */
  take(message: SocketMessage): boolean;
  /** What waited for it has gone out. */
  drained(): void;
  /** Reads nothing from it, until `release`. */
  hold(): void;
  release(): void;
  /** Asks whether it is there, when it is time to. False when it counts as gone. */
  tend(): boolean;
}

export function createSide(socket: OpenSocket, { pingMs, goneMs, stalledMs }: SideLimits, nowMs: () => number): Side {
  let heardMs = nowMs();
  let askedMs = heardMs;
  let held = false;
  /** While too much waits: since when nothing of it has gone out, and how much it was then. */
  let full: { readonly sinceMs: number; readonly waiting: number } | null = null;

  function stalled(): boolean {
    if (full === null) return false;
    const waiting = socket.waiting();
    if (waiting < full.waiting) full = { sinceMs: nowMs(), waiting };
    return nowMs() - full.sinceMs > stalledMs;
  }

  return {
    socket,
    heard() {
      heardMs = nowMs();
    },
    take(message) {
      if (socket.send(message)) return true;
      full ??= { sinceMs: nowMs(), waiting: socket.waiting() };
      return false;
    },
    drained() {
      full = null;
    },
    hold() {
      if (held) return;
      held = true;
      socket.pause();
    },
    release() {
      if (!held) return;
      held = false;
      // While nobody listened it may have answered; that is read only now.
      heardMs = nowMs();
      socket.resume();
    },
    tend() {
      if (stalled()) return false;
      if (held) return true;
      const silentMs = nowMs() - heardMs;
      if (silentMs > goneMs) return false;
      if (silentMs > pingMs && nowMs() - askedMs > pingMs) {
        askedMs = nowMs();
        socket.ping();
      }
      return true;
    },
  };
}
