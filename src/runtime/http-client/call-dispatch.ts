import type { HttpMethod } from '../../domain/http.ts';
import type { Call, TransportHandle } from './call.ts';
import { ConnectionEnded } from './faults.ts';
import type { FairSlots, Share, WaitingCall } from './fair-shares.ts';

/** A request, ready to be sent. */
export interface Request {
  readonly method: HttpMethod;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Request line and all headers but the length of the body, as text of HTTP/1.1 without the empty line. */
  readonly head: string;
  /** One chunk, or several that are sent in order without a copy. */
  readonly body: Uint8Array | readonly Uint8Array[];
}

/** Sends requests to one origin. A connection carries one request at a time. */
export interface OriginPool {
  /**
   * Sends a call on a connection: calls `setHandle` of the call, then reports events to it. Calls `free` of the
   * dispatch once the connection is no longer used for the call.
   */
  send(dispatch: CallDispatch): void;
  /** Open connections. */
  counts(): { readonly active: number; readonly idle: number };
  /** Closes the connections. Only called when none carries a call. */
  close(): void;
}

/** One origin: its pool and its slots. */
export interface Destination {
  readonly pool: OriginPool;
  readonly slots: FairSlots;
  /** Called once for each dispatch, when it no longer needs a connection. */
  readonly settled: () => void;
}

/** Dispatch of one call: from the queue of its origin to the release of its connection. */
export class CallDispatch implements WaitingCall, TransportHandle {
  readonly call: Call;
  readonly request: Request;
  readonly #destination: Destination;
  #share: Share | null = null;
  #state: 'queued' | 'sent' | 'free' = 'queued';

  constructor(call: Call, request: Request, destination: Destination) {
    this.call = call;
    this.request = request;
    this.#destination = destination;
  }

  get queued(): boolean {
    return this.#state === 'queued';
  }

  /** Starts the call now, or queues it until its owner gets a slot. */
  enter(owner: string): void {
    this.call.setHandle(this);
    const share = this.#destination.slots.enter(owner, this);
    this.#share = share;
    // A call that failed inside `start` could not return its slot, because its share was not known yet.
    if (this.#state === 'free') this.#destination.slots.leave(share);
  }

  /** Sends the call. Called again when its connection closed before a byte of the request was written. */
  start(): void {
    this.#state = 'sent';
    try {
      this.#destination.pool.send(this);
    } catch (error) {
      this.free();
      this.call.failed(error instanceof Error ? error : new ConnectionEnded('CLOSED'));
    }
  }

  /** Returns the slot of the connection. Idempotent. */
  free(): void {
    if (this.#state !== 'sent') return;
    this.#state = 'free';
    if (this.#share !== null) this.#destination.slots.leave(this.#share);
    this.#destination.settled();
  }

  /** A call in the queue has no upstream to pause. */
  pause(): void {}

  resume(): void {}

  /** Leaves the queue. */
  abort(): void {
    if (this.#state !== 'queued') return;
    this.#state = 'free';
    if (this.#share !== null) this.#destination.slots.withdraw(this.#share, this);
    this.#destination.settled();
  }
}
