import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivingRequest, WholeRequest } from '../../../rest-shims/helpers/http/outgoing.ts';
import { headerLine } from '../../../rest-shims/helpers/http/header-lines.ts';
import { GatheredBytes } from '../../domain/gathered-bytes.ts';
import { FastBody } from './request-body.ts';
import { endOfHead, type RequestHead, readRequestHead } from './request-head.ts';
import { type AnsweringConnection, FastResponse } from './fast-response.ts';

/** How long a client may take, in ms; the same limits as for connections of Node's server. */
export interface FastPathTimeouts {
  /** From an answer to the next request. */
  readonly keepAliveTimeout: number;
  /** From the start of a connection to its first request. */
  readonly headersTimeout: number;
  /** To the end of a request's body, unless `requestTimeout` is shorter. */
  readonly smallBodyTimeout: number;
  /** From the end of an answer until a slow client must have read it. */
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
}

/** The connections of the fast path, to close them with the server. */
export interface FastPath {
  /** Closes the connections without a request. */
  closeIdle(): void;
  closeAll(): void;
}

/** Reading pauses above this number of pipelined bytes, which arrive while a request is being answered. */
const PIPELINED_LIMIT = 64 * 1024;
/** Largest body, in bytes; requests with larger bodies go to Node. */
const BODY_LIMIT = 128 * 1024;
/** Time after the deadline of a body in which its row may answer, in ms. Then the fast path answers 408. */
const ROW_ANSWER_MS = 1_000;
/** How long, in ms, a client may go on sending after an answer that closes its connection. */
const LINGER_MS = 5_000;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';
const NO_BYTES: Buffer = Buffer.alloc(0);
const ignore = (): void => {};

/** Parts of the server that a connection uses. */
interface FastPathServer {
  readonly paths: Pick<ReadonlySet<string>, 'has' | 'size'>;
  readonly timeouts: FastPathTimeouts;
  /** Header lines of every answer. */
  readonly firstLines: string;
  /** `Connection` and `Keep-Alive` lines of answers. */
  readonly keepAliveLines: string;
  readonly open: Set<FastConnection>;
  serve(request: WholeRequest | ArrivingRequest, response: FastResponse): void;
  /** Gives a connection to Node's server, with the bytes that were not served. */
  handOver(socket: Socket, unread: Buffer): void;
}

/**
 * Adds the fast path to an HTTP server: plain POST requests to `paths` are parsed here and emitted as the server's
 * `request`. The first request of any other form moves its connection, with all unread bytes, to Node's parser for
 * good.
 */
export function openFastPath(
  server: Server,
  {
    paths,
    headers,
    timeouts,
  }: {
    readonly paths: Pick<ReadonlySet<string>, 'has' | 'size'>;
    /** Headers of every answer. */
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly timeouts: FastPathTimeouts;
  },
): FastPath {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const open = new Set<FastConnection>();
  const fastPathServer: FastPathServer = {
    paths,
    timeouts,
    firstLines: headers.map(([name, value]) => headerLine(name, value)).join(''),
    keepAliveLines: `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeouts.keepAliveTimeout / 1_000)}`,
    open,
    serve: (request, response) => void server.emit('request', request, response),
    handOver(socket, unread) {
      socket.pause();
      if (unread.length > 0) socket.unshift(unread);
      for (const listener of listeners) listener.call(server, socket);
      socket.resume();
    },
  };
  server.on('connection', (socket: Socket) => {
    open.add(new FastConnection(socket, fastPathServer));
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of open) connection.check(nowMs);
  }, timeouts.connectionsCheckingInterval).unref();
  server.once('close', () => clearInterval(timer));
  return {
    closeIdle() {
      for (const connection of open) connection.closeIfIdle();
    },
    closeAll() {
      for (const connection of open) connection.destroy();
    },
  };
}

/** A client connection. Serves one request at a time, in order. */
class FastConnection implements AnsweringConnection {
  readonly socket: Socket;
  readonly firstLines: string;
  readonly keepAliveLines: string;
  readonly #server: FastPathServer;
  /**
   * `fresh`: no request yet. `arriving`: the body of the current request is not complete. `closing`: discards bytes.
   */
  #state: 'fresh' | 'idle' | 'arriving' | 'answering' | 'closing' = 'fresh';
  /** Time when the current state began. */
  #sinceMs = performance.now();
  /** Bytes of the last head: clients repeat them, and equal bytes are not parsed again. */
  #lastHead: Buffer = NO_BYTES;
  #lastParsed: RequestHead | null = null;
  /** The body of the current request while it is not complete. */
  #body: FastBody | null = null;
  /** Pipelined bytes after the current request; null for none. */
  #pipelined: GatheredBytes | null = null;
  #response: FastResponse | null = null;
  readonly #onData = (bytes: Buffer): void => this.#receive(bytes);
  readonly #onDrain = (): void => this.#response?.drained();
  readonly #onEnd = (): void => this.#halfClosed();
  readonly #onClose = (): void => this.#closed();

  constructor(socket: Socket, server: FastPathServer) {
    this.socket = socket;
    this.firstLines = server.firstLines;
    this.keepAliveLines = server.keepAliveLines;
    this.#server = server;
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('end', this.#onEnd).on('close', this.#onClose);
    // Without a listener an error ends the process. `close` follows every error.
    socket.on('error', ignore);
  }

  check(nowMs: number): void {
    const { keepAliveTimeout, headersTimeout, smallBodyTimeout, requestTimeout } = this.#server.timeouts;
    const waitedMs = nowMs - this.#sinceMs;
    const limitMs = {
      fresh: headersTimeout,
      idle: this.#hasUnsentBytes ? requestTimeout : keepAliveTimeout,
      arriving: Math.min(smallBodyTimeout, requestTimeout) + ROW_ANSWER_MS,
      answering: Infinity,
      closing: this.#hasUnsentBytes ? requestTimeout : LINGER_MS,
    }[this.#state];
    if (waitedMs <= limitMs) return;
    if (this.#state === 'arriving' && this.#response?.headersSent === false) this.#timeOut();
    else this.socket.destroy();
  }

  /** Answers 408 to a client that is too slow to send its body. */
  #timeOut(): void {
    this.#abort();
    this.socket.end(TIMED_OUT);
    this.#discard();
  }

  closeIfIdle(): void {
    if ((this.#state === 'idle' && !this.#hasUnsentBytes) || this.#state === 'fresh') this.socket.destroy();
  }

  /** Whether the socket still holds bytes of an answer that has ended. */
  get #hasUnsentBytes(): boolean {
    return this.socket.writableLength > 0;
  }

  destroy(): void {
    this.socket.destroy();
  }

  #enter(state: 'idle' | 'arriving' | 'answering' | 'closing'): void {
    this.#state = state;
    this.#sinceMs = performance.now();
  }

  #receive(bytes: Buffer): void {
    if (this.#body !== null) return this.#takeBody(this.#body, bytes);
    if (this.#state === 'closing') return;
    if (this.#state !== 'answering') return this.#begin(bytes);
    this.#bufferPipelined(bytes);
  }

  /** Keeps pipelined bytes until the current answer ends. */
  #bufferPipelined(bytes: Buffer): void {
    this.#pipelined ??= new GatheredBytes();
    this.#pipelined.add(bytes);
    if (this.#pipelined.size > PIPELINED_LIMIT) this.socket.pause();
  }

  /** Serves the request that begins with these bytes, or hands the connection over to Node's server. */
  #begin(bytes: Buffer): void {
    const end = endOfHead(bytes);
    const head = end === -1 ? null : this.#readHead(bytes, end);
    if (head === null || head.bodyLength > BODY_LIMIT) return this.#handOver(bytes);
    const wholeLength = end + head.bodyLength;
    if (bytes.length < wholeLength) return this.#serveArriving(head, bytes.subarray(end));
    if (bytes.length > wholeLength) this.#bufferPipelined(bytes.subarray(wholeLength));
    this.#serve(head, bytes.subarray(end, wholeLength));
  }

  #readHead(bytes: Buffer, end: number): RequestHead | null {
    const { length } = this.#lastHead;
    if (length === end && bytes.compare(this.#lastHead, 0, end, 0, end) === 0) return this.#lastParsed;
    const read = readRequestHead(bytes.toString('latin1', 0, end), this.#server.paths);
    if (read !== null) {
      this.#lastHead = Buffer.from(bytes.subarray(0, end));
      this.#lastParsed = read;
    }
    return read;
  }

  #serve({ path, headers }: RequestHead, whole: Buffer): void {
    const request: WholeRequest = { method: 'POST', url: path, headers, socket: this.socket, whole };
    const response = this.#respondTo(request);
    this.#enter('answering');
    this.#server.serve(request, response);
  }

  /** Serves a request whose body is not complete. The connection is not read until the body is requested. */
  #serveArriving({ path, headers, bodyLength }: RequestHead, firstBytes: Buffer): void {
    const socket = this.socket;
    const arriving = new FastBody(bodyLength, () => {
      if (socket.isPaused()) socket.resume();
    });
    const request: ArrivingRequest = { method: 'POST', url: path, headers, socket, arriving };
    const response = this.#respondTo(request);
    response.requestArriving = true;
    this.#body = arriving;
    if (firstBytes.length > 0) arriving.add(firstBytes);
    this.#enter('arriving');
    this.#server.serve(request, response);
    if (this.#body === arriving && !arriving.hasReader) socket.pause();
  }

  #respondTo(request: WholeRequest | ArrivingRequest): FastResponse {
    const response = new FastResponse(request, this);
    this.#response = response;
    return response;
  }

  #takeBody(body: FastBody, bytes: Buffer): void {
    const rest = body.add(bytes);
    if (rest === null) return;
    this.#body = null;
    if (this.#response) this.#response.requestArriving = false;
    this.#enter('answering');
    if (rest.length > 0) this.#bufferPipelined(rest);
  }

  responseWritten(): void {
    const staysOpen = this.#body === null && this.#response?.shouldKeepAlive !== false;
    this.#response = null;
    if (!staysOpen) return this.#close();
    if (this.#pipelined === null) return this.#enter('idle');
    // Deferred: the `close` listeners of the answer run before the next request begins.
    setImmediate(() => {
      const pipelined = this.#pipelined;
      if (this.socket.destroyed || pipelined === null) return;
      this.#pipelined = null;
      this.#enter('idle');
      if (this.socket.isPaused()) this.socket.resume();
      const { buffer, byteOffset, byteLength } = pipelined.take();
      this.#begin(Buffer.from(buffer, byteOffset, byteLength));
    });
  }

  /** Closes the connection once the answer is sent. */
  #close(): void {
    this.#discard();
    // Deferred: the last write of the answer is in the current turn.
    setImmediate(() => this.socket.end());
  }

  /** Discards what the client still sends: closing a socket with unread bytes resets it before the answer is read. */
  #discard(): void {
    this.#body?.abort();
    this.#body = null;
    this.#pipelined = null;
    this.#enter('closing');
    this.socket.resume();
  }

  /** Aborts the current request: its client has disconnected or is too slow. */
  #abort(): void {
    this.#body?.abort();
    this.#body = null;
    const response = this.#response;
    this.#response = null;
    response?.clientLeft();
  }

  #handOver(unread: Buffer): void {
    this.#detach();
    this.#server.handOver(this.socket, unread);
  }

  /** As in Node's server, a half-closed connection is closed, even while its request is being answered. */
  #halfClosed(): void {
    if (this.#state === 'idle') this.socket.end();
    else if (this.#state !== 'closing') this.socket.destroy();
  }

  #closed(): void {
    this.#detach();
    this.#abort();
  }

  #detach(): void {
    this.#server.open.delete(this);
    const socket = this.socket;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd).off('close', this.#onClose);
  }
}
