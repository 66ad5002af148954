import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureHeaders } from '../../rest-shims/helpers/http/failure-headers.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../../rest-shims/helpers/http/request-id.ts';
import { assertHandshake } from '../../rest-shims/helpers/http/handshake.ts';
import { type RenderedError, renderError } from '../../rest-shims/errors.ts';
import type { RequestFailure } from '../../rest-shims/helpers/http/row-server.ts';
import { groupsOf } from '../../rest-shims/helpers/http/route-groups.ts';
import type { RouteFacts } from '../../rest-shims/helpers/http/route.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, Unavailable } from '../domain/errors.ts';
import { assertRoute } from '../domain/keys/route-rights.ts';
import type { OpenSocket } from '../domain/realtime/sockets.ts';
import type { ScheduledTask, Scheduler } from '../domain/scheduler.ts';
import type { Secret } from '../domain/secret.ts';
import type { SocketServer } from '../runtime/network/web-sockets.ts';
import { ClientDisconnected } from './request-scopes.ts';

/** The session that an accepted WebSocket is joined to. */
interface OpenedSession {
  /** Headers of the 101 answer. */
  readonly answerHeaders: Readonly<Record<string, string>>;
  join(socket: OpenSocket): void;
  /** Ends the session of a client that disconnected before `join`. */
  abandon(): void;
}

/** A path whose requests open WebSockets. */
interface UpgradePath {
  readonly row: RouteFacts;
  /** Maximum bytes of a message of a client; the setting of the server when absent. */
  readonly maxMessageBytes?: number;
  /**
   * Whether the paths also have rows of other methods. These are served over HTTP, whatever upgrade a request offers.
   */
  readonly servesOtherMethods: boolean;
  /** Chooses one of the offered subprotocols; null chooses none. */
  protocol(request: IncomingMessage): string | null;
}

/** A path whose caller is identified before the session opens. */
export interface IdentifiedRoute extends UpgradePath {
  /** The credential of a request. Throws Unauthenticated. */
  credential(request: IncomingMessage): Secret;
  /** Opens the session. The signal fires when the client disconnects before the session is open. */
  open(caller: Caller, upgrade: UpgradeRequest): OpenedSession | Promise<OpenedSession>;
}

/** A path whose caller is identified by the protocol of the session. */
export interface OpenRoute extends UpgradePath {
  readonly credential: null;
  open(upgrade: UpgradeRequest): OpenedSession | Promise<OpenedSession>;
}

type UpgradeRoute = IdentifiedRoute | OpenRoute;

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** Open sessions of one kind. */
interface Sessions {
  /** Checks every session, e.g. its key and timeouts. Called periodically. */
  runChecks(): void;
  /** Starts no new work in open sessions, where the protocol allows it. */
  retire?(): void;
  /** Resolves when no session is open. */
  ended(): Promise<void>;
  endAll(): void;
}

export interface UpgradeOptions {
  /** The caller of a key. Throws as `KeyRing.identify`, and Forbidden for an address that may not call. */
  readonly identify: (key: string, request: IncomingMessage) => Caller | Promise<Caller>;
  readonly sockets: SocketServer;
  readonly routes: readonly UpgradeRoute[];
  readonly sessions: readonly Sessions[];
  readonly scheduler: Scheduler;
  /** Whether the process is shutting down. */
  readonly draining: () => boolean;
  /** Called once for every failure. */
  readonly failed: (failure: RequestFailure) => void;
  /** Maximum bytes of a message of a client. */
  readonly maxMessageBytes: number;
}

/** Serves requests that open a WebSocket. */
export interface Upgrades {
  /** Whether a request opens a WebSocket of a known path; any other is served as if it offered no upgrade. */
  wants(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Starts the interval checks of open sessions. */
  start(): void;
  /** Waits at most `graceMs` for open sessions, then ends them. Resolves when none is open. */
  drain(graceMs: number): Promise<void>;
}

/** An upgrade request and its connection. */
interface UpgradeExchange {
  readonly request: IncomingMessage;
  readonly requestId: string;
  readonly socket: Duplex;
  /** Bytes that arrived after the request's own head. Node calls them `head`. */
  readonly head: Buffer;
}

/**
 * Interval of session checks, in ms. The key ring re-reads used keys every 1.5 s. So a revoked key ends its sessions
 * within 5 s.
 */
const CHECK_MS = 1_500;

/** Opens WebSockets: identify the caller, open the session, accept the client, join both. Refusals are HTTP answers. */
export function createUpgrades(options: UpgradeOptions): Upgrades {
  const { identify, sockets, sessions, scheduler, draining, maxMessageBytes } = options;
  const routes = new Map(options.routes.flatMap((route) => route.row.paths.map((path) => [path, route] as const)));
  let checking: ScheduledTask | null = null;

  async function connect(
    route: UpgradeRoute,
    open: (upgrade: UpgradeRequest) => OpenedSession | Promise<OpenedSession>,
    { request, requestId, socket, head }: UpgradeExchange,
    watch: ClientWatch,
  ): Promise<void> {
    assertHandshake(pathName(route.row), request.method, request.headers);
    if (draining()) throw new Unavailable('The process is shutting down.');
    const opened = await open({ request, requestId, signal: watch.signal });
    watch.done();
    const acceptance = {
      headers: { [REQUEST_ID_HEADER]: requestId, ...opened.answerHeaders },
      protocol: route.protocol(request),
      maxMessageBytes: route.maxMessageBytes ?? maxMessageBytes,
    };
    let client: OpenSocket | null;
    try {
      client = await sockets.accept(request, socket, head, acceptance);
    } catch (error) {
      opened.abandon();
      throw error;
    }
    if (client === null) opened.abandon();
    else opened.join(client);
  }

  async function serve(route: UpgradeRoute, exchange: UpgradeExchange): Promise<void> {
    const { request, requestId, socket } = exchange;
    const { headers } = request;
    const { row } = route;
    const watch = watchClient(socket);
    let caller: Caller | null = null;
    try {
      if (route.credential === null) return await connect(route, route.open, exchange, watch);
      const known = await identify(route.credential(request).reveal(), request);
      caller = known;
      assertRoute(known.key, { path: pathOf(request), groups: groupsOf(row) });
      await connect(route, (upgrade) => route.open(known, upgrade), exchange, watch);
    } catch (error) {
      watch.done();
      if (watch.signal.aborted || socket.destroyed) return void socket.destroy();
      const rendered = renderError(row.surface, error instanceof DomainError ? error : null, headers);
      options.failed({ row, status: rendered.status, error, requestId });
      const ownHeaders = failureHeaders(row, { error, headers, caller });
      refuse(socket, rendered.status, { [REQUEST_ID_HEADER]: requestId, ...ownHeaders, ...rendered.headers }, rendered);
    }
  }

  return {
    wants(request) {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
      const route = routes.get(pathOf(request));
      return route !== undefined && (request.method === 'GET' || !route.servesOtherMethods);
    },
    serve(request, socket, head) {
      const route = routes.get(pathOf(request));
      if (route === undefined) socket.destroy();
      else void serve(route, { request, requestId: requestIdOf(request.headers), socket, head });
    },
    start() {
      checking = scheduler.every({
        name: 'session-checks',
        everyMs: CHECK_MS,
        run() {
          for (const each of sessions) each.runChecks();
        },
      });
    },
    async drain(graceMs) {
      for (const each of sessions) each.retire?.();
      const deadline = setTimeout(() => {
        for (const each of sessions) each.endAll();
      }, graceMs);
      await Promise.all(sessions.map((each) => each.ended()));
      clearTimeout(deadline);
      void checking?.stop();
    },
  };
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** The path in error texts, without `/v1`. */
const pathName = ({ paths: [first] }: RouteFacts): string => first.replace(/^\/v1/, '');

/** Raw query text of a request, without the question mark. */
export function searchOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

/** A watch that fires `signal` when the client disconnects. */
interface ClientWatch {
  readonly signal: AbortSignal;
  /** Stops watching. */
  done(): void;
}

/**
 * Watches a client until it is answered. A socket reports its end only while it is read, so it is read as long as its
 * buffer is empty. Bytes that the client sends early stay in the buffer.
 */
function watchClient(socket: Duplex): ClientWatch {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new ClientDisconnected());
  const detectEnd = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  // Never removed: without a listener an error of the connection ends the process.
  socket.on('error', abort);
  socket.once('close', abort).once('end', abort).on('readable', detectEnd);
  return {
    signal: controller.signal,
    done() {
      socket.off('close', abort).off('end', abort).off('readable', detectEnd);
    },
  };
}

/** Maximum time that a client may take to read a refusal, in ms. */
const LINGER_MS = 5_000;

/** Writes an HTTP answer to the socket: an upgrade request has no response object. */
function refuse(
  socket: Duplex,
  status: number,
  headers: Readonly<Record<string, string>>,
  { contentType, body }: Pick<RenderedError, 'contentType' | 'body'>,
): void {
  const fields = {
    ...headers,
    'content-type': contentType,
    'content-length': String(body.length),
    connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
  const closeTimer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(closeTimer));
  // Unread bytes would reset the connection before the client has read the answer.
  socket.resume();
  socket.end(body);
  socket.once('end', () => socket.destroy());
}
