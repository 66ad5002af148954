import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { collect } from '../../src/domain/bytes.ts';
import { type HttpClient, HttpFailure, type UpstreamAnswer } from '../../src/domain/http.ts';

/** Response with the body `ok`. */
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
export const NEVER = new AbortController().signal;
const BODY = Buffer.from('{}');

/** Upstream on plain TCP sockets. */
export interface BareUpstream {
  readonly origin: string;
  readonly sockets: readonly Socket[];
  /** Received text by connection. */
  readonly received: readonly string[];
  stop(): void;
}

/**
 * Starts an upstream. `answer` runs for each request with the body `{}`. `connection` is the number of the
 * connection, and `call` the number of the request on that connection, both from 0.
 */
export async function startBareUpstream(
  answer: (socket: Socket, connection: number, call: number) => unknown,
): Promise<BareUpstream> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const server: Server = createServer((socket) => {
    const connection = sockets.push(socket) - 1;
    received[connection] = '';
    let calls = 0;
    socket.on('error', () => socket.destroy());
    socket.on('data', (data) => {
      received[connection] += data.toString('latin1');
      if (!received[connection]?.endsWith('{}')) return;
      void answer(socket, connection, calls);
      calls += 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    received,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Posts `body`, by default `{}`. */
export const post = (
  http: HttpClient,
  url: string,
  more: Partial<Parameters<HttpClient['post']>[3]> = {},
  body = BODY,
): Promise<UpstreamAnswer> =>
  http.post(url, { 'content-type': 'application/json' }, body, { signal: NEVER, headersTimeoutMs: 20_000, ...more });

/** The body of an answer as text. */
export const read = async ({ body }: UpstreamAnswer): Promise<string> =>
  Buffer.from((await collect(body, 1e9)) ?? []).toString();

/** Fault of a failed call, or the text of its error. `none` if the call succeeds. */
export const faultOf = (calling: Promise<unknown>): Promise<string> =>
  calling.then(
    () => 'none',
    (error: unknown) => (error instanceof HttpFailure ? error.fault : String(error)),
  );
