import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivingRequest, WholeRequest } from '../../../rest-shims/http/outgoing.ts';
import { GatheredBytes } from '../../domain/gathered-bytes.ts';
import { HotBody } from './request-body.ts';
import { endOfHead, type HotHead, readHotHead } from './request-head.ts';
import { HotResponse } from './fast-response.ts';

/** How long a client may take, in ms; as for the server's own connections. */
export interface LanePatience {
  /** From an answer to the next request. */
  readonly keepAliveTimeout: number;
  /** From a connection's beginning to its first request. */
  readonly headersTimeout: number;
  /** To the end of a request's body, if that is shorter than `requestTimeout`. */
  readonly smallBodyTimeout: number;
  /** From an answer's end until a slow client must have taken it. */
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
}

/** The lane's own connections, for whoever closes the server. */
export interface HotLane {
  /** Closes those without a request. */
  closeIdle(): void;
  closeAll(): void;
}

/** Bytes taken of a client that sends on while its request is being answered. */
const AHEAD_LIMIT = 64 * 1024;
/** A larger body is Node's to read. Bytes. */
const BODY_LIMIT = 128 * 1024;
/** How long, in ms, a client may go on sending after an answer that closes its connection. */
const LINGER_MS = 5_000;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';
const NO_BYTES: Buffer = Buffer.alloc(0);
const ignore = (): void => {};

interface House {
  readonly paths: ReadonlySet<string>;
  readonly patience: LanePatience;
  /** What answers say of their connection. */
  readonly lines: string;
  readonly open: Set<HotConnection>;
  serve(request: WholeRequest | ArrivingRequest, response: HotResponse): void;
  /** Gives a connection to Node, with what came on it and was not served. */
  handOver(socket: Socket, unread: Buffer): void;
}

/**
 * Puts a faster lane before an HTTP server: plain POST requests to `paths` are read and answered here and emitted as the
 * server's `request`; the first that is anything else takes its connection to Node for good, none of it being read.
 */
export function openHotLane(server: Server, paths: ReadonlySet<string>, patience: LanePatience): HotLane {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const open = new Set<HotConnection>();
  const house: House = {
    paths,
    patience,
    lines: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(patience.keepAliveTimeout / 1_000)}\r\n`,
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
    open.add(new HotConnection(socket, house));
  });
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const connection of open) connection.check(nowMs);
  }, patience.connectionsCheckingInterval).unref();
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

/** One client's connection: a request at a time, in order. */
class HotConnection {
  readonly #socket: Socket;
  readonly #house: House;
  /** `arriving` has a request under way whose body is not complete; `closing` discards what still comes. */
  #state: 'fresh' | 'idle' | 'arriving' | 'answering' | 'closing' = 'fresh';
  #sinceMs = performance.now();
  /** Clients send the same head again and again; equal bytes need not be read twice. */
  #lastHead: Buffer = NO_BYTES;
  #lastRead: HotHead | null = null;
  /** The body of the request under way while it is not complete. */
  #body: HotBody | null = null;
  /** What came beyond the request being answered; null for nothing. */
  #ahead: GatheredBytes | null = null;
  #response: HotResponse | null = null;
  readonly #onData = (bytes: Buffer): void => this.#take(bytes);
  readonly #onDrain = (): void => void this.#response?.emit('drain');
  readonly #onEnd = (): void => this.#halfClosed();
  readonly #onClose = (): void => this.#closed();

  constructor(socket: Socket, house: House) {
    this.#socket = socket;
    this.#house = house;
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('end', this.#onEnd).on('close', this.#onClose);
    // Without a listener an error ends the process; the close that follows says all there is to know.
    socket.on('error', ignore);
  }

  check(nowMs: number): void {
    const { keepAliveTimeout, headersTimeout, smallBodyTimeout, requestTimeout } = this.#house.patience;
    const waitedMs = nowMs - this.#sinceMs;
    const limitMs = {
      fresh: headersTimeout,
      idle: this.#sending ? requestTimeout : keepAliveTimeout,
      arriving: Math.min(smallBodyTimeout, requestTimeout),
      answering: Infinity,
      closing: this.#sending ? requestTimeout : LINGER_MS,
    }[this.#state];
    if (waitedMs <= limitMs) return;
    if (this.#state === 'arriving' && this.#response?.headersSent === false) this.#timeOut();
    else this.#socket.destroy();
  }

  /** Answers 408 to a client that is too slow to send its body. */
  #timeOut(): void {
    this.#abort();
    this.#socket.end(TIMED_OUT);
    this.#discard();
  }

  closeIfIdle(): void {
    if ((this.#state === 'idle' && !this.#sending) || this.#state === 'fresh') this.#socket.destroy();
  }

  /** Whether an answer that has ended is still on its way to a client that takes it slowly. */
  get #sending(): boolean {
    return this.#socket.writableLength > 0;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #enter(state: 'idle' | 'arriving' | 'answering' | 'closing'): void {
    this.#state = state;
    this.#sinceMs = performance.now();
  }

  #take(bytes: Buffer): void {
    if (this.#body !== null) return this.#takeBody(this.#body, bytes);
    if (this.#state === 'closing') return;
    if (this.#state !== 'answering') return this.#begin(bytes);
    this.#keep(bytes);
  }

  /** Keeps what came beyond the request being answered. */
  #keep(bytes: Buffer): void {
    this.#ahead ??= new GatheredBytes();
    this.#ahead.add(bytes);
    if (this.#ahead.size > AHEAD_LIMIT) this.#socket.pause();
  }

  /** What comes between requests begins one: ours, or Node's. */
  #begin(bytes: Buffer): void {
    const end = endOfHead(bytes);
    const head = end === -1 ? null : this.#readHead(bytes, end);
    if (head === null || head.length > BODY_LIMIT) return this.#handOver(bytes);
    const whole = end + head.length;
    if (bytes.length < whole) return this.#serveArriving(head, bytes.subarray(end));
    if (bytes.length > whole) this.#keep(bytes.subarray(whole));
    this.#serve(head, bytes.subarray(end, whole));
  }

  #readHead(bytes: Buffer, end: number): HotHead | null {
    const { length } = this.#lastHead;
    if (length === end && bytes.compare(this.#lastHead, 0, end, 0, end) === 0) return this.#lastRead;
    const read = readHotHead(bytes.toString('latin1', 0, end), this.#house.paths);
    if (read !== null) {
      this.#lastHead = Buffer.from(bytes.subarray(0, end));
      this.#lastRead = read;
    }
    return read;
  }

  #serve({ path, headers }: HotHead, whole: Buffer): void {
    const request: WholeRequest = { method: 'POST', url: path, headers, socket: this.#socket, whole };
    const response = this.#respondTo(request);
    this.#enter('answering');
    this.#house.serve(request, response);
  }

  /** Serves a request whose body is not complete. The connection is not read until the body is asked for. */
  #serveArriving({ path, headers, length }: HotHead, begun: Buffer): void {
    const socket = this.#socket;
    const arriving = new HotBody(length, () => void (socket.isPaused() && socket.resume()));
    const request: ArrivingRequest = { method: 'POST', url: path, headers, socket, arriving };
    const response = this.#respondTo(request);
    response.requestArriving = true;
    this.#body = arriving;
    if (begun.length > 0) arriving.add(begun);
    this.#enter('arriving');
    this.#house.serve(request, response);
    if (this.#body === arriving && !arriving.isRead) socket.pause();
  }

  #respondTo(request: WholeRequest | ArrivingRequest): HotResponse {
    const { lines } = this.#house;
    const response = new HotResponse(request, { socket: this.#socket, lines, ended: () => this.#answered() });
    this.#response = response;
    return response;
  }

  #takeBody(body: HotBody, bytes: Buffer): void {
    const beyond = body.add(bytes);
    if (beyond === null) return;
    this.#body = null;
    if (this.#response) this.#response.requestArriving = false;
    this.#enter('answering');
    if (beyond.length > 0) this.#keep(beyond);
  }

  #answered(): void {
    const keepsAlive = this.#body === null && this.#response?.shouldKeepAlive !== false;
    this.#response = null;
    if (!keepsAlive) return this.#close();
    if (this.#ahead === null) return this.#enter('idle');
    // Deferred: the `close` listeners of the answer run before the next request begins.
    setImmediate(() => {
      const ahead = this.#ahead;
      if (this.#socket.destroyed || ahead === null) return;
      this.#ahead = null;
      this.#enter('idle');
      if (this.#socket.isPaused()) this.#socket.resume();
      const { buffer, byteOffset, byteLength } = ahead.take();
      this.#begin(Buffer.from(buffer, byteOffset, byteLength));
    });
  }

  /** Closes the connection once the answer is sent. */
  #close(): void {
    this.#discard();
    // Deferred: the answer still waits for its last write.
    setImmediate(() => this.#socket.end());
  }

  /** Reads and drops what the client still sends: closing a socket with unread bytes resets it under the answer. */
  #discard(): void {
    this.#body?.abort();
    this.#body = null;
    this.#ahead = null;
    this.#enter('closing');
    this.#socket.resume();
  }

  /** Tells the request under way that its client has gone. */
  #abort(): void {
    this.#body?.abort();
    this.#body = null;
    const response = this.#response;
    this.#response = null;
    response?.left();
  }

  #handOver(unread: Buffer): void {
    this.#detach();
    this.#house.handOver(this.#socket, unread);
  }

  /** As in Node's server, a client that ends its side has left, even while it waits for an answer. */
  #halfClosed(): void {
    if (this.#state === 'idle') this.#socket.end();
    else if (this.#state !== 'closing') this.#socket.destroy();
  }

  #closed(): void {
    this.#detach();
    this.#abort();
  }

  #detach(): void {
    this.#house.open.delete(this);
    const socket = this.#socket;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd).off('close', this.#onClose);
  }
}
