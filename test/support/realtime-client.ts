import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { listenTo, type UpstreamSession } from './realtime-upstream.ts';
import type { TestApp } from './start-app.ts';

/** A client whose session is open. */
export interface RealtimeClient extends Pick<UpstreamSession, 'heard' | 'closed' | 'say'> {
  readonly socket: WebSocket;
  /** The connection under it, to misbehave on. */
  readonly wire: Duplex;
  /** The head of the answer that opened it. */
  readonly headers: IncomingHttpHeaders;
}

/** How a handshake was refused. */
interface Refused {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface Asked {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly protocols?: readonly string[];
}

/** Opens a session, with the admin key by default; returns the outcome. */
function askRealtime(app: TestApp, { path = '/v1/realtime?model=voice', headers, protocols = [] }: Asked = {}) {
  return new Promise<RealtimeClient | Refused>((resolve, reject) => {
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}${path}`, [...protocols], {
      headers: headers ?? { authorization: `Bearer ${app.adminKey}` },
    });
    let opened: IncomingMessage | null = null;
    const heard = listenTo(socket);
    socket.once('upgrade', (response) => {
      opened = response;
    });
    socket.once('open', () => {
      if (opened === null) throw new TypeError('A session opened without an answer.');
      const { headers: head, socket: wire } = opened;
      resolve({ socket, wire, headers: head, say: (event) => socket.send(JSON.stringify(event)), ...heard });
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

/** A session that must open. */
export async function openRealtime(app: TestApp, asked: Asked = {}): Promise<RealtimeClient> {
  const came = await askRealtime(app, asked);
  if ('status' in came) throw new Error(`refused: ${JSON.stringify(came)}`);
  return came;
}

/** A handshake that must be refused: its status and whole body. */
export async function refusalOf(app: TestApp, asked: Asked = {}): Promise<Refused> {
  const came = await askRealtime(app, asked);
  if ('status' in came) return came;
  throw new Error('The session opened.');
}
