import type { IncomingHttpHeaders } from 'node:http';

/** Head of a request that the fast path serves. */
export interface RequestHead {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Size of the body that follows, in bytes. */
  readonly bodyLength: number;
}

/** Longest head, in bytes; longer ones go to Node. */
const HEAD_LIMIT = 16 * 1024;
/** Maximum number of lines of a head, with the request line. */
const LINES_LIMIT = 100;
const END_OF_HEAD = '\r\n\r\n';
const REQUEST_LINE = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
const LENGTH = /^(?:0|[1-9]\d{0,11})$/;
/** Headers that change the framing or the connection, and `origin`, which needs CORS. Requests with them go to Node. */
const NOT_SERVED_HERE = new Set([
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  'origin',
]);

/** Offset of the first byte after the head and its empty line; -1 when the head is not complete or too long. */
export function endOfHead(bytes: Buffer): number {
  const end = bytes.indexOf(END_OF_HEAD, 0, 'latin1');
  return end === -1 || end > HEAD_LIMIT ? -1 : end + END_OF_HEAD.length;
}

/**
 * Parses a head, its empty line included, in one unambiguous form: a POST to one of `paths` in ASCII with one host and
 * one length. No header occurs twice. There are no folded lines, no transfer coding and no upgrade. Returns null for
 * every other form, and Node's parser decides whether that is a request.
 */
export function readRequestHead(text: string, paths: Pick<ReadonlySet<string>, 'has'>): RequestHead | null {
  const lines = text.slice(0, -END_OF_HEAD.length).split('\r\n');
  const path = REQUEST_LINE.exec(lines[0] ?? '')?.[1];
  if (path === undefined || !paths.has(path) || lines.length > LINES_LIMIT) return null;
  const headers: Record<string, string> = {};
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    if (!TOKEN.test(name) || !VALUE.test(value)) return null;
    const lowerCaseName = name.toLowerCase();
    if (lowerCaseName in headers || NOT_SERVED_HERE.has(lowerCaseName)) return null;
    headers[lowerCaseName] = value.trim();
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers;
  if (host === undefined || connection.toLowerCase() !== 'keep-alive' || !LENGTH.test(length)) return null;
  return { path, headers: Object.freeze(headers), bodyLength: Number(length) };
}
