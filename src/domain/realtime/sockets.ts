/** One whole message of a WebSocket. */
export interface SocketMessage {
  readonly bytes: Uint8Array;
  /** Whether it was sent as bytes, not as text. */
  readonly binary: boolean;
}

/**
 * How a connection ended: closed by the other side, with 1005 where it named no code; cut off; or given up because what
 * came was larger than is taken, or is not WebSocket.
 */
export type SocketEnd =
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'cut' | 'too large' | 'garbled' };

/** Is told what happens on a socket, in order. */
export interface SocketListener {
  message(message: SocketMessage): void;
  /** What waited has gone out far enough for more, after `send` has said otherwise. */
  drained(): void;
  /** The other side answered a ping. */
  alive(): void;
  /** Once, last; not told after we closed it ourselves. */
  ended(end: SocketEnd): void;
}

/** A WebSocket that is open, with the other side held back until somebody listens. */
export interface OpenSocket {
  /** Starts the flow; called once. */
  listen(listener: SocketListener): void;
  /** Sends after what waits already. False asks for a pause until `drained`. */
  send(message: SocketMessage): boolean;
  /** Bytes that wait to be sent. */
  waiting(): number;
  ping(): void;
  /** Takes nothing more from the other side, but for what is on its way through this process. */
  pause(): void;
  resume(): void;
  /**
   * Says goodbye once what waits has gone out, and cuts the connection soon after if the other side does not answer.
   * The reason has at most 123 bytes.
   */
  close(code: number, reason: string): void;
}

/** Opens WebSockets to upstreams. */
export interface SocketClient {
  /**
   * Rejects with SocketRefused when the other side answers in HTTP, with HttpFailure when it does not answer, and with
   * the signal's reason when it fires first; once open, the signal means nothing.
   */
  connect(
    url: string,
    headers: Readonly<Record<string, string>>,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<OpenSocket>;
}

/** An upstream answered in HTTP where a WebSocket was asked for. */
export class SocketRefused extends Error {
  readonly status: number;
  /** Null when it was too large to read, or broke off. */
  readonly body: Uint8Array | null;
  constructor(status: number, body: Uint8Array | null) {
    super(`The upstream answered ${status} instead of opening a WebSocket.`);
    this.name = 'SocketRefused';
    this.status = status;
    this.body = body;
  }
}
