import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { renderError } from '../../rest-shims/errors.ts';
import type { ConnectionCounts, RefusedFor } from '../domain/metrics.ts';
import { Unavailable } from '../domain/errors.ts';

/** The limit of connections and how connections are counted. */
export interface ConnectionLimits {
  /** Maximum open connections; 0 for no limit. */
  readonly maxOpen: number;
  /** The network of a peer; null for a trusted proxy, whose connections belong to many clients. */
  readonly networkOf: (peer: string | undefined) => string | null;
  /** Called for every refused connection. */
  readonly refused: (reason: RefusedFor, network: string | null) => void;
}

/** Counts the connections of a server and refuses those beyond its limits. */
export interface Connections {
  /** Limits a server. The `connection` listeners that it has so far are called for admitted connections only. */
  guard(server: Server): void;
  /** Called after a request with a known key. Its connection no longer counts towards the share of its network. */
  authenticated(socket: object): void;
  counts(): ConnectionCounts;
}

/** Maximum number of connections that wait for a 503. More are closed without an answer. */
const MAX_REFUSALS = 100;
/** Maximum time that a refused client may take to read its answer, in ms. */
const REFUSAL_MS = 1_000;
/** Time in seconds after which a refused client may try again. */
const RETRY_AFTER_SECONDS = 1;
/** The share of a network is checked from this fraction of `maxOpen` on. */
const CHECK_SHARE_FROM = 1 / 2;
/** While shares are checked: fraction of `maxOpen` that one network may have without a known key. */
const NETWORK_SHARE = 1 / 4;

export function createConnections({ maxOpen, networkOf, refused }: ConnectionLimits): Connections {
  /** Network of each admitted connection that has had no request with a known key. */
  const unauthenticated = new Map<object, string | null>();
  const perNetwork = new Map<string, number>();
  const refusedCounts: Record<RefusedFor, number> = { total: 0, network: 0 };
  let open = 0;
  let refusing = 0;

  function count(network: string | null, by: 1 | -1): void {
    if (network === null) return;
    const total = (perNetwork.get(network) ?? 0) + by;
    if (total === 0) perNetwork.delete(network);
    else perNetwork.set(network, total);
  }

  /** Reason to refuse a connection; null admits it. */
  function refusalOf(network: string | null): RefusedFor | null {
    if (maxOpen === 0) return null;
    if (open >= maxOpen) return 'total';
    if (network === null || open < maxOpen * CHECK_SHARE_FROM) return null;
    const networkLimit = Math.max(1, Math.floor(maxOpen * NETWORK_SHARE));
    return (perNetwork.get(network) ?? 0) >= networkLimit ? 'network' : null;
  }

  function authenticated(socket: object): void {
    const network = unauthenticated.get(socket);
    if (network === undefined) return;
    unauthenticated.delete(socket);
    count(network, -1);
  }

  function refuse(socket: Socket): void {
    if (refusing >= MAX_REFUSALS) {
      socket.destroy();
      return;
    }
    refusing += 1;
    socket.once('close', () => {
      refusing -= 1;
    });
    answerRefusal(socket);
  }

  /** Counts a connection, or refuses it. Returns whether it is admitted. */
  function admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress);
    const reason = refusalOf(network);
    if (reason !== null) {
      refusedCounts[reason] += 1;
      refused(reason, network);
      refuse(socket);
      return false;
    }
    open += 1;
    unauthenticated.set(socket, network);
    count(network, 1);
    socket.once('close', () => {
      open -= 1;
      authenticated(socket);
    });
    return true;
  }

  return {
    guard(server) {
      const listeners = server.listeners('connection') as ((socket: Socket) => void)[];
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => {
        if (!admit(socket)) return;
        for (const listener of listeners) listener.call(server, socket);
      });
    },
    authenticated,
    counts: () => ({ open, refused: { ...refusedCounts } }),
  };
}

/** Answers 503 and closes. No dialect is known yet, so the body has the form of the proxy's surface. */
function answerRefusal(socket: Socket): void {
  const failure = new Unavailable('Too many connections.', RETRY_AFTER_SECONDS);
  const { status, headers, contentType, body } = renderError('proxy', failure, {});
  const fields = { ...headers, 'content-type': contentType, 'content-length': body.length, connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const closeTimer = setTimeout(() => socket.destroy(), REFUSAL_MS);
  socket.once('close', () => clearTimeout(closeTimer)).on('error', () => {});
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${Buffer.from(body).toString('utf8')}`,
  );
  // Unread bytes would reset the connection before the client has read the answer.
  socket.resume();
}
