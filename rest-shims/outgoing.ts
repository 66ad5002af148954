import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request whose body came with its head, as the hot lane hands it over (ADR 0022). */
export interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly whole: Uint8Array;
}

/** A request as the router takes it: Node's own, or one that is there already. */
export type Incoming = IncomingMessage | WholeRequest;

/** What the doors use of a response: Node's own has it, and the hot lane's. */
export interface Outgoing {
  readonly req: Pick<Incoming, 'headers' | 'socket'>;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** Whether the answer was ended, so that a close is no leaving. */
  readonly writableFinished: boolean;
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
