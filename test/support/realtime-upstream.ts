import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** Session at the upstream. */
export interface UpstreamSession {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly socket: WebSocket;
  /** TCP connection of the session, for protocol violations. */
  readonly wire: Duplex;
  /** Sends an event. */
  sendEvent(event: object): void;
  /** Next received message, as text. */
  nextMessage(): Promise<string>;
  /** Close code and reason of the peer. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Scripted upstream of the realtime API. */
export interface RealtimeUpstream {
  readonly url: string;
  /** Next session that opens. */
  session(): Promise<UpstreamSession>;
  /** Sets the handler of the next handshakes. Null accepts handshakes again. */
  answer(handle: ((wire: Duplex, request: IncomingMessage) => void) | null): void;
  /** Number of open connections. */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

/** Asynchronous queue. A read waits for a value. */
function queue<Value>(): { put(value: Value): void; next(): Promise<Value> } {
  const values: Value[] = [];
  const waiting: ((value: Value) => void)[] = [];
  return {
    put(value) {
      const resolve = waiting.shift();
      if (resolve) resolve(value);
      else values.push(value);
    },
    next: () =>
      new Promise((resolve) => {
        if (values.length > 0) resolve(values.shift() as Value);
        else waiting.push(resolve);
      }),
  };
}

/** Received messages of a socket, and its close. */
export function listenTo(socket: WebSocket): Pick<UpstreamSession, 'nextMessage' | 'closed'> {
  const messages = queue<string>();
  socket.on('message', (data) => messages.put((data as Buffer).toString('utf8')));
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
  });
  return { nextMessage: messages.next, closed };
}

export async function startRealtimeUpstream(): Promise<RealtimeUpstream> {
  const sessions = queue<UpstreamSession>();
  const sockets = new WebSocketServer({ noServer: true });
  let handle: ((wire: Duplex, request: IncomingMessage) => void) | null = null;
  const wires = new Set<Duplex>();
  const server = createServer((_request, response) => response.end());
  server.on('upgrade', (request, wire, head) => {
    wires.add(wire);
    wire.on('close', () => wires.delete(wire)).on('error', () => {});
    if (handle !== null) return handle(wire, request);
    sockets.handleUpgrade(request, wire, head, (socket) => {
      sessions.put({
        path: request.url ?? '',
        headers: request.headers,
        socket,
        wire,
        sendEvent: (event) => socket.send(JSON.stringify(event)),
        ...listenTo(socket),
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    session: sessions.next,
    answer(next) {
      handle = next;
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const wire of wires) wire.destroy();
        server.closeAllConnections();
      }),
  };
}
