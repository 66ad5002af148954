import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Scope } from '../resolvers/scope.ts';
import { type RenderedError, renderError } from '../rest-shims/errors.ts';
import {
  assertHandshake,
  chosenProtocol,
  failureEvent,
  openSession,
  realtimeCredential,
  realtimeRoutes,
  sessionHead,
} from '../rest-shims/realtime.ts';
import { failureHead } from '../rest-shims/failure-head.ts';
import type { RequestFailure } from '../rest-shims/router.ts';
import type { Caller } from './domain/caller.ts';
import type { Ids } from './domain/clock.ts';
import { DomainError, Unavailable } from './domain/errors.ts';
import type { Realtime } from './gateway/realtime.ts';
import type { SocketServer } from './runtime/web-sockets.ts';
import { CallerGone } from './scopes.ts';

/** What WebSockets need of the house around them. */
export interface UpgradeOptions {
  /** The caller behind a key; throws Unauthenticated. */
  readonly identify: (key: string) => Caller | Promise<Caller>;
  readonly scopeFor: (caller: Caller, request: IncomingMessage, signal: AbortSignal) => Scope;
  readonly sockets: SocketServer;
  /** The sessions to look after. */
  readonly realtime: Realtime;
  readonly ids: Ids;
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

/** How often open sessions are looked after. */
const TEND_MS = 5_000;

const [row] = realtimeRoutes;
const PATHS = new Set<string>(row?.paths);

/** Opens realtime sessions: identify, open the upstream, accept the client, join the two. Refusals are HTTP answers. */
export function createUpgrades(options: UpgradeOptions): Upgrades {
  const { identify, scopeFor, sockets, realtime, ids, draining, maxMessageBytes } = options;
  let tending: NodeJS.Timeout | undefined;

  async function connect(
    caller: Caller,
    { request, socket, head }: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    leaving: Leaving,
  ): Promise<void> {
    const { headers } = request;
    assertHandshake(request.method, headers);
    if (draining()) throw new Unavailable('The process is shutting down.');
    const scope = scopeFor(caller, request, leaving.signal);
    const session = await openSession(scope, { search: searchOf(request), headers });
    leaving.done();
    const how = { headers: sessionHead(session), protocol: chosenProtocol(headers), maxMessageBytes };
    const client = await sockets.accept(request, socket, head, how);
    if (client === null) return session.abandon();
    session.relay({
      socket: client,
      words: (failure, about) => failureEvent(ids, failure, about),
      ended(failure) {
        if (failure !== null) tell(failure, renderError('proxy', domainError(failure), headers).status);
      },
    });
  }

  function tell(error: unknown, status: number): void {
    if (row) options.failed({ row, status, error });
  }

  async function serve(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const leaving = watchLeaving(socket);
    const { headers } = request;
    let caller: Caller | null = null;
    try {
      caller = await identify(realtimeCredential(headers).reveal());
      await connect(caller, { request, socket, head }, leaving);
    } catch (error) {
      leaving.done();
      if (leaving.signal.aborted || socket.destroyed) return void socket.destroy();
      const rendered = renderError('proxy', domainError(error), headers);
      tell(error, rendered.status);
      const facts = row === undefined ? {} : failureHead(row, { error, headers, caller });
      refuse(socket, rendered.status, { ...facts, ...rendered.headers }, rendered);
    }
  }

  return {
    wants: ({ url = '', headers }) =>
      headers.upgrade?.toLowerCase() === 'websocket' && PATHS.has(url.split('?', 1)[0] ?? ''),
    serve: (request, socket, head) => void serve(request, socket, head),
    start() {
      tending = setInterval(() => realtime.tend(), TEND_MS).unref();
    },
    async drain(graceMs) {
      const late = setTimeout(() => realtime.endAll(), graceMs);
      await realtime.ended();
      clearTimeout(late);
      clearInterval(tending);
    },
  };
}

const domainError = (error: unknown): DomainError | null => (error instanceof DomainError ? error : null);

function searchOf({ url = '' }: IncomingMessage): string {
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
