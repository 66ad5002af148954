import type { Peer } from './address.ts';
import type { TransportHandle } from './call.ts';
import { ConnectionEnded } from './faults.ts';
import type { CallDispatch, Request } from './call-dispatch.ts';
import { ResponseParser } from './response-parser.ts';
import type { DeadlineWatch, HasDeadline } from './deadline-watch.ts';
import type { Place } from '../../domain/open-list.ts';
import type { Dial, UpstreamSocket } from './socket.ts';
import { sendCoalesced } from '../write-coalescing/write-coalescing.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** The pool that a connection belongs to. */
interface Pool {
  /** Called when an answer is complete and the connection may carry another call. */
  free(connection: Connection): void;
  /** Called once, when the connection is closed. */
  closed(connection: Connection): void;
  /** Sends a call on another connection. No byte of its request was written. */
  resend(dispatch: CallDispatch): void;
}

/**
 * One connection to an upstream. It serves one call at a time, from the request to the end of the answer. The call has
 * the deadlines for head and body; the connection has those for connecting and for being idle.
 */
export class Connection implements TransportHandle, HasDeadline {
  readonly queued = false;
  /** Infinity while the open connection carries a call, which has its own deadline. */
  deadlineMs: number;
  place: Place<HasDeadline> | null = null;
  readonly #pool: Pool;
  readonly #watch: DeadlineWatch;
  readonly #socket: UpstreamSocket;
  readonly #parser: ResponseParser;
  #dispatch: CallDispatch | null = null;
  /** Whether the request still waits for the coalesced write. */
  #unsent = false;
  #state: 'connecting' | 'busy' | 'idle' | 'closed' = 'connecting';
  /** Whether the connection has served a complete answer before. */
  #used = false;
  /** Body bytes of the current read. Upstreams send many small chunks together; the call receives them as one. */
  #bodyPieces: Buffer[] | null = null;
  /** How long the connection may stay idle, in ms. Set when an answer has ended. */
  #keepAliveMs: number | null = null;

  constructor(peer: Peer, pool: Pool, { watch, dial }: { readonly watch: DeadlineWatch; readonly dial: Dial }) {
    this.#pool = pool;
    this.#watch = watch;
    this.deadlineMs = watch.now() + CONNECT_TIMEOUT_MS;
    this.#parser = new ResponseParser({
      head: (status, headers) => this.#dispatch?.call.head(status, headers),
      body: (bytes) => {
        if (this.#bodyPieces === null) this.#bodyPieces = [bytes];
        else this.#bodyPieces.push(bytes);
      },
      ended: (keepAliveMs) => {
        this.#keepAliveMs = keepAliveMs;
      },
    });
    this.#socket = dial(peer, {
      connected: () => this.#connected(),
      bytes: (bytes) => this.#read(bytes),
      ended: () => this.#closed(),
      failed: (error) => this.#end(error),
    });
    watch.add(this);
  }

  /** Whether another call may be sent. */
  get idle(): boolean {
    return this.#state === 'idle';
  }

  /** Sends a call on a connection that is idle or was just opened. */
  send(dispatch: CallDispatch): void {
    if (this.#state === 'closed' || this.#dispatch !== null) return this.#pool.resend(dispatch);
    this.#dispatch = dispatch;
    if (this.#state === 'idle') {
      this.#state = 'busy';
      this.deadlineMs = Number.POSITIVE_INFINITY;
    }
    dispatch.call.setHandle(this);
    this.#unsent = true;
    sendCoalesced(this.#write);
  }

  pause(): void {
    if (this.#state !== 'closed') this.#socket.pause();
  }

  resume(): void {
    if (this.#state !== 'closed' && this.#socket.paused) this.#socket.resume();
  }

  /** Closes the connection without a report to its call. */
  abort(): void {
    const dispatch = this.#dispatch;
    this.#dispatch = null;
    this.#end(null);
    dispatch?.free();
  }

  expired(): void {
    this.#end(this.#state === 'connecting' ? new ConnectionEnded('CONNECT_TIMEOUT') : null);
  }

  /** Writes the request of its call. An aborted call has closed the connection. */
  readonly #write = (): void => {
    const dispatch = this.#dispatch;
    if (this.#state === 'closed' || dispatch === null) return;
    this.#unsent = false;
    // Only now: bytes received before the request is written belong to no call.
    this.#parser.expect();
    const { head, body } = dispatch.request;
    this.#socket.write(`${head}${lengthLine(dispatch.request)}\r\n`, body);
  };

  #connected(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'busy';
    this.deadlineMs = Number.POSITIVE_INFINITY;
  }

  #read(bytes: Buffer): void {
    if (this.#state !== 'closed') this.#processRead(bytes);
  }

  #closed(): void {
    if (this.#state === 'closed') return;
    this.#processRead(null);
    this.#end(null);
  }

  /**
   * Processes a read; null is the end of the connection. The connection becomes idle only after the whole read, because
   * bytes after the end of the answer are an error.
   */
  #processRead(bytes: Buffer | null): void {
    const fault = this.#parse(bytes);
    if (this.#bodyPieces !== null) this.#passBody(this.#bodyPieces);
    // The reader may have cancelled inside its chunk: a closed connection never becomes idle.
    if (this.#state === 'closed') return;
    const keepAliveMs = this.#keepAliveMs;
    if (keepAliveMs === null) {
      if (fault !== null) this.#end(fault);
      return;
    }
    this.#keepAliveMs = null;
    const dispatch = this.#dispatch;
    this.#dispatch = null;
    // The answer may arrive before the whole request is written. The rest is still queued, so the connection cannot be
    // reused.
    if (fault !== null || keepAliveMs === 0 || this.#socket.unwritten > 0) this.#end(null);
    else this.#becomeIdle(keepAliveMs);
    dispatch?.free();
    dispatch?.call.ended();
  }

  /** Parses a read. Returns the error of a malformed one. */
  #parse(bytes: Buffer | null): Error | null {
    try {
      if (bytes === null) this.#parser.finish();
      else this.#parser.execute(bytes);
      return null;
    } catch (error) {
      return error instanceof Error ? error : new ConnectionEnded('CLOSED');
    }
  }

  /** Passes the body bytes of one read to the call, copied out of the read buffer. */
  #passBody(pieces: readonly Buffer[]): void {
    const [only] = pieces;
    const bytes = pieces.length === 1 && only ? Buffer.from(only) : Buffer.concat(pieces);
    this.#bodyPieces = null;
    this.#dispatch?.call.body(bytes);
  }

  /** Waits for the next call. */
  #becomeIdle(keepAliveMs: number): void {
    this.#state = 'idle';
    this.#used = true;
    this.deadlineMs = this.#watch.now() + keepAliveMs;
    // The reader may have paused the socket in the last chunk.
    if (this.#socket.paused) this.#socket.resume();
    this.#pool.free(this);
  }

  #end(error: Error | null): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#watch.remove(this);
    const dispatch = this.#dispatch;
    this.#dispatch = null;
    this.#socket.destroy();
    this.#pool.closed(this);
    if (dispatch === null) return;
    // The upstream cannot have seen a request of which no byte was written (ADR 0054), so it is sent again. A new
    // connection that failed is not replaced: another new connection would probably fail, too.
    if (this.#used && this.#unsent) return this.#pool.resend(dispatch);
    dispatch.free();
    dispatch.call.failed(error ?? new ConnectionEnded('CLOSED'));
  }
}

/** Methods whose requests have a Content-Length header, also without a body. */
const EXPECTS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** The line of the Content-Length header; empty without a body, unless the method requires the header. */
function lengthLine({ method, body }: Request): string {
  const length = body instanceof Uint8Array ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
  return EXPECTS_BODY.has(method) || length > 0 ? `content-length: ${length}\r\n` : '';
}
