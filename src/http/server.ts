import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { SMALL_BODY_TIMEOUT_MS } from '../../rest-shims/helpers/http/body.ts';
import type { Incoming, Outgoing } from '../../rest-shims/helpers/http/outgoing.ts';
import type { Connections } from './connections.ts';
import { openFastPath } from './fast-path/fast-path.ts';

/** How long a client may take, in ms. */
interface Timeouts {
  /** From an answer to the next request on the same connection. */
  readonly keepAliveTimeout: number;
  /** To the end of a request's head. */
  readonly headersTimeout: number;
  /** To the end of a request's body. The time to answer the request does not count. */
  readonly requestTimeout: number;
  /** To the end of a small body on the fast path. */
  readonly smallBodyTimeout: number;
  /** Interval at which the other timeouts are checked, except `keepAliveTimeout` in Node's server. */
  readonly connectionsCheckingInterval: number;
}

const TIMEOUTS: Timeouts = {
  // Longer than the 60 s of common load balancers, so that the load balancer closes the connection first.
  keepAliveTimeout: 72_000,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  smallBodyTimeout: SMALL_BODY_TIMEOUT_MS,
  connectionsCheckingInterval: 15_000,
};

/** Serves requests that change their connection to another protocol. */
interface Upgrades {
  /** Whether a request changes its connection. Any other request is served as if it offered no upgrade. */
  wants(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

interface HttpServerOptions {
  readonly timeouts?: Timeouts;
  readonly hotPaths?: Pick<ReadonlySet<string>, 'has' | 'size'>;
  /** Headers of every answer of the fast path. */
  readonly hotHeaders?: readonly (readonly [name: string, value: string])[];
  readonly upgrades?: Upgrades;
  /** The header that carries the caller's key, in lower case; null or absent for `Authorization`. */
  readonly keyHeader?: string | null;
  /** Limits the number of connections; without it there is no limit. */
  readonly connections?: Connections;
}

/**
 * The HTTP server, before it listens. A request that does not end in time is answered 408, or its connection is closed.
 * Plain POST requests to `hotPaths` take the fast path: `serve` gets them as `WholeRequest` or `ArrivingRequest`
 * (`rest-shims/helpers/http/outgoing.ts`), all others as Node's `IncomingMessage`.
 */
export function createHttpServer(
  serve: (request: Incoming, response: Outgoing) => void,
  {
    timeouts = TIMEOUTS,
    hotPaths = new Set(),
    hotHeaders = [],
    upgrades,
    keyHeader = null,
    connections,
  }: HttpServerOptions = {},
): Server {
  /** Moves the key from `keyHeader` to `Authorization`, where the transports read it. */
  function moveKey(request: IncomingMessage): void {
    if (keyHeader === null) return;
    const { authorization: _ignored, [keyHeader]: key, ...headers } = request.headers;
    const hasKey = typeof key === 'string' && key !== '';
    Object.assign(request, { headers: hasKey ? { ...headers, authorization: key } : headers });
  }
  function shouldUpgradeCallback(request: IncomingMessage): boolean {
    request.url = originForm(request.url ?? '/');
    const isUpgrade = upgrades?.wants(request) ?? false;
    if (isUpgrade) moveKey(request);
    return isUpgrade;
  }
  const server = createServer({ ...timeouts, shouldUpgradeCallback }, (request, response) => {
    request.url = originForm(request.url ?? '/');
    moveKey(request);
    serve(request, response);
  });
  if (upgrades !== undefined)
    server.on('upgrade', (request: IncomingMessage, socket, head) => upgrades.serve(request, socket, head));
  const fastPath =
    hotPaths.size === 0 ? null : openFastPath(server, { paths: hotPaths, headers: hotHeaders, timeouts });
  connections?.guard(server);
  if (fastPath === null) return server;
  const { closeIdleConnections, closeAllConnections } = server;
  return Object.assign(server, {
    closeIdleConnections() {
      fastPath.closeIdle();
      closeIdleConnections.call(server);
    },
    closeAllConnections() {
      fastPath.closeAll();
      closeAllConnections.call(server);
    },
  });
}

/** Path and query of a request target, which may be in absolute form (`http://host/path`). Starts with a slash. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Resolves when the server listens. */
export function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The URL of a listening server. */
export function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const urlHost = host.includes(':') ? `[${host}]` : host;
  return `http://${urlHost}:${port}`;
}
