import type { LookupFunction } from 'node:net';
import type { HttpMethod } from '../../domain/http.ts';
import { misused } from './faults.ts';

/** Endpoint of a connection. */
export interface Peer {
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Resolves the host name; the system's resolver when absent. */
  readonly lookup?: LookupFunction;
}

/** A parsed address. */
export interface Address {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly peer: Peer;
  /** Whether a proxy must not be used, because it would bypass the lookup of the peer. */
  readonly direct?: boolean;
  /** Path and query. */
  readonly path: string;
  /** Request line, and the headers that the connection needs. */
  readonly head: string;
}

/** Printable ASCII without spaces. */
const PATH = /^\/[\x21-\x7e]*$/;
/** A header name. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** A header value: printable Latin-1 and tabs. Line ends are excluded, because they would begin another header. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the transfer and the connection. Requests may not have them: the client sets those that it needs. */
const TRANSFER_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Parses an address. Throws HttpFailure. */
export function readAddress(address: string, method: HttpMethod = 'POST'): Address {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw misused('its address is not an http or https URL');
  const path = url.pathname + url.search;
  if (!PATH.test(path)) throw misused('its address has characters that are not allowed in a request');
  const secure = url.protocol === 'https:';
  const defaultPort = secure ? 443 : 80;
  const port = url.port === '' ? defaultPort : Number(url.port);
  // IPv6 hosts have brackets in a URL, but not in a connection.
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    origin: url.origin,
    peer: { secure, hostname, port },
    path,
    head: `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`,
  };
}

/** Cache of header lines by frozen record: the headers of a deployment are sent with each of its calls. */
const frozenLines = new WeakMap<Readonly<Record<string, string>>, string>();

/** Header lines of a request head, cached for frozen records. Throws HttpFailure for a header that cannot be sent. */
export function headLines(headers: Readonly<Record<string, string>>): string {
  const cached = frozenLines.get(headers);
  if (cached !== undefined) return cached;
  const lines = checkedLines(headers);
  if (Object.isFrozen(headers)) frozenLines.set(headers, lines);
  return lines;
}

function checkedLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!TOKEN.test(name) || !VALUE.test(value) || TRANSFER_HEADERS.has(name.toLowerCase()))
      throw misused(`the header ${JSON.stringify(name)} cannot be sent`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
