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

/** Bytes of the send buffer above which `send` reports a full buffer. */
const FULL_BYTES = 1024 * 1024;
/** Bytes of the send buffer at or below which a full buffer counts as drained. */
const DRAINED_BYTES = 256 * 1024;
/** Maximum bytes of a message of an upstream, which may contain audio. */
const UPSTREAM_MESSAGE_BYTES = 32 * 1024 * 1024;
/**
 * Maximum number of chunks of an incomplete message of a client. Each chunk is an object: chunks of one byte would need
 * a hundred times their size. A connection above the maximum is closed with 1008.
 */
const MAX_CHUNKS = 32 * 1024;
/** Maximum bytes that are read of the body of a refusal. */
const REFUSAL_BYTES = 1024 * 1024;
/**
 * No compression: it costs memory per connection, and audio does not compress. The peer has 2 s to answer a close
 * frame.
 */
const SHARED_OPTIONS = { perMessageDeflate: false, closeTimeout: 2_000, followRedirects: false } as const;

/** The library is loaded with the first session, which keeps the start fast. */
let loading: Promise<typeof Library> | null = null;
const library = (): Promise<typeof Library> => (loading ??= import('ws'));

/** Answer to an upgrade request. */
interface Acceptance {
  /** Names and values for the head of the answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The selected subprotocol; null for none. */
  readonly protocol: string | null;
  /** Maximum bytes of a message of this client. */
  readonly maxMessageBytes: number;
}

/** Accepts WebSockets of clients. */
export interface SocketServer {
  /** Completes a validated handshake. Null when the client has disconnected or the handshake fails. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, how: Acceptance): Promise<OpenSocket | null>;
}

export const webSocketServer: SocketServer = {
  async accept(request, socket, head, { headers, protocol, maxMessageBytes }) {
    const { WebSocketServer } = await library();
    if (socket.destroyed || !socket.writable) return null;
    // One server object per client, because its options apply to all its clients; it has no other state.
    const server = new WebSocketServer({
      ...SHARED_OPTIONS,
      noServer: true,
      clientTracking: false,
      maxPayload: maxMessageBytes,
      maxBufferedChunks: MAX_CHUNKS,
      handleProtocols: () => protocol ?? false,
    });
    server.on('headers', (lines: string[]) => {
      for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    });
    return await new Promise((resolve) => {
      server.handleUpgrade(request, socket, head, (client) => resolve(openSocket(client)));
      // The callback runs synchronously. When it has not run, the handshake has failed.
      resolve(null);
    });
  },
};

export const webSocketClient: SocketClient = {
  async connect(url, headers, { signal, timeoutMs }) {
    const { WebSocket: Client } = await library();
    signal.throwIfAborted();
    return await new Promise<OpenSocket>((resolve, reject) => {
      const client = new Client(url, {
        ...SHARED_OPTIONS,
        headers: { ...headers },
        maxPayload: UPSTREAM_MESSAGE_BYTES,
      });
      const fail = (reason: Error): void => {
        stopWaiting();
        reject(reason);
        client.terminate();
      };
      const onAbort = (): void => fail(abortErrorOf(signal));
      const onTimeout = (): void => fail(new HttpFailure('timeout', 'The upstream did not open a WebSocket in time.'));
      const timer = setTimeout(onTimeout, timeoutMs);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      // Stays registered: an error after the abort is ignored, but without a listener it would end the process.
      client.on('error', (error) => fail(failureOf(error)));
      client.once('open', () => {
        stopWaiting();
        client.removeAllListeners('error');
        resolve(openSocket(client));
      });
      client.once('unexpected-response', (_request, response) => {
        readRefusal(response).then(
          (body) => fail(new SocketRefused(response.statusCode ?? 0, body)),
          () => fail(new SocketRefused(response.statusCode ?? 0, null)),
        );
      });
    });
  },
};

/** Abort reason of a signal, as an error. */
const abortErrorOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('The connection attempt was aborted.', { cause: reason });

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

const FAULT_TEXTS: Readonly<Record<HttpFault, string>> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  cut: 'closed the connection before a WebSocket was open',
  garbled: 'sent what is not a WebSocket handshake',
  misused: 'could not be called',
};

function failureOf(error: Error): HttpFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fault = faultOf(code, error);
  return new HttpFailure(fault, `The upstream ${FAULT_TEXTS[fault]}${code === '' ? '' : ` (${code})`}.`, {
    cause: error,
  });
}

function faultOf(code: string, { message }: Error): HttpFault {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'cut';
  // Handshake errors of the library have no code.
  return code.startsWith('HPE_') || (code === '' && /invalid|server sent|server indicated/i.test(message))
    ? 'garbled'
    : 'unreachable';
}

/** An `OpenSocket` over a connection of the library, paused until `listen`. */
function openSocket(connection: Library.WebSocket): OpenSocket {
  let listener: SocketListener | null = null;
  let end: SocketEnd | null = null;
  /** Whether the listener receives no further event. */
  let over = false;
  /** Whether a `send` has reported a full buffer, and `drained` was not called since. */
  let full = false;
  connection.pause();

  const finish = (how: SocketEnd): void => {
    if (end !== null) return;
    end = how;
    if (!over) listener?.ended(how);
    over = true;
  };
  connection.on('error', (error) => finish({ kind: endKindOf(error) }));
  connection.on('close', (code, reason) =>
    finish(code === NO_CLOSE_FRAME ? { kind: 'cut' } : { kind: 'closed', code, reason: reason.toString('utf8') }),
  );
  connection.on('pong', () => {
    if (!over) listener?.alive();
  });
  connection.on('message', (data, binary) => {
    if (!over) listener?.message({ bytes: data as Buffer, binary });
  });

  const afterSend = (): void => {
    if (!full || over || connection.bufferedAmount > DRAINED_BYTES) return;
    full = false;
    listener?.drained();
  };

  return {
    listen(events) {
      listener = events;
      if (end === null) return connection.resume();
      over = true;
      events.ended(end);
    },
    send({ bytes, binary }: SocketMessage) {
      connection.send(bytes, { binary }, afterSend);
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
      // The peer's close frame and the messages before it must be read.
      connection.resume();
      connection.close(code, reason);
    },
  };
}

/** The library's code of a connection without a close frame. */
const NO_CLOSE_FRAME = 1006;

function endKindOf(error: Error): 'cut' | 'too large' | 'garbled' {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') return 'too large';
  return code.startsWith('WS_ERR_') ? 'garbled' : 'cut';
}
