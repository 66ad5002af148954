import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { HeaderLines } from './header-lines.ts';

/** A request of the fast path whose head and body are complete (ADR 0022). */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** The complete body. */
  readonly whole: Uint8Array;
}

/** An incomplete body on a connection of the fast path. */
export interface ArrivingBody {
  /** Declared length in bytes. */
  readonly length: number;
  /**
   * Reads the body. The connection is paused until this call. Rejects with RequestAborted when the client is too slow
   * or disconnects.
   */
  read(): Promise<Uint8Array>;
}

/** A request with an incomplete body. Its key is checked before the body is read. */
export interface ArrivingRequest extends Omit<WholeRequest, 'whole'> {
  readonly arriving: ArrivingBody;
}

/** A request of Node's HTTP server, or of the fast path. */
export type Incoming = IncomingMessage | WholeRequest | ArrivingRequest;

/**
 * The part of a response that the transports use. Node's ServerResponse and the response of the fast path implement it.
 */
export interface Outgoing {
  readonly req: Pick<Incoming, 'headers' | 'socket'>;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Status of the answer; valid after `headersSent`. */
  readonly statusCode: number;
  /** Whether the whole answer is written. If not, a close is an abort by the client. */
  readonly writableFinished: boolean;
  /** False closes the connection after the answer and sends `Connection: close`. */
  shouldKeepAlive: boolean;
  /**
   * Ends a running answer with a failure, for example at shutdown: a stream by a last event, a call by its abort
   * signal. Null or absent while neither runs.
   */
  abort?: ((failure: Error) => void) | null;
  /** Value of a header that `setHeader` set. `name` is in lower case. */
  getHeader(name: string): number | string | readonly string[] | undefined;
  setHeader(name: string, value: string): unknown;
  /** `head` is an array of alternating names and values, or a record. */
  writeHead(status: number, head: string[] | Record<string, string | number>): unknown;
  /** As `writeHead`, with lines. Only responses of the fast path have it. */
  writeLines?(status: number, head: HeaderLines): unknown;
  flushHeaders(): void;
  /** Returns false if the socket is full: write again after `drain`. */
  write(bytes: Uint8Array): boolean;
  end(body: Uint8Array): unknown;
  end(body: string, encoding: 'latin1'): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close', listener: () => void): this;
  once(event: 'close', listener: () => void): this;
  off(event: 'drain' | 'close', listener: () => void): this;
}
