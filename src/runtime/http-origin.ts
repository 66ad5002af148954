import type { HttpMethod } from '../domain/http.ts';
import { Connection, type Order, type Peer } from './http-connection.ts';
import { misused } from './http-faults.ts';

/** How often connections are looked at that may have waited too long. */
const WATCH_MS = 250;

/** The connections to one origin: few enough, open as long as they are of use. */
export class Origin {
  readonly #peer: Peer;
  readonly #limit: number;
  readonly silenceMs: number;
  readonly #open = new Set<Connection>();
  /** Connections without a call; the last that became free is used first, so that the rest can be let go. */
  readonly #idle: Connection[] = [];
  #queue: Order[] = [];
  #watch: NodeJS.Timeout | null = null;
  #emptied: (() => void) | null = null;

  /** `limit` is the most connections; calls beyond it wait. */
  constructor(peer: Peer, options: { readonly limit: number; readonly silenceMs: number }) {
    this.#peer = peer;
    this.#limit = options.limit;
    this.silenceMs = options.silenceMs;
  }

  /** No connection is open and no call waits for one. */
  get unused(): boolean {
    return this.#open.size === 0;
  }

  send(order: Order): void {
    const idle = this.#idle.pop();
    if (idle !== undefined) idle.send(order);
    else if (this.#open.size < this.#limit) this.#connect().send(order);
    else this.#queue.push(order);
  }

  free(connection: Connection): void {
    if (!this.#open.has(connection)) return;
    const next = this.#next();
    if (next !== undefined) return connection.send(next);
    this.#idle.push(connection);
    if (this.#emptied !== null) connection.abort();
  }

  gone(connection: Connection): void {
    this.#open.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place !== -1) this.#idle.splice(place, 1);
    const next = this.#next();
    if (next !== undefined) return this.#connect().send(next);
    if (this.#open.size > 0) return;
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
    this.#emptied?.();
  }

  /** Resolves when calls under way and waiting have ended and every connection is closed. */
  async close(): Promise<void> {
    if (this.#open.size === 0) return;
    const emptied = new Promise<void>((resolve) => {
      this.#emptied = resolve;
    });
    for (const connection of this.#idle.splice(0)) connection.abort();
    await emptied;
  }

  #connect(): Connection {
    const connection = new Connection(this.#peer, this);
    this.#open.add(connection);
    this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
    return connection;
  }

  #look(): void {
    const nowMs = performance.now();
    for (const connection of this.#open) connection.checkDeadline(nowMs);
  }

  /** The call that has waited longest and is still wanted. */
  #next(): Order | undefined {
    for (let order = this.#queue.shift(); order !== undefined; order = this.#queue.shift()) {
      if (!order.call.over) return order;
    }
    return undefined;
  }
}

/** What of an address is the same for every call of it. */
export interface Target {
  readonly origin: Origin;
  /** Request line and the headers that the connection needs. */
  readonly head: string;
}

const PATH = /^\/[\x21-\x7e]*$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers about how a request is carried are ours to write. */
const CARRIAGE = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** The peer behind an address, its origin as a name, and the request line. Throws HttpFailure. */
export function readAddress(
  address: string,
  method: HttpMethod = 'POST',
): { readonly name: string; readonly peer: Peer; readonly head: string } {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw misused('its address is no http or https URL');
  const path = url.pathname + url.search;
  if (!PATH.test(path)) throw misused('its address holds characters no request can');
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    name: url.origin,
    peer: { secure, hostname, port },
    head: `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`,
  };
}

/** Headers as lines of a head. Throws HttpFailure for one that cannot be sent. */
export function headLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!TOKEN.test(name) || !VALUE.test(value) || CARRIAGE.has(name.toLowerCase()))
      throw misused(`the header ${JSON.stringify(name)} cannot be sent`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
