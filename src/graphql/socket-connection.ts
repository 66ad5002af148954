import type { OpenSocket } from '../domain/realtime/sockets.ts';
import type { Requester } from './requester.ts';
import { LargeAnswers } from './large-answers.ts';

/** Limits of one WebSocket; times in ms. */
export interface SocketLimits {
  /** Maximum time to the first `connection_init`. */
  readonly initMs: number;
  /** Idle time before the server pings. */
  readonly pingMs: number;
  /** Idle time before the connection is closed. */
  readonly heartbeatTimeoutMs: number;
  /** Time for which the send buffer to the client may stay full. */
  readonly stalledMs: number;
  /** Maximum number of concurrent operations. */
  readonly operations: number;
}

/** Close codes: RFC 6455, the IANA registry, and the graphql-transport-ws protocol. */
export const CLOSE = {
  unsupportedData: 1003,
  /** The connection ended without a close frame. This code is never sent. */
  noCloseFrame: 1006,
  tooLarge: 1009,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  badRequest: 4400,
  forbidden: 4403,
  internalError: 4500,
} as const;

/** Maximum bytes of the reason in a close frame, by RFC 6455. */
const MAX_REASON_BYTES = 123;
/** Messages with a result, or with the errors of an operation. */
const RESULT = /^\{"id":"(?:[^"\\]|\\.)*","type":"(?:next|error)"/;

/**
 * One WebSocket: its send buffer, its liveness and its running operations. While the send buffer is full, nothing is
 * read from the client and no result is taken from a subscription. The next result is admitted when the last one is
 * sent.
 */
export class SocketConnection {
  readonly #socket: OpenSocket;
  readonly #nowMs: () => number;
  readonly #limits: SocketLimits;
  readonly #closed = new AbortController();
  readonly #onClose: (code: number, reason: string) => void;
  readonly large = new LargeAnswers();
  readonly requestId: string;
  /**
   * Request with the credential of the operations: the headers of the handshake, later with the key of
   * `connection_init`.
   */
  request: Requester['request'];
  /** Number of messages that are being handled. A message counts until the operation that it started ends. */
  running = 0;
  #lastActivityMs: number;
  /** Time when the send buffer became full; null while the buffer has capacity. */
  #fullSinceMs: number | null = null;
  /** Whether an admitted result is not sent yet. */
  #admitted = false;
  /** Functions that resume the waiting calls of `admit`. */
  #waiting: (() => void)[] = [];

  constructor(
    socket: OpenSocket,
    {
      request,
      requestId,
      nowMs,
      limits,
      onClose,
    }: {
      readonly request: Requester['request'];
      readonly requestId: string;
      readonly nowMs: () => number;
      readonly limits: SocketLimits;
      /** Called once, with the code of the close frame, or `CLOSE.noCloseFrame`. */
      readonly onClose: (code: number, reason: string) => void;
    },
  ) {
    this.#socket = socket;
    this.#nowMs = nowMs;
    this.#limits = limits;
    this.#onClose = onClose;
    this.request = request;
    this.requestId = requestId;
    this.#lastActivityMs = nowMs();
  }

  /** Fires when the connection closes. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  get requester(): Requester {
    return { request: this.request, signal: this.signal };
  }

  /** Waits until a result may be sent. */
  async admit(): Promise<void> {
    while ((this.#fullSinceMs !== null || this.#admitted) && !this.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#admitted = true;
  }

  send(message: string): void {
    if (RESULT.test(message)) this.#admitted = false;
    if (this.signal.aborted) return;
    const bytes = Buffer.from(this.large.restoreData(message));
    if (this.#socket.send({ bytes, binary: false })) return this.#admitNext();
    this.#fullSinceMs = this.#nowMs();
    this.#socket.pause();
  }

  /** The send buffer has capacity again. */
  drained(): void {
    this.#fullSinceMs = null;
    this.#lastActivityMs = this.#nowMs();
    this.#socket.resume();
    this.#admitNext();
  }

  /** The client sent a message or a pong. */
  recordActivity(): void {
    this.#lastActivityMs = this.#nowMs();
  }

  /** Pings an idle client; closes the connection of one that does not answer or does not read. */
  runChecks(): void {
    const now = this.#nowMs();
    if (this.#fullSinceMs !== null) {
      if (now - this.#fullSinceMs > this.#limits.stalledMs)
        this.close(CLOSE.tryAgainLater, 'The client does not read.');
    } else if (now - this.#lastActivityMs > this.#limits.heartbeatTimeoutMs)
      this.close(CLOSE.tryAgainLater, 'The client does not answer.');
    else if (now - this.#lastActivityMs > this.#limits.pingMs) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (this.signal.aborted) return;
    const text = cutToBytes(reason, MAX_REASON_BYTES);
    this.#socket.close(code, text);
    this.ended(code, text);
  }

  /** The connection is closed. */
  ended(code: number, reason: string): void {
    if (this.signal.aborted) return;
    this.#closed.abort();
    for (const resume of this.#waiting.splice(0)) resume();
    this.#onClose(code, reason);
  }

  #admitNext(): void {
    if (!this.#admitted) this.#waiting.shift()?.();
  }
}

/** The start of a text, cut to at most `max` bytes of UTF-8. */
function cutToBytes(text: string, max: number): string {
  let part = text.slice(0, max);
  while (Buffer.byteLength(part) > max) part = part.slice(0, -1);
  return part.isWellFormed() ? part : part.toWellFormed();
}
