import { endOfDigits, sizeIn, sizeOfDigits } from './chunk-size.ts';
import { MalformedResponse } from './faults.ts';

/** Maximum bytes of one head, and of the trailers after a chunked body. */
const HEAD_LIMIT = 16 * 1024;
/** Maximum bytes of a chunk size line, with its extensions. */
const LINE_LIMIT = 4 * 1024;
/** Maximum number of informational heads (1xx) before the answer. */
const INFORMATIONAL_LIMIT = 16;

/** Events of one answer, in this order; none after `ended`. */
export interface ResponseEvents {
  /** Lower-case names; repeated ones joined, hop-by-hop headers left out. */
  head(status: number, headers: Record<string, string>): void;
  /** Bytes of the body, a view of the input. */
  body(bytes: Buffer): void;
  /** How long the connection may stay idle, in ms; 0 when it may not be used again. */
  ended(keepAliveMs: number): void;
}

/** States of the parser. LENGTH is a body with Content-Length, UNTIL_CLOSE one that ends with the connection. */
const IDLE = 0;
const HEAD = 1;
const LENGTH = 2;
const UNTIL_CLOSE = 3;
const CHUNK_SIZE = 4;
const CHUNK = 5;
const CHUNK_END = 6;
const TRAILERS = 7;

const NO_BYTES = Buffer.alloc(0);
const PROTOCOL = 'HTTP/1.';
const CRLF = '\r\n';
const CR = 0x0d;
const LF = 0x0a;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/** Control characters, and line ends other than CR LF: another parser could find different headers in them. */
// oxlint-disable-next-line no-control-regex -- control characters are what this pattern finds.
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const NOT_ASCII = /[\x80-\xff]/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** At most 15 digits, which a number holds exactly. */
const DIGITS = /^\d{1,15}$/;
/** The `close` option of a Connection header in lower case. */
const CLOSE_OPTION = /(?:^|,)\s*close\s*(?:,|$)/;
/** The `keep-alive` option of a Connection header in lower case. */
const KEEP_ALIVE_OPTION = /(?:^|,)\s*keep-alive\s*(?:,|$)/;
/** Timeout of a Keep-Alive header. */
const KEEP_ALIVE_SECONDS = /(?:^|[,\s])timeout=(\d{1,6})/i;

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Idle time of a connection without a Keep-Alive header, in ms: shorter than the idle timeout of common servers. */
const KEEP_ALIVE_MS = 4_000;
/** Time before the Keep-Alive timeout of the upstream at which an idle connection is closed, in ms. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
/** Maximum idle time of a connection with a Keep-Alive header, in ms. */
const KEEP_ALIVE_MAX_MS = 600_000;

/** Cache of header names to lower-case names. Upstreams use few, so almost every look-up is a hit. */
const headerNames = new Map<string, string>();
const HEADER_NAMES_LIMIT = 1_000;

function nameOf(raw: string): string {
  const known = headerNames.get(raw);
  if (known !== undefined) return known;
  if (!TOKEN.test(raw)) throw new MalformedResponse('HEADER_NAME');
  const name = raw.toLowerCase();
  if (headerNames.size < HEADER_NAMES_LIMIT) headerNames.set(raw, name);
  return name;
}

/**
 * Converts headers of another parser to the form of this one. Throws MalformedResponse for input that the other parser
 * may accept and this one refuses. Such input has control characters, line ends in a value, or a transfer coding other
 * than `chunked`.
 */
export function headersOf(received: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value = ''] of Object.entries(received)) {
    const latin1 = typeof value === 'string' ? value : value.join(', ');
    if (FORBIDDEN.test(latin1) || latin1.includes('\n')) throw new MalformedResponse('HEAD_CHARACTER');
    if (name === 'transfer-encoding' && latin1.toLowerCase() !== 'chunked')
      throw new MalformedResponse('TRANSFER_ENCODING');
    if (HOP_BY_HOP.has(name)) continue;
    headers[name] = NOT_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1;
  }
  return headers;
}

/**
 * Strict parser of the answers on one connection. Ambiguous input (Content-Length with chunks, two lengths, a bare line
 * feed, a folded line, unexpected bytes) is an error. Takes all bytes in order. Throws MalformedResponse, and cannot be
 * used after that.
 */
export class ResponseParser {
  readonly #events: ResponseEvents;
  #state = IDLE;
  /** Bytes of an incomplete head or line. */
  #incomplete: Buffer = NO_BYTES;
  /** Bytes of the body or chunk still to come. */
  #bytesLeft = 0;
  #informational = 0;
  #trailerBytes = 0;
  #keepAliveMs = 0;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** A request was sent: an answer is expected. */
  expect(): void {
    this.#state = HEAD;
    this.#informational = 0;
    this.#trailerBytes = 0;
  }

  execute(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#step(chunk, at);
  }

  /** The upstream has closed its side. Throws when an answer is incomplete. */
  finish(): void {
    if (this.#state === UNTIL_CLOSE) return this.#end(0);
    if (this.#state !== IDLE) throw new MalformedResponse('CLOSED_EARLY');
  }

  /** Reads on from `at`; returns the next position. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case HEAD:
        return this.#readHead(chunk, at);
      case LENGTH:
      case CHUNK:
        return this.#readCounted(chunk, at);
      case UNTIL_CLOSE:
        this.#events.body(at === 0 ? chunk : chunk.subarray(at));
        return chunk.length;
      case CHUNK_SIZE:
      case CHUNK_END:
        return this.#readChunkLine(chunk, at);
      case TRAILERS:
        return this.#readLine(chunk, at);
      default:
        throw new MalformedResponse('UNEXPECTED_BYTES');
    }
  }

  #readCounted(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#bytesLeft);
    this.#bytesLeft -= end - at;
    const whole = this.#bytesLeft === 0;
    if (whole && this.#state === CHUNK) this.#state = CHUNK_END;
    this.#events.body(chunk.subarray(at, end));
    if (whole && this.#state === LENGTH) this.#end(this.#keepAliveMs);
    return end;
  }

  /**
   * Text up to an end mark, and the position after the mark in `chunk`. Null while the mark has not arrived: then the
   * bytes are buffered.
   */
  #readUntil(
    end: string,
    limit: number,
    chunk: Buffer,
    at: number,
  ): { readonly text: string; readonly next: number } | null {
    const buffered = this.#incomplete.length;
    const bytes = buffered === 0 ? chunk : Buffer.concat([this.#incomplete, chunk.subarray(at)]);
    const from = buffered === 0 ? at : 0;
    // The end mark may have started in the buffered bytes.
    const found = bytes.indexOf(end, Math.max(from, buffered - end.length), 'latin1');
    const textEnd = found === -1 ? bytes.length : found;
    if (textEnd - from > limit) throw new MalformedResponse('OVERFLOW');
    if (found === -1) {
      this.#incomplete = buffered === 0 ? Buffer.from(bytes.subarray(from)) : bytes;
      return null;
    }
    this.#incomplete = NO_BYTES;
    const nextInBytes = found + end.length;
    const next = buffered === 0 ? nextInBytes : at + nextInBytes - buffered;
    return { text: bytes.toString('latin1', from, found), next };
  }

  #readHead(chunk: Buffer, at: number): number {
    const read = this.#readUntil('\r\n\r\n', HEAD_LIMIT, chunk, at);
    if (read === null) {
      // Fails early when the bytes cannot be the start of an answer.
      if (!PROTOCOL.startsWith(this.#incomplete.toString('latin1', 0, PROTOCOL.length)))
        throw new MalformedResponse('STATUS_LINE');
      return chunk.length;
    }
    this.#takeHead(read.text);
    return read.next;
  }

  #takeHead(latin1: string): void {
    if (FORBIDDEN.test(latin1)) throw new MalformedResponse('HEAD_CHARACTER');
    const text = NOT_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString('utf8') : latin1;
    const statusEnd = text.indexOf(CRLF);
    const match = STATUS_LINE.exec(statusEnd === -1 ? text : text.slice(0, statusEnd));
    if (match === null) throw new MalformedResponse('STATUS_LINE');
    const status = Number(match[2]);
    const headers = new Headers();
    let lineEnd = statusEnd;
    while (lineEnd !== -1) {
      const start = lineEnd + CRLF.length;
      lineEnd = text.indexOf(CRLF, start);
      headers.add(text, start, lineEnd === -1 ? text.length : lineEnd);
    }
    if (status < 200) {
      this.#informational += 1;
      // 101 changes the protocol, which was not requested.
      if (status === 101 || this.#informational > INFORMATIONAL_LIMIT) throw new MalformedResponse('INFORMATIONAL');
      return;
    }
    const isHttp11 = match[1] === '1';
    this.#keepAliveMs = headers.keepAliveMs(isHttp11);
    this.#beginBody(status, headers, isHttp11);
  }

  #beginBody(status: number, headers: Headers, isHttp11: boolean): void {
    const { length, coding, endToEnd } = headers;
    if (coding !== null && (length !== null || !isHttp11 || coding.toLowerCase() !== 'chunked'))
      throw new MalformedResponse('TRANSFER_ENCODING');
    const bodiless = status === 204 || status === 304;
    if (bodiless || length === 0) {
      this.#events.head(status, endToEnd);
      return this.#end(this.#keepAliveMs);
    }
    this.#bytesLeft = length ?? 0;
    if (coding !== null) this.#state = CHUNK_SIZE;
    else this.#state = length === null ? UNTIL_CLOSE : LENGTH;
    this.#events.head(status, endToEnd);
  }

  /** Reads a line of a chunked body. Most are in one read and have no extensions: they need no conversion to text. */
  #readChunkLine(chunk: Buffer, at: number): number {
    const isSize = this.#state === CHUNK_SIZE;
    const end = isSize ? endOfDigits(chunk, at) : at;
    const hasDigits = end > at;
    const isPlain = hasDigits === isSize && chunk[end] === CR && chunk[end + 1] === LF;
    if (!isPlain || this.#incomplete.length > 0) return this.#readLine(chunk, at);
    if (isSize) this.#beginChunk(sizeOfDigits(chunk, at, end));
    else this.#state = CHUNK_SIZE;
    return end + CRLF.length;
  }

  #readLine(chunk: Buffer, at: number): number {
    const read = this.#readUntil(CRLF, this.#state === TRAILERS ? HEAD_LIMIT : LINE_LIMIT, chunk, at);
    if (read === null) return chunk.length;
    const { text, next } = read;
    if (this.#state === CHUNK_END) {
      if (text !== '') throw new MalformedResponse('CHUNK_END');
      this.#state = CHUNK_SIZE;
    } else if (this.#state === CHUNK_SIZE) this.#beginChunk(sizeIn(text));
    else this.#takeTrailer(text);
    return next;
  }

  #beginChunk(size: number): void {
    this.#bytesLeft = size;
    this.#state = size === 0 ? TRAILERS : CHUNK;
  }

  /** Checks a line of the trailers. Their values are not used. */
  #takeTrailer(line: string): void {
    if (line === '') return this.#end(this.#keepAliveMs);
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > HEAD_LIMIT) throw new MalformedResponse('OVERFLOW');
    if (FORBIDDEN.test(line)) throw new MalformedResponse('TRAILER');
    new Headers().add(line, 0, line.length);
  }

  #end(keepAliveMs: number): void {
    this.#state = IDLE;
    this.#events.ended(keepAliveMs);
  }
}

/** The headers of one answer as they are read. */
class Headers {
  readonly endToEnd: Record<string, string> = {};
  /** Content-Length; null when there is none. */
  length: number | null = null;
  /** Transfer-Encoding, unchanged; null when there is none. */
  coding: string | null = null;
  #connection = '';
  #keepAlive = '';

  /** Reads one line of `text`. */
  add(text: string, from: number, to: number): void {
    const colon = text.indexOf(':', from);
    if (colon === -1 || colon >= to) throw new MalformedResponse('HEADER');
    const name = nameOf(text.slice(from, colon));
    const value = trimmed(text, colon + 1, to);
    if (name === 'content-length') {
      if (this.length !== null || !DIGITS.test(value)) throw new MalformedResponse('CONTENT_LENGTH');
      this.length = Number(value);
    } else if (HOP_BY_HOP.has(name)) {
      if (name === 'connection') this.#connection += `,${value.toLowerCase()}`;
      else if (name === 'keep-alive') this.#keepAlive = value;
      else if (name === 'transfer-encoding') this.coding = this.coding === null ? value : `${this.coding}, ${value}`;
      return;
    }
    this.endToEnd[name] = Object.hasOwn(this.endToEnd, name) ? `${this.endToEnd[name]}, ${value}` : value;
  }

  keepAliveMs(isHttp11: boolean): number {
    const isPersistent = isHttp11 || KEEP_ALIVE_OPTION.test(this.#connection);
    if (!isPersistent || CLOSE_OPTION.test(this.#connection)) return 0;
    const seconds = this.#keepAlive === '' ? undefined : KEEP_ALIVE_SECONDS.exec(this.#keepAlive)?.[1];
    if (seconds === undefined) return KEEP_ALIVE_MS;
    return Math.min(KEEP_ALIVE_MAX_MS, Math.max(0, Number(seconds) * 1_000 - KEEP_ALIVE_MARGIN_MS));
  }
}

/** The text between two positions, without surrounding spaces and tabs. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09;
