import { EventEmitter } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivingRequest, Outgoing, WholeRequest } from '../../../rest-shims/helpers/http/outgoing.ts';
import { sendInTurn } from '../../runtime/tasks/write-coalescing.ts';

/** Chunks up to this size, in bytes, are copied between their frames: one write costs more than the copy. */
const SMALL_CHUNK = 16 * 1024;
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const LAST_CHUNK = '0\r\n\r\n';
const CLOSE_LINE = 'Connection: close\r\n';

let dateSecond = 0;
let dateLine = '';

/** The `Date` line of an answer, formatted once a second. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(second * 1_000).toUTCString()}\r\n`;
  }
  return dateLine;
}

function assertHeaderText(name: string, value: string): void {
  if (!HEADER_TEXT.test(value)) throw new TypeError(`Invalid characters in the header ${name}.`);
}

/** Called when the whole answer is written to the socket. */
type Ended = () => void;

/**
 * A response on a connection of the fast path: the part of Node's response that the transports use, in as few writes as
 * possible.
 */
export class FastResponse extends EventEmitter implements Outgoing {
  readonly req: WholeRequest | ArrivingRequest;
  readonly #socket: Socket;
  readonly #connectionLines: string;
  readonly #ended: Ended;
  /** Header lines of every answer, and those that `setHeader` added. */
  #early: string;
  readonly #values: Record<string, string> = {};
  /** Status line and headers, until they are written. */
  #head = '';
  #chunked = false;
  /** The connection closed before the answer was complete. */
  #gone = false;
  headersSent = false;
  statusCode = 0;
  writableFinished = false;
  shouldKeepAlive = true;
  /** The request body is not complete: an answer now closes the connection. */
  requestArriving = false;
  cut: ((failure: Error) => void) | null = null;

  constructor(
    request: WholeRequest | ArrivingRequest,
    connection: { readonly socket: Socket; readonly first: string; readonly lines: string; readonly ended: Ended },
  ) {
    super();
    this.req = request;
    this.#socket = connection.socket;
    this.#early = connection.first;
    this.#connectionLines = connection.lines;
    this.#ended = connection.ended;
  }

  get destroyed(): boolean {
    return (this.#gone || this.#socket.destroyed) && !this.writableFinished;
  }

  getHeader(name: string): string | undefined {
    return this.#values[name];
  }

  setHeader(name: string, value: string): this {
    assertHeaderText(name, value);
    this.#values[name] = value;
    this.#early += `${name}: ${value}\r\n`;
    return this;
  }

  writeHead(status: number, head: string[] | Record<string, string | number>): this {
    if (this.headersSent) throw new TypeError('The head of this answer is already written.');
    const lines = Array.isArray(head) ? head : Object.entries(head).flatMap(([name, value]) => [name, String(value)]);
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${this.#early}`;
    let framed = false;
    for (let at = 0; at < lines.length; at += 2) {
      const [name = '', value = ''] = [lines[at], lines[at + 1]];
      assertHeaderText(name, value);
      text += `${name}: ${value}\r\n`;
      framed ||= name === 'content-length' || name.toLowerCase() === 'content-length';
    }
    this.#chunked = !framed;
    if (this.requestArriving) this.shouldKeepAlive = false;
    const connection = this.shouldKeepAlive ? this.#connectionLines : CLOSE_LINE;
    this.#head = `${text}${dateNow()}${connection}${framed ? '' : 'Transfer-Encoding: chunked\r\n'}\r\n`;
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
    if (this.#over() || bytes.length === 0) return true;
    if (this.#head === '') return this.#writeChunk(bytes);
    if (bytes.length <= SMALL_CHUNK) {
      // One text is one write; a head and bytes are two.
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      const framed = this.#chunked ? `${bytes.length.toString(16)}\r\n${text}\r\n` : text;
      const first = this.#head + framed;
      this.#head = '';
      return this.#socket.write(first, 'latin1');
    }
    this.#socket.cork();
    this.flushHeaders();
    const more = this.#writeChunk(bytes);
    this.#socket.uncork();
    return more;
  }

  #writeChunk(bytes: Uint8Array): boolean {
    if (!this.#chunked) return this.#socket.write(bytes);
    const size = `${bytes.length.toString(16)}\r\n`;
    if (bytes.length > SMALL_CHUNK) {
      this.#socket.cork();
      this.#socket.write(size, 'latin1');
      this.#socket.write(bytes);
      const more = this.#socket.write('\r\n', 'latin1');
      this.#socket.uncork();
      return more;
    }
    const framed = Buffer.allocUnsafe(size.length + bytes.length + 2);
    framed.write(size, 0, 'latin1');
    framed.set(bytes, size.length);
    framed.write('\r\n', size.length + bytes.length, 'latin1');
    return this.#socket.write(framed);
  }

  end(body: Uint8Array | string = '', encoding: 'latin1' = 'latin1'): this {
    if (this.#over()) return this;
    if (typeof body === 'string') {
      const whole = this.#head + (this.#chunked ? this.#framedText(body) : body);
      const isFirst = this.#head === '';
      this.#head = '';
      this.writableFinished = true;
      if (isFirst) this.#finish(whole, encoding);
      else sendInTurn(() => this.#finish(whole, encoding));
      return this;
    }
    this.#socket.cork();
    this.write(body);
    this.flushHeaders();
    if (this.#chunked) this.#socket.write(LAST_CHUNK, 'latin1');
    this.#socket.uncork();
    this.writableFinished = true;
    this.#tellEnd();
    return this;
  }

  #finish(rest: string, encoding: 'latin1'): void {
    if (rest !== '' && !this.#socket.destroyed) this.#socket.write(rest, encoding);
    this.#tellEnd();
  }

  #tellEnd(): void {
    this.#ended();
    // As in Node, `close` comes after `end` returns and after the kernel has all bytes.
    if (this.#socket.writableLength > 0) this.#socket.write('', () => this.emit('close'));
    else if (this.listenerCount('close') > 0) process.nextTick(() => this.emit('close'));
  }

  destroy(): this {
    this.#socket.destroy();
    return this;
  }

  /** Called when the connection closes before the answer is complete. */
  left(): void {
    this.#gone = true;
    if (!this.writableFinished) this.emit('close');
  }

  #over(): boolean {
    return this.writableFinished || this.#gone || this.#socket.destroyed;
  }

  #framedText(text: string): string {
    return text === '' ? LAST_CHUNK : `${text.length.toString(16)}\r\n${text}\r\n${LAST_CHUNK}`;
  }
}
