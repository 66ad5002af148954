import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request whose body came with its head, as the hot lane hands it over (ADR 0022). */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly whole: Uint8Array;
}

/** A body on a connection of the hot lane of which a part has not arrived. */
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

/** A request as the router takes it: Node's own, or one of the hot lane. */
export type Incoming = IncomingMessage | WholeRequest | ArrivingRequest;

/** What the doors use of a response: Node's own has it, and the hot lane's. */
export interface Outgoing {
  readonly req: Pick<Incoming, 'headers' | 'socket'>;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Whether the answer was ended, so that a close is no leaving. */
  readonly writableFinished: boolean;
  /** False closes the connection behind the answer, and says so in its head. */
  shouldKeepAlive: boolean;
  /** Ends the answer early, for example at shutdown: a stream by a last event, a call by its signal. Null when not possible. */
  cut?: ((failure: Error) => void) | null;
  /** `head` is names and values in turn, or a record of them. */
  writeHead(status: number, head: string[] | Record<string, string | number>): unknown;
  flushHeaders(): void;
  /** False asks to wait for `drain`. */
  write(bytes: Uint8Array): boolean;
  end(body: Uint8Array): unknown;
  end(body: string, encoding: 'latin1'): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close', listener: () => void): this;
  once(event: 'drain' | 'close', listener: () => void): this;
  off(event: 'drain' | 'close', listener: () => void): this;
}
