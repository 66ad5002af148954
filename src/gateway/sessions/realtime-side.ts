import type { OpenSocket, SocketMessage } from '../../domain/realtime/sockets.ts';
import type { SideLimits } from './realtime.ts';

/** One side of a session, with its liveness and backpressure. */
export interface Side {
  readonly socket: OpenSocket;
  /** Records activity of the peer. */
  recordActivity(): void;
  /** Sends a message. Returns false when the send buffer is full: the source of messages must pause. */
  send(message: SocketMessage): boolean;
  /** Records that the send buffer has capacity again. */
  drained(): void;
  /** Pauses reading from this side until `release`. */
  hold(): void;
  release(): void;
  /** Sends a ping when due. Returns false when the side is disconnected or stalled. */
  checkLiveness(): boolean;
}

export function createSide(
  socket: OpenSocket,
  { pingMs, heartbeatTimeoutMs, stalledMs }: SideLimits,
  nowMs: () => number,
): Side {
  let lastActivityMs = nowMs();
  let pingedMs = lastActivityMs;
  let isPaused = false;
  /** Last progress of a full send buffer, and its bytes at that time; null while it is not full. */
  let full: { readonly sinceMs: number; readonly bytes: number } | null = null;

  function stalled(): boolean {
    if (full === null) return false;
    const bytes = socket.waiting();
    if (bytes < full.bytes) full = { sinceMs: nowMs(), bytes };
    return nowMs() - full.sinceMs > stalledMs;
  }

  return {
    socket,
    recordActivity() {
      lastActivityMs = nowMs();
    },
    send(message) {
      if (socket.send(message)) return true;
      full ??= { sinceMs: nowMs(), bytes: socket.waiting() };
      return false;
    },
    drained() {
      full = null;
    },
    hold() {
      if (isPaused) return;
      isPaused = true;
      socket.pause();
    },
    release() {
      if (!isPaused) return;
      isPaused = false;
      // Pongs that arrived during the pause are read only now.
      lastActivityMs = nowMs();
      socket.resume();
    },
    checkLiveness() {
      if (stalled()) return false;
      if (isPaused) return true;
      const silentMs = nowMs() - lastActivityMs;
      if (silentMs > heartbeatTimeoutMs) return false;
      if (silentMs > pingMs && nowMs() - pingedMs > pingMs) {
        pingedMs = nowMs();
        socket.ping();
      }
      return true;
    },
  };
}
