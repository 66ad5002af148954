import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { headerLine, HeaderLines } from '../../../rest-shims/helpers/http/header-lines.ts';
import type { ArrivingRequest, Outgoing, WholeRequest } from '../../../rest-shims/helpers/http/outgoing.ts';
import { sendCoalesced } from '../../runtime/write-coalescing/write-coalescing.ts';

/**
 * Chunks up to this size, in bytes, are copied into one buffer with their framing: a second write costs more than the
 * copy.
 */
const SMALL_CHUNK = 16 * 1024;
const LAST_CHUNK = '0\r\n\r\n';
const CLOSE_LINE = '\r\nConnection: close';
const CHUNKED_LINE = '\r\nTransfer-Encoding: chunked';
/** Statuses without a body: clients take bytes after the head as the next answer. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

let dateSecond = 0;
let dateLine = '';

/** The `Date` line of an answer, formatted once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `\r\nDate: ${new Date(second * 1_000).toUTCString()}`;
  }
  return dateLine;
}

const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [Number(status), `HTTP/1.1 ${status} ${reason}`]),
);

/** The part of a connection that its response uses. Each header line starts with CR LF. */
export interface AnsweringConnection {
  readonly socket: Socket;
  /** Header lines of every answer. */
  readonly firstLines: string;
  /** `Connection` and `Keep-Alive` lines. */
  readonly keepAliveLines: string;
  /** Called when the whole answer is written to the socket. */
  responseWritten(): void;
}

type Listener = () => void;
const NO_LISTENERS: readonly Listener[] = [];

/**
 * A response on a connection of the fast path: the part of Node's response that the transports use, in as few writes as
 * possible. It implements `close` and `drain` itself: an event emitter of Node costs more than the rest of the
 * response.
 */
export class FastResponse implements Outgoing {
  readonly req: WholeRequest | ArrivingRequest;
  readonly #connection: AnsweringConnection;
  readonly #socket: Socket;
  /** Header lines of every answer, and those that `setHeader` added. */
  #firstLines: string;
  /** Status line and headers, until they are written. */
  #head = '';
  #chunked = false;
  #hasBody = true;
  /** Whether the request was aborted before the answer was complete. */
  #hasLeft = false;
  /** Whether `end` is running. */
  #isEnding = false;
  #onClose = NO_LISTENERS;
  #onDrain = NO_LISTENERS;
  headersSent = false;
  statusCode = 0;
  writableFinished = false;
  shouldKeepAlive = true;
  /** Whether the request body is not complete, so that an answer closes the connection. */
  requestArriving = false;
  abort: ((failure: Error) => void) | null = null;

  constructor(request: WholeRequest | ArrivingRequest, connection: AnsweringConnection) {
    this.req = request;
    this.#connection = connection;
    this.#socket = connection.socket;
    this.#firstLines = connection.firstLines;
  }

  get destroyed(): boolean {
    return (this.#hasLeft || this.#socket.destroyed) && !this.writableFinished;
  }

  on(event: 'drain' | 'close', listener: Listener): this {
    if (event === 'close') this.#onClose = [...this.#onClose, listener];
    else this.#onDrain = [...this.#onDrain, listener];
    return this;
  }

  /** The same as `on`, because `close` is emitted once. */
  once(event: 'close', listener: Listener): this {
    return this.on(event, listener);
  }

  off(event: 'drain' | 'close', listener: Listener): this {
    if (event === 'close') this.#onClose = this.#onClose.filter((one) => one !== listener);
    else this.#onDrain = this.#onDrain.filter((one) => one !== listener);
    return this;
  }

  /** Called when the socket takes bytes again. */
  drained(): void {
    for (const listener of this.#onDrain) listener();
  }

  #emitClose(): void {
    for (const listener of this.#onClose) listener();
  }

  getHeader(name: string): string | undefined {
    return new HeaderLines(this.#firstLines).valueOf(name) ?? undefined;
  }

  setHeader(name: string, value: string): this {
    this.#firstLines += headerLine(name, value);
    return this;
  }

  writeHead(status: number, head: string[] | Record<string, string | number>): this {
    const pairs = Array.isArray(head) ? head : Object.entries(head).flatMap(([name, value]) => [name, String(value)]);
    const lines = new HeaderLines();
    for (let at = 0; at < pairs.length; at += 2) lines.addChecked(pairs[at] ?? '', pairs[at + 1] ?? '');
    return this.writeLines(status, lines);
  }

  writeLines(status: number, { text, hasLength }: HeaderLines): this {
    if (this.headersSent) throw new TypeError('The head of this answer is already written.');
    this.#hasBody = !BODILESS.has(status);
    this.#chunked = this.#hasBody && !hasLength;
    if (this.requestArriving) this.shouldKeepAlive = false;
    const start = (STATUS_LINES.get(status) ?? `HTTP/1.1 ${status} Unknown`) + this.#firstLines;
    const connection = this.shouldKeepAlive ? this.#connection.keepAliveLines : CLOSE_LINE;
    const framing = this.#chunked ? connection + CHUNKED_LINE : connection;
    this.#head = `${start + text + dateNow() + framing}\r\n\r\n`;
    this.headersSent = true;
    this.statusCode = status;
    return this;
  }

  flushHeaders(): void {
    if (this.#head === '') return;
    this.#socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isFinished() || bytes.length === 0 || !this.#hasBody) return true;
    if (this.#head === '') return this.#writeChunk(bytes);
    if (bytes.length <= SMALL_CHUNK) {
      const whole = this.#chunked
        ? framed(`${this.#head}${bytes.length.toString(16)}\r\n`, bytes, '\r\n')
        : framed(this.#head, bytes, '');
      this.#head = '';
      return this.#socket.write(whole);
    }
    this.#socket.cork();
    this.flushHeaders();
    const mayContinue = this.#writeChunk(bytes);
    this.#socket.uncork();
    return mayContinue;
  }

  #writeChunk(bytes: Uint8Array): boolean {
    if (!this.#chunked) return this.#socket.write(bytes);
    const size = `${bytes.length.toString(16)}\r\n`;
    if (bytes.length > SMALL_CHUNK) {
      this.#socket.cork();
      this.#socket.write(size, 'latin1');
      this.#socket.write(bytes);
      const mayContinue = this.#socket.write('\r\n', 'latin1');
      this.#socket.uncork();
      return mayContinue;
    }
    return this.#socket.write(framed(size, bytes, '\r\n'));
  }

  end(sent: Uint8Array | string = '', encoding: 'latin1' = 'latin1'): this {
    if (this.#isFinished()) return this;
    const body = this.#hasBody ? sent : '';
    if (typeof body !== 'string' && (body.length > SMALL_CHUNK || this.#chunked)) return this.#endLarge(body);
    const isHeadSent = this.#head === '';
    let rest: Uint8Array | string;
    if (typeof body === 'string') rest = this.#head + (this.#chunked ? framedText(body) : body);
    else rest = framed(this.#head, body, '');
    this.#head = '';
    this.writableFinished = true;
    this.#isEnding = true;
    if (isHeadSent) this.#finish(rest, encoding);
    else sendCoalesced(() => this.#finish(rest, encoding));
    this.#isEnding = false;
    return this;
  }

  #endLarge(body: Uint8Array): this {
    this.#socket.cork();
    this.write(body);
    this.flushHeaders();
    if (this.#chunked) this.#socket.write(LAST_CHUNK, 'latin1');
    this.#socket.uncork();
    this.writableFinished = true;
    this.#isEnding = true;
    this.#reportEnd();
    this.#isEnding = false;
    return this;
  }

  #finish(rest: Uint8Array | string, encoding: 'latin1'): void {
    if (rest.length > 0 && !this.#socket.destroyed) {
      if (typeof rest === 'string') this.#socket.write(rest, encoding);
      else this.#socket.write(rest);
    }
    this.#reportEnd();
  }

  /** Calls the connection, then the `close` listeners. */
  #reportEnd(): void {
    this.#connection.responseWritten();
    // As in Node, `close` comes after `end` returns and after the kernel has all bytes.
    if (this.#socket.writableLength > 0) this.#socket.write('', () => this.#emitClose());
    else if (this.#isEnding) process.nextTick(() => this.#emitClose());
    else this.#emitClose();
  }

  destroy(): this {
    this.#socket.destroy();
    return this;
  }

  /** Called when the client disconnects or is too slow, before the answer is complete. */
  clientLeft(): void {
    this.#hasLeft = true;
    if (!this.writableFinished) this.#emitClose();
  }

  /** Whether further writes are ignored. */
  #isFinished(): boolean {
    return this.writableFinished || this.#hasLeft || this.#socket.destroyed;
  }
}

/** Texts up to this length are written one byte at a time: a native call costs more. */
const SHORT_TEXT = 16;

/** Bytes between two texts in ASCII, in one piece. */
function framed(before: string, bytes: Uint8Array, after: string): Buffer {
  const whole = Buffer.allocUnsafe(before.length + bytes.length + after.length);
  writeText(whole, before, 0);
  whole.set(bytes, before.length);
  writeText(whole, after, before.length + bytes.length);
  return whole;
}

function writeText(target: Buffer, text: string, from: number): void {
  if (text.length > SHORT_TEXT) target.write(text, from, 'latin1');
  else for (let at = 0; at < text.length; at += 1) target[from + at] = text.charCodeAt(at);
}

/** The last chunks of an answer. A text of the fast path is Latin-1: each character is one byte. */
const framedText = (text: string): string =>
  text === '' ? LAST_CHUNK : `${text.length.toString(16)}\r\n${text}\r\n${LAST_CHUNK}`;
