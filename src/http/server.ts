import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { SMALL_BODY_MS } from '../../rest-shims/http/body.ts';
import type { Connections } from './connections.ts';
import { openHotLane } from './fast-path/fast-path.ts';

/** How long a client may take, in ms. */
interface EdgeLimits {
  /** From an answer to the next request on the same connection. */
  readonly keepAliveTimeout: number;
  /** To the end of a request's head. */
  readonly headersTimeout: number;
  /** To the end of a request's body; how long its answer takes is not counted. */
  readonly requestTimeout: number;
  /** The same for the small bodies of the hot lane. */
  readonly smallBodyTimeout: number;
  /** How often the last three are looked at. */
  readonly connectionsCheckingInterval: number;
}

const LIMITS: EdgeLimits = {
  // Longer than the 60 s of common load balancers, so that it is never we who close first.
  keepAliveTimeout: 72_000,
  headersTimeout: 30_000,
  requestTimeout: 300_000,
  smallBodyTimeout: SMALL_BODY_MS,
  connectionsCheckingInterval: 15_000,
};

/** Takes connections over that are to speak something else than HTTP. */
interface Upgrades {
  /** Whether a request is one of those; any other is served as if it had not offered to. */
  wants(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

interface EdgeOptions {
  readonly limits?: EdgeLimits;
  readonly hotPaths?: ReadonlySet<string>;
  readonly upgrades?: Upgrades;
  /** The header that carries the caller's key in the place of `Authorization`, in lower case; null or absent for that. */
  readonly keyHeader?: string | null;
  /** Limits the number of connections; without it there is no limit. */
  readonly connections?: Connections;
}

/**
 * The HTTP server, before it listens. A client that never ends its request is answered 408, or cut off. Requests to
 * `hotPaths` take the hot lane: they reach `serve` as `WholeRequest` and `Outgoing` (`rest-shims/http/outgoing.ts`).
 */
export function createEdge(
  serve: RequestListener,
  { limits = LIMITS, hotPaths = new Set(), upgrades, keyHeader = null, connections }: EdgeOptions = {},
): Server {
  /** Behind the edge a key is looked for in one place, whatever it is called before it. */
  function moveKey(request: IncomingMessage): void {
    if (keyHeader === null) return;
    const { authorization: _theirs, [keyHeader]: key, ...headers } = request.headers;
    const isOne = typeof key === 'string' && key !== '';
    Object.assign(request, { headers: isOne ? { ...headers, authorization: key } : headers });
  }
  function shouldUpgradeCallback(request: IncomingMessage): boolean {
    request.url = originForm(request.url ?? '/');
    if (upgrades?.wants(request) === true) moveKey(request);
    return upgrades?.wants(request) ?? false;
  }
  const server = createServer({ ...limits, shouldUpgradeCallback }, (request, response) => {
    request.url = originForm(request.url ?? '/');
    moveKey(request);
    serve(request, response);
  });
  if (upgrades !== undefined)
    server.on('upgrade', (request: IncomingMessage, socket, head) => upgrades.serve(request, socket, head));
  const lane = hotPaths.size === 0 ? null : openHotLane(server, hotPaths, limits);
  connections?.guard(server);
  if (lane === null) return server;
  const { closeIdleConnections, closeAllConnections } = server;
  return Object.assign(server, {
    closeIdleConnections() {
      lane.closeIdle();
      closeIdleConnections.call(server);
    },
    closeAllConnections() {
      lane.closeAll();
      closeAllConnections.call(server);
    },
  });
}

/** A target as proxies write it, `http://host/path`, without its scheme and host: there is one house behind this door. */
const originForm = (target: string): string =>
  target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');

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

/** The address a listening server is reached at. */
export function addressOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
