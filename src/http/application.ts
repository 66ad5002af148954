import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { RequestCounter } from '../domain/gateway-activity/gateway-activity.ts';
import { createRestRouter, type RestRouterOptions } from '../../rest-shims/helpers/http/router.ts';
import type { Incoming, Outgoing } from '../../rest-shims/helpers/http/outgoing.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../../rest-shims/helpers/http/request-id.ts';
import type { Connections } from './connections.ts';
import { createDrain } from './drain.ts';
import { createKoaApp, type GraphEndpoints, SECURITY_HEADERS } from './koa-app.ts';
import { addressOf, createHttpServer, listen } from './server.ts';
import type { Upgrades } from './upgrades.ts';

export interface HttpApplicationOptions {
  readonly settings: HttpApplicationSettings;
  /** Route rows of the REST transport, and the parts that serve them. */
  readonly rest: RestRouterOptions;
  readonly graph: GraphEndpoints;
  readonly upgrades: Upgrades;
  readonly connections: Connections;
  /** Counts requests when they end, including refused and aborted ones. */
  readonly activity: RequestCounter;
  /** Called with failures of answers, as on a broken connection, and of middleware. */
  readonly failed: (error: Error) => void;
  /** Called with every error of a socket, for example because its bytes are not HTTP. */
  readonly socketFailed: (error: Error) => void;
}

interface HttpApplicationSettings {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** The header that carries the caller's key instead of `Authorization`, in lower case; null for `Authorization`. */
  readonly keyHeader: string | null;
  readonly corsOrigins: readonly string[];
  /** Serves hot paths without Koa (`src/http/fast-path/README.md`). */
  readonly fastPath: boolean;
}

/** Both transports on one HTTP server. */
export interface HttpApplication {
  /** Resolves to the address, for example `http://127.0.0.1:4000`, once the server listens. */
  listen(): Promise<string>;
  /** Number of requests that are not answered yet. */
  openRequests(): number;
  /** Closes the port. On open connections, refuses new requests, except probes and unknown paths. */
  beginShutdown(): void;
  /** Waits for open answers and sessions for at most `graceMs`, then closes every connection. */
  finishShutdown(graceMs: number): Promise<void>;
}

export function createHttpApplication(options: HttpApplicationOptions): HttpApplication {
  const { settings, upgrades, connections, activity, failed } = options;
  const rest = createRestRouter(options.rest);
  const server: Server = createHttpServer(serve, {
    hotPaths: settings.fastPath ? rest.hotPaths : new Set(),
    hotHeaders: SECURITY_HEADERS,
    upgrades,
    keyHeader: settings.keyHeader,
    connections,
  });
  server.on('connection', (socket) => socket.on('error', options.socketFailed));
  const drain = createDrain(rest.refuse);
  const koa = createKoaApp({ rest, graph: options.graph, corsOrigins: settings.corsOrigins, drain, failed });
  const serveKoa = koa.callback();

  /**
   * Counts a request once, when its answer is complete or the connection has closed. The request is open until then.
   */
  function trackRequest(request: Incoming, response: Outgoing): void {
    const route = activity.routeOf(request.method ?? 'GET', request.url ?? '/');
    const place = drain.add(request, response);
    response.on('close', () => {
      drain.remove(place);
      if (route !== null) activity.count(route, response.headersSent ? response.statusCode : 0);
    });
  }

  function serve(request: Incoming, response: Outgoing): void {
    trackRequest(request, response);
    // A request of Node's server has a response of Node. All others come from the fast path.
    if (request instanceof IncomingMessage) return void serveKoa(request, response as ServerResponse);
    response.setHeader(REQUEST_ID_HEADER, requestIdOf(request.headers));
    if (drain.refuseIfDraining(request, response)) return;
    rest.serveHot(request, response).catch((error: Error) => {
      failed(error);
      response.destroy();
    });
  }

  let closed: Promise<void> | null = null;
  return {
    async listen() {
      await listen(server, settings);
      upgrades.start();
      return addressOf(server, settings.host);
    },
    openRequests: drain.open,
    beginShutdown() {
      drain.begin();
      closed = new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
    async finishShutdown(graceMs) {
      server.closeIdleConnections();
      await Promise.all([drain.finish(graceMs), upgrades.drain(graceMs)]);
      server.closeAllConnections();
      await closed;
    },
  };
}
