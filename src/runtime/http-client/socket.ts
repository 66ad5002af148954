import { connect as connectPlain, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './address.ts';
import type { Request } from './call-dispatch.ts';

/**
 * One-chunk bodies up to this size, in bytes, are written together with their head: a copy costs less than a second
 * write.
 */
const SMALL_BODY = 64 * 1024;

/**
 * Events of a socket, in order. After `failed`, only `ended` may follow. After `ended`, a further `ended` or a `failed`
 * may follow.
 */
export interface SocketEvents {
  connected(): void;
  /** The bytes are only valid during the call. */
  bytes(bytes: Buffer): void;
  /** The peer sends nothing more, or the socket is closed. */
  ended(): void;
  failed(error: Error): void;
}

/** A socket to an upstream. */
export interface UpstreamSocket {
  write(head: string, body: Request['body']): void;
  /** Bytes in the send buffer. */
  readonly unwritten: number;
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** Opens a socket; events come in later turns of the event loop. */
export type Dial = (peer: Peer, events: SocketEvents) => UpstreamSocket;

/** Shared read buffer of all plain sockets: each read is parsed, and its body copied, before the next. */
const READ_BUFFER = Buffer.allocUnsafe(64 * 1024);

/** TLS sessions by peer, for session resumption. */
const sessions = new Map<string, Buffer>();
const SESSIONS_LIMIT = 100;

const TCP_OPTIONS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const;

/** Opens a TCP or TLS socket. */
export const dialSocket: Dial = (peer, events) => {
  const socket = peer.secure ? openSecure(peer, events) : openPlain(peer, events);
  socket.on('error', (error) => events.failed(error));
  socket.on('end', () => events.ended());
  socket.on('close', () => events.ended());
  return new NodeSocket(socket);
};

function openPlain({ hostname, port, lookup }: Peer, events: SocketEvents): Socket {
  const onread = {
    buffer: READ_BUFFER,
    callback: (length: number) => {
      events.bytes(READ_BUFFER.subarray(0, length));
      return true;
    },
  };
  const resolver = lookup === undefined ? {} : { lookup };
  return connectPlain({ host: hostname, port, ...resolver, ...TCP_OPTIONS, onread }, () => events.connected());
}

function openSecure({ hostname, port, lookup }: Peer, events: SocketEvents): TLSSocket {
  const name = `${hostname}:${port}`;
  const session = sessions.get(name);
  const optional = { ...(session === undefined ? {} : { session }), ...(lookup === undefined ? {} : { lookup }) };
  const options = { host: hostname, port, ...TCP_OPTIONS, ALPNProtocols: ['http/1.1'], ...optional };
  // Loaded with the first TLS socket, because it takes 10 ms of a start.
  const socket = process.getBuiltinModule('node:tls').connect(options, () => events.connected());
  socket.on('session', (fresh) => {
    if (sessions.size < SESSIONS_LIMIT || sessions.has(name)) sessions.set(name, fresh);
  });
  return socket.on('data', (bytes: Buffer) => events.bytes(bytes));
}

class NodeSocket implements UpstreamSocket {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(head: string, body: Request['body']): void {
    if (!(body instanceof Uint8Array) || body.length > SMALL_BODY) {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      for (const piece of body instanceof Uint8Array ? [body] : body) this.#socket.write(piece);
      this.#socket.uncork();
      return;
    }
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 0, 'latin1');
    request.set(body, head.length);
    this.#socket.write(request);
  }

  get unwritten(): number {
    return this.#socket.writableLength;
  }

  get paused(): boolean {
    return this.#socket.isPaused();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
