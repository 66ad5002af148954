import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { WholeRequest } from '../rest-shims/outgoing.ts';
import { endOfHead, type HotHead, readHotHead } from './hot-request.ts';
import { HotResponse } from './hot-response.ts';

/** How long a client may take, in ms; as for the server's own connections. */
export interface LanePatience {
  /** From an answer to the next request. */
  readonly keepAliveTimeout: number;
  /** From a connection's beginning to its first request. */
  readonly headersTimeout: number;
  /** To the end of a request's body; and from an answer's end until a slow client must have taken it. */
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
/**
 * A body beyond this is Node's to read, which pauses a client until its key is known to be good; ours is read before
 * that, and may not be much more than what Node takes in the meantime.
 */
const BODY_LIMIT = 128 * 1024;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';
const NO_BYTES: Buffer = Buffer.alloc(0);
const ignore = (): void => {};

interface House {
  readonly paths: ReadonlySet<string>;
  readonly patience: LanePatience;
  /** What answers say of their connection. */
  readonly lines: string;
  readonly open: Set<HotConnection>;
  serve(request: WholeRequest, response: HotResponse): void;
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
  #state: 'fresh' | 'idle' | 'reading' | 'answering' = 'fresh';
  #sinceMs = performance.now();
  /** Clients send the same head again and again; equal bytes need not be read twice. */
  #lastHead: Buffer = NO_BYTES;
  #lastRead: HotHead | null = null;
  #head: HotHead | null = null;
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** What came beyond the request being answered. */
  #ahead: Buffer = NO_BYTES;
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
    const { keepAliveTimeout, headersTimeout, requestTimeout } = this.#house.patience;
    const waitedMs = nowMs - this.#sinceMs;
    if (this.#state === 'reading' && waitedMs > requestTimeout) {
      this.#socket.end(TIMED_OUT, () => this.#socket.destroy());
      this.#enter('idle');
    } else if (this.#state === 'fresh' && waitedMs > headersTimeout) this.#socket.destroy();
    else if (this.#state === 'idle' && waitedMs > (this.#sending ? requestTimeout : keepAliveTimeout))
      this.#socket.destroy();
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

  #enter(state: 'idle' | 'reading' | 'answering'): void {
    this.#state = state;
    this.#sinceMs = performance.now();
  }

  #take(bytes: Buffer): void {
    if (this.#state === 'reading') return this.#takeBody(bytes);
    if (this.#state !== 'answering') return this.#begin(bytes);
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([this.#ahead, bytes]);
    if (this.#ahead.length > AHEAD_LIMIT) this.#socket.pause();
  }

  /** What comes between requests begins one: ours, or Node's. */
  #begin(bytes: Buffer): void {
    const end = endOfHead(bytes);
    const head = end === -1 ? null : this.#readHead(bytes, end);
    if (head === null || head.length > BODY_LIMIT) return this.#handOver(bytes);
    this.#head = head;
    if (bytes.length === end + head.length) return this.#serve(bytes.subarray(end));
    this.#enter('reading');
    this.#takeBody(bytes.subarray(end));
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

  #takeBody(bytes: Buffer): void {
    const wanted = (this.#head?.length ?? 0) - this.#partBytes;
    const part = bytes.length > wanted ? bytes.subarray(0, wanted) : bytes;
    this.#parts.push(part);
    this.#partBytes += part.length;
    if (part.length < wanted) return;
    if (bytes.length > wanted) this.#ahead = bytes.subarray(wanted);
    const body = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    this.#serve(body);
  }

  #serve(whole: Buffer): void {
    const head = this.#head;
    if (head === null) return;
    const socket = this.#socket;
    const request: WholeRequest = { method: 'POST', url: head.path, headers: head.headers, socket, whole };
    const response = new HotResponse(request, { socket, lines: this.#house.lines, ended: () => this.#answered() });
    this.#response = response;
    this.#enter('answering');
    this.#house.serve(request, response);
  }

  #answered(): void {
    this.#response = null;
    if (this.#ahead.length === 0) return this.#enter('idle');
    // Not at once: the answer's end is still being told, and what comes until then belongs behind.
    setImmediate(() => {
      if (this.#socket.destroyed) return;
      const ahead = this.#ahead;
      this.#ahead = NO_BYTES;
      this.#enter('idle');
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#begin(ahead);
    });
  }

  #handOver(unread: Buffer): void {
    this.#detach();
    this.#house.handOver(this.#socket, unread);
  }

  /** As Node's server has it: who sends no more has left, whatever it still waits for. */
  #halfClosed(): void {
    if (this.#state === 'idle') this.#socket.end();
    else this.#socket.destroy();
  }

  #closed(): void {
    this.#detach();
    const response = this.#response;
    this.#response = null;
    response?.left();
  }

  #detach(): void {
    this.#house.open.delete(this);
    const socket = this.#socket;
    socket.off('data', this.#onData).off('drain', this.#onDrain).off('end', this.#onEnd).off('close', this.#onClose);
  }
}
