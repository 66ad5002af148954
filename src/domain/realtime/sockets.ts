/** One whole message of a WebSocket. */
export interface SocketMessage {
  readonly bytes: Uint8Array;
  /** Whether it is a binary message. */
  readonly binary: boolean;
}

/**
 * How a connection ended. `closed`: by the peer, with code 1005 when it sent none. `cut`: reset. `too large` and
 * `garbled`: closed here, because a message was too large or malformed.
 */
export type SocketEnd =
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'cut' | 'too large' | 'garbled' };

/** Receives the events of a socket, in order. */
export interface SocketListener {
  message(message: SocketMessage): void;
  /** The send buffer has capacity again, after `send` returned false. */
  drained(): void;
  /** The peer answered a ping. */
  alive(): void;
  /** Called once, last; not after `close`. */
  ended(end: SocketEnd): void;
}

/** An open WebSocket. It is paused until `listen`. */
export interface OpenSocket {
  /** Starts the flow; called once. */
  listen(listener: SocketListener): void;
  /** Queues a message. False requests a pause until `drained`. */
  send(message: SocketMessage): boolean;
  /** Bytes in the send buffer. */
  waiting(): number;
  ping(): void;
  /** Pauses reading. Messages that were received already are still delivered. */
  pause(): void;
  resume(): void;
  /**
   * Sends a close frame after the queued messages, and destroys the connection soon after if the peer does not answer.
   * The reason has at most 123 bytes.
   */
  close(code: number, reason: string): void;
}

/** Opens WebSockets to upstreams. */
export interface SocketClient {
  /**
   * Rejects with SocketRefused when the upstream answers in HTTP, and with HttpFailure when it does not answer. Rejects
   * with the signal's reason when the signal fires first. The signal does not end an open socket.
   */
  connect(
    url: string,
    headers: Readonly<Record<string, string>>,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<OpenSocket>;
}

/** An upstream answered a WebSocket upgrade in HTTP. */
export class SocketRefused extends Error {
  readonly status: number;
  /** Null when it was too large or incomplete. */
  readonly body: Uint8Array | null;
  constructor(status: number, body: Uint8Array | null) {
    super(`The upstream answered ${status} instead of opening a WebSocket.`);
    this.name = 'SocketRefused';
    this.status = status;
    this.body = body;
  }
}
