import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureHead } from '../../rest-shims/http/failure-headers.ts';
import { assertHandshake } from '../../rest-shims/http/handshake.ts';
import { type RenderedError, renderError } from '../../rest-shims/errors.ts';
import type { RequestFailure } from '../../rest-shims/http/router.ts';
import type { RouteRow } from '../../rest-shims/http/route.ts';
import type { Caller } from '../domain/caller.ts';
import { DomainError, Unavailable } from '../domain/errors.ts';
import type { OpenSocket } from '../domain/realtime/sockets.ts';
import type { Secret } from '../domain/secret.ts';
import type { SocketServer } from '../runtime/network/web-sockets.ts';
import { CallerGone } from './request-scopes.ts';

/** What a WebSocket is joined to, once it is open. */
interface Opened {
  /** Names and values for the head of the answer. */
  readonly head: Readonly<Record<string, string>>;
  join(socket: OpenSocket): void;
  /** The client left before it could be joined. */
  abandon(): void;
}

/** A row whose requests become WebSockets. */
export interface UpgradeDoor {
  readonly row: RouteRow;
  /** Whether its paths take other methods, too: those are served over HTTP, whatever upgrade they offer. */
  readonly takesOthers: boolean;
  /** The credential a request carries. Throws Unauthenticated. */
  credential(request: IncomingMessage): Secret;
  /** The subprotocol to choose of those that are offered; null chooses none. */
  protocol(request: IncomingMessage): string | null;
  /** Opens what the client asks for. The signal fires when it leaves before. */
  open(caller: Caller, request: IncomingMessage, signal: AbortSignal): Opened | Promise<Opened>;
}

/** What is open behind a door. */
interface Sessions {
  tend(): void;
  /** Begins nothing new, where that can be told apart from going on. */
  retire?(): void;
  /** Resolves when none is open. */
  ended(): Promise<void>;
  endAll(): void;
}

/** What WebSockets need of the house around them. */
export interface UpgradeOptions {
  /** The caller behind a key; throws Unauthenticated, and LimitExceeded after too many wrong keys of one address. */
  readonly identify: (key: string, request: IncomingMessage) => Caller | Promise<Caller>;
  readonly sockets: SocketServer;
  readonly doors: readonly UpgradeDoor[];
  /** What is to be looked after. */
  readonly sessions: readonly Sessions[];
  /** Whether the process is shutting down. */
  readonly draining: () => boolean;
  /** Told of every failure once. */
  readonly failed: (failure: RequestFailure) => void;
  /** Largest message of a client. */
  readonly maxMessageBytes: number;
}

/** The door for requests that ask to become a WebSocket. */
export interface Upgrades {
  /** Whether a request is for this door; any other that offers an upgrade is served as if it did not. */
  wants(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Begins to look after what is open. */
  start(): void;
  /** Lets open sessions go on for so long, then ends them; resolves when none is left. */
  drain(graceMs: number): Promise<void>;
}

/** A request, and the connection it came on. */
interface Asking {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** How often open sessions are looked after: a dead key ends its session within 5 seconds. */
const TEND_MS = 1_500;

/** Opens WebSockets: identify, open what the row stands for, accept the client, join the two. Refusals are HTTP answers. */
export function createUpgrades(options: UpgradeOptions): Upgrades {
  const { identify, sockets, sessions, draining, maxMessageBytes } = options;
  const doors = new Map(options.doors.flatMap((door) => door.row.paths.map((path) => [path, door] as const)));
  let tending: NodeJS.Timeout | undefined;

  async function connect(
    door: UpgradeDoor,
    caller: Caller,
    { request, socket, head }: Asking,
    leaving: Leaving,
  ): Promise<void> {
    assertHandshake(pathName(door.row), request.method, request.headers);
    if (draining()) throw new Unavailable('The process is shutting down.');
    const opened = await door.open(caller, request, leaving.signal);
    leaving.done();
    const how = { headers: opened.head, protocol: door.protocol(request), maxMessageBytes };
    let client: OpenSocket | null = null;
    try {
      client = await sockets.accept(request, socket, head, how);
    } finally {
      if (client === null) opened.abandon();
    }
    if (client !== null) opened.join(client);
  }

  async function serve(door: UpgradeDoor, asking: Asking): Promise<void> {
    const { request, socket } = asking;
    const { headers } = request;
    const { row } = door;
    const leaving = watchLeaving(socket);
    let caller: Caller | null = null;
    try {
      caller = await identify(door.credential(request).reveal(), request);
      await connect(door, caller, asking, leaving);
    } catch (error) {
      leaving.done();
      if (leaving.signal.aborted || socket.destroyed) return void socket.destroy();
      const rendered = renderError(row.surface, error instanceof DomainError ? error : null, headers);
      options.failed({ row, status: rendered.status, error });
      const facts = failureHead(row, { error, headers, caller });
      refuse(socket, rendered.status, { ...facts, ...rendered.headers }, rendered);
    }
  }

  return {
    wants(request) {
      if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
      const door = doors.get(pathOf(request));
      return door !== undefined && (request.method === 'GET' || !door.takesOthers);
    },
    serve(request, socket, head) {
      const door = doors.get(pathOf(request));
      if (door === undefined) socket.destroy();
      else void serve(door, { request, socket, head });
    },
    start() {
      tending = setInterval(() => {
        for (const each of sessions) each.tend();
      }, TEND_MS).unref();
    },
    async drain(graceMs) {
      for (const each of sessions) each.retire?.();
      const late = setTimeout(() => {
        for (const each of sessions) each.endAll();
      }, graceMs);
      await Promise.all(sessions.map((each) => each.ended()));
      clearTimeout(late);
      clearInterval(tending);
    },
  };
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** The path that names a row's calls everywhere. */
const pathName = ({ paths: [first] }: RouteRow): string => first.replace(/^\/v1/, '');

/** Raw query text of a request, without the question mark. */
export function searchOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark + 1);
}

/** Whether the client is still there. */
interface Leaving {
  readonly signal: AbortSignal;
  /** Looks no longer. */
  done(): void;
}

/**
 * Fires when the client leaves before it is answered. To hear that, somebody has to read; what a client sends too early
 * stays where it is.
 */
function watchLeaving(socket: Duplex): Leaving {
  const controller = new AbortController();
  const left = (): void => controller.abort(new CallerGone());
  const look = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  // Stays on: a connection that breaks while it is refused must not end the process.
  socket.on('error', left);
  socket.once('close', left).once('end', left).on('readable', look);
  return {
    signal: controller.signal,
    done() {
      socket.off('close', left).off('end', left).off('readable', look);
    },
  };
}

/** How long a client may take to read a refusal. */
const LINGER_MS = 5_000;

/** Answers in HTTP, by hand: a connection that asked to be upgraded has no response object any more. */
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
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  // What the client still sends is taken and dropped: to leave it unread would reset the connection under the answer.
  socket.resume();
  socket.end(body);
  socket.once('end', () => socket.destroy());
}
