import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Received request. */
interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Upstream with faults that a test sets. */
export interface FaultServer {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the handler of the next requests. */
  answer(handle: (response: ServerResponse, socket: Socket, call: Received) => void): void;
  /** Resolves when a connection has closed before its response was complete. Each such close resolves one call. */
  nextDisconnect(): Promise<void>;
  /** Number of open connections. */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

export async function startFaultServer(): Promise<FaultServer> {
  const received: Received[] = [];
  let handle: (response: ServerResponse, socket: Socket, call: Received) => void = (response) => response.end();
  let disconnectCount = 0;
  let wake: (() => void) | null = null;
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (response.writableFinished) return;
      disconnectCount += 1;
      wake?.();
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(call);
      handle(response, request.socket, call);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(next) {
      handle = next;
    },
    async nextDisconnect() {
      if (disconnectCount === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = null;
      disconnectCount -= 1;
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
