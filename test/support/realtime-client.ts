import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { listenTo, type UpstreamSession } from './realtime-upstream.ts';
import type { TestApp } from './start-app.ts';

/** Client of an open session. */
export interface RealtimeClient extends Pick<UpstreamSession, 'nextMessage' | 'closed' | 'sendEvent'> {
  readonly socket: WebSocket;
  /** TCP connection of the session, for protocol violations. */
  readonly wire: Duplex;
  /** Headers of the handshake response. */
  readonly headers: IncomingHttpHeaders;
}

/** Rejection of a handshake. */
interface Refused {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface ConnectOptions {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly protocols?: readonly string[];
}

/** Requests a session, with the admin key by default. Resolves to the session or the rejection. */
function askRealtime(
  app: TestApp,
  { path = '/v1/realtime?model=voice', headers, protocols = [] }: ConnectOptions = {},
) {
  return new Promise<RealtimeClient | Refused>((resolve, reject) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}`, [...protocols], {
      headers: headers ?? { authorization: `Bearer ${app.adminKey}` },
    });
    let opened: IncomingMessage | null = null;
    const listening = listenTo(socket);
    socket.once('upgrade', (response) => {
      opened = response;
    });
    socket.once('open', () => {
      if (opened === null) throw new TypeError('A session opened without a handshake response.');
      const { headers: head, socket: wire } = opened;
      resolve({ socket, wire, headers: head, sendEvent: (event) => socket.send(JSON.stringify(event)), ...listening });
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
        socket.terminate();
      });
    });
  });
}

/** Opens a session. Throws if the handshake is rejected. */
export async function openRealtime(app: TestApp, options: ConnectOptions = {}): Promise<RealtimeClient> {
  const outcome = await askRealtime(app, options);
  if ('status' in outcome) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** Sends a handshake that the server must reject. Returns status, headers and body. */
export async function refusalOf(app: TestApp, options: ConnectOptions = {}): Promise<Refused> {
  const outcome = await askRealtime(app, options);
  if ('status' in outcome) return outcome;
  throw new Error('The session opened.');
}
