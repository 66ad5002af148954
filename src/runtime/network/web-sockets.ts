import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type * as Library from 'ws';
import { HttpFailure, type HttpFault } from '../../domain/http.ts';
import {
  type OpenSocket,
  type SocketClient,
  type SocketEnd,
  type SocketListener,
  type SocketMessage,
  SocketRefused,
} from '../../domain/realtime/sockets.ts';

/** Bytes that may wait to be sent before the sender is asked to pause, and how few let it go on. */
const FULL_BYTES = 1024 * 1024;
const DRAINED_BYTES = 256 * 1024;
/** Largest message of an upstream: an item with its sound, read back. */
const UPSTREAM_MESSAGE_BYTES = 32 * 1024 * 1024;
/**
 * Most chunks of an incomplete message of a client: each is an object, so that single bytes would hold a hundred times
 * their size. A connection that exceeds it is closed with 1008.
 */
const MOST_CHUNKS = 32 * 1024;
/** Most bytes of a refusal that are read. */
const REFUSAL_BYTES = 1024 * 1024;
/** No compression: it would cost memory per connection, and sound does not shrink. The other side has 2 s to say goodbye. */
const COMMON = { perMessageDeflate: false, closeTimeout: 2_000, followRedirects: false } as const;

/** The library is loaded with the first session: a start does not pay for it. */
let loading: Promise<typeof Library> | null = null;
const library = (): Promise<typeof Library> => (loading ??= import('ws'));

/** How to answer a request that asks for a WebSocket. */
interface Acceptance {
  /** Names and values for the head of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocol chosen of those offered; null chooses none. */
  readonly protocol: string | null;
  /** Largest message taken from this client, in bytes. */
  readonly maxMessageBytes: number;
}

/** Takes clients' WebSockets in. */
export interface SocketServer {
  /** Completes a handshake whose head is known to be sound. Null when the client has left. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, how: Acceptance): Promise<OpenSocket | null>;
}

export const webSocketServer: SocketServer = {
  async accept(request, socket, head, { headers, protocol, maxMessageBytes }) {
    const { WebSocketServer } = await library();
    if (socket.destroyed || !socket.writable) return null;
    // One per client, because what a server answers is set for all it takes in; it holds nothing else.
    const server = new WebSocketServer({
      ...COMMON,
      noServer: true,
      clientTracking: false,
      maxPayload: maxMessageBytes,
      maxBufferedChunks: MOST_CHUNKS,
      handleProtocols: () => protocol ?? false,
    });
    server.on('headers', (lines: string[]) => {
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    });
    return await new Promise((resolve) => {
      server.handleUpgrade(request, socket, head, (client) => resolve(openSocket(client)));
      // It answers by callback at once, or not at all.
      resolve(null);
    });
  },
};

export const webSocketClient: SocketClient = {
  async connect(url, headers, { signal, timeoutMs }) {
    const { WebSocket: Client } = await library();
    signal.throwIfAborted();
    return await new Promise<OpenSocket>((resolve, reject) => {
      const client = new Client(url, { ...COMMON, headers: { ...headers }, maxPayload: UPSTREAM_MESSAGE_BYTES });
      const giveUp = (reason: Error): void => {
        settled();
        reject(reason);
        client.terminate();
      };
      const leave = (): void => giveUp(leavingOf(signal));
      const late = (): void => giveUp(new HttpFailure('timeout', 'The upstream did not open a WebSocket in time.'));
      const timer = setTimeout(late, timeoutMs);
      const settled = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      signal.addEventListener('abort', leave, { once: true });
      // Stays on: what fails after it was given up is nobody's business, but unheard it would end the process.
      client.on('error', (error) => giveUp(failureOf(error)));
      client.once('open', () => {
        settled();
        client.removeAllListeners('error');
        resolve(openSocket(client));
      });
      client.once('unexpected-response', (_request, response) => {
        readRefusal(response).then(
          (body) => giveUp(new SocketRefused(response.statusCode ?? 0, body)),
          () => giveUp(new SocketRefused(response.statusCode ?? 0, null)),
        );
      });
    });
  },
};

/** Why a signal fired, as it was said where that is a failure. */
const leavingOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('It was given up.', { cause: reason });

async function readRefusal(response: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > REFUSAL_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const SAID: Readonly<Record<HttpFault, string>> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  cut: 'closed the connection before a WebSocket was open',
  garbled: 'sent what is no WebSocket handshake',
  misused: 'could not be called',
};

function failureOf(error: Error): HttpFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fault = faultOf(code, error);
  return new HttpFailure(fault, `The upstream ${SAID[fault]}${code === '' ? '' : ` (${code})`}.`, { cause: error });
}

function faultOf(code: string, { message }: Error): HttpFault {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'cut';
  // What the library finds wrong with a handshake has no code.
  return code.startsWith('HPE_') || (code === '' && /invalid|server sent|server indicated/i.test(message))
    ? 'garbled'
    : 'unreachable';
}

/** The port over a connection of the library, held back until it is listened to. */
function openSocket(connection: Library.WebSocket): OpenSocket {
  let listener: SocketListener | null = null;
  let end: SocketEnd | null = null;
  let over = false;
  let full = false;
  connection.pause();

  const finish = (how: SocketEnd): void => {
    if (end !== null) return;
    end = how;
    if (!over) listener?.ended(how);
    over = true;
  };
  connection.on('error', (error) => finish({ kind: brokenBy(error) }));
  connection.on('close', (code, reason) =>
    finish(code === CUT ? { kind: 'cut' } : { kind: 'closed', code, reason: reason.toString('utf8') }),
  );
  connection.on('pong', () => {
    if (!over) listener?.alive();
  });
  connection.on('message', (data, binary) => {
    if (!over) listener?.message({ bytes: data as Buffer, binary });
  });

  const sent = (): void => {
    if (!full || over || connection.bufferedAmount > DRAINED_BYTES) return;
    full = false;
    listener?.drained();
  };

  return {
    listen(told) {
      listener = told;
      if (end === null) return connection.resume();
      over = true;
      told.ended(end);
    },
    send({ bytes, binary }: SocketMessage) {
      connection.send(bytes, { binary }, sent);
      full ||= connection.bufferedAmount > FULL_BYTES;
      return !full;
    },
    waiting: () => connection.bufferedAmount,
    ping() {
      if (connection.readyState === connection.OPEN) connection.ping();
    },
    pause: () => connection.pause(),
    resume: () => connection.resume(),
    close(code, reason) {
      over = true;
      // Its goodbye has to be read, and what comes before it.
      connection.resume();
      connection.close(code, reason);
    },
  };
}

/** The code the library gives to a connection that ended without a goodbye. */
const CUT = 1006;

function brokenBy(error: Error): 'cut' | 'too large' | 'garbled' {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') return 'too large';
  return code.startsWith('WS_ERR_') ? 'garbled' : 'cut';
}
