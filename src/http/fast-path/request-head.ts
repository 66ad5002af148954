import type { IncomingHttpHeaders } from 'node:http';

/** A head of a request that the hot lane serves itself. */
export interface HotHead {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes of the body that follows. */
  readonly length: number;
}

/** Bytes of a head; a longer one is Node's to judge. */
const HEAD_LIMIT = 16 * 1024;
const HEADERS_LIMIT = 100;
const REQUEST_LINE = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
const LENGTH = /^(?:0|[1-9]\d{0,11})$/;
/** What changes how a request is framed or what becomes of its connection. */
const NOT_OURS = new Set(['transfer-encoding', 'upgrade', 'expect', 'te', 'trailer', 'keep-alive', 'proxy-connection']);

/** Where the head at the start of these bytes ends, after its empty line; -1 when its end has not come. */
export function endOfHead(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  return end === -1 || end > HEAD_LIMIT ? -1 : end + 4;
}

/**
 * Reads a head, its empty line included, in the one form in which nothing can be understood in two ways: a POST to one
 * of `paths`, no name twice, one host, one length, nothing folded, nothing beyond ASCII, no coding, no upgrade. Null
 * for any other: whether that is a request at all is for Node's parser to say.
 */
export function readHotHead(text: string, paths: ReadonlySet<string>): HotHead | null {
  const lines = text.slice(0, -4).split('\r\n');
  const path = REQUEST_LINE.exec(lines[0] ?? '')?.[1];
  if (path === undefined || !paths.has(path) || lines.length > HEADERS_LIMIT) return null;
  const headers: Record<string, string> = {};
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    if (!TOKEN.test(name) || !VALUE.test(value)) return null;
    const known = name.toLowerCase();
    if (known in headers || NOT_OURS.has(known)) return null;
    headers[known] = value.trim();
  }
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers;
  if (host === undefined || connection.toLowerCase() !== 'keep-alive' || !LENGTH.test(length)) return null;
  return { path, headers: Object.freeze(headers), length: Number(length) };
}
