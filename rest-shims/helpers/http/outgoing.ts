import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { HeaderLines } from './header-lines.ts';

/** A request of the fast path whose body arrived together with its head (ADR 0022). */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly whole: Uint8Array;
}

/** A body on a connection of the fast path of which a part has not arrived. */
export interface ArrivingBody {
  /** Declared length in bytes. */
  readonly length: number;
  /** Reads the body whole. Until then the connection is not read. Rejects with RequestAborted when the client leaves or is too slow. */
  read(): Promise<Uint8Array>;
}

/** A request whose head is complete and whose body is not: the key is checked before the body is read. */
export interface ArrivingRequest extends Omit<WholeRequest, 'whole'> {
  readonly arriving: ArrivingBody;
}

/** A request: Node's own, or one of the fast path. */
export type Incoming = IncomingMessage | WholeRequest | ArrivingRequest;

/** The part of a response that the transports use: Node's own has it, and that of the fast path. */
export interface Outgoing {
  readonly req: Pick<Incoming, 'headers' | 'socket'>;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Status of the answer; without meaning before its head is written. */
  readonly statusCode: number;
  /** Whether the answer was ended, so that a close is not an abort by the client. */
  readonly writableFinished: boolean;
  /** False closes the connection after the answer and sends `Connection: close`. */
  shouldKeepAlive: boolean;
  /** Ends the answer early, for example at shutdown: a stream with a last event, a call with its signal. Null when not possible. */
  cut?: ((failure: Error) => void) | null;
  /** Value of a header that `setHeader` set; the name in lower case. */
  getHeader(name: string): number | string | readonly string[] | undefined;
  setHeader(name: string, value: string): unknown;
  /** `head` is names and values in turn, or a record of them. */
  writeHead(status: number, head: string[] | Record<string, string | number>): unknown;
  /** The same with lines, which a response of the fast path takes. */
  writeLines?(status: number, head: HeaderLines): unknown;
  flushHeaders(): void;
  /** False: wait for `drain` before the next write. */
  write(bytes: Uint8Array): boolean;
  end(body: Uint8Array): unknown;
  end(body: string, encoding: 'latin1'): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close', listener: () => void): this;
  once(event: 'close', listener: () => void): this;
  off(event: 'drain' | 'close', listener: () => void): this;
}
