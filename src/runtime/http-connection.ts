import { connect as connectPlain, type LookupFunction, type Socket } from 'node:net';
import { connect as connectSecure, type TLSSocket } from 'node:tls';
import type { Call, Carrier } from './http-call.ts';
import { ConnectionEnded } from './http-faults.ts';
import { ResponseParser } from './http-response.ts';
import { sendInTurn } from './turn.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Bodies up to this size travel in one piece with their head: one copy costs less than a second write. */
const SMALL_BODY = 64 * 1024;

/** Whom to connect to. */
export interface Peer {
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Resolves the host name; the system's resolver when absent. */
  readonly lookup?: LookupFunction;
}

/** A request ready to be sent, and who waits for its answer. */
export interface Order {
  readonly call: Call;
  /** Everything before the body. */
  readonly head: string;
  /** In one piece, or in several that are sent one after the other and not joined. */
  readonly body: Uint8Array | readonly Uint8Array[];
  /** Longest wait for the head of the answer, once the request is sent. */
  readonly headMs: number;
}

/** Told of what becomes of a connection. */
interface Owner {
  /** The answer has come and another call may be sent. */
  free(connection: Connection): void;
  /** It is of no more use. Told once. */
  gone(connection: Connection): void;
  /** Longest silence inside a body. */
  readonly silenceMs: number;
}

/** What every read of every connection lands in: it is taken apart, and its body copied, before the next. */
const LANDING = Buffer.allocUnsafe(64 * 1024);

/** TLS sessions by peer, so that a later connection need not begin from nothing. */
const sessions = new Map<string, Buffer>();
const SESSIONS_LIMIT = 100;

/** One connection to an upstream: carries one call at a time, from its request to the end of its answer. */
export class Connection implements Carrier {
  readonly #owner: Owner;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #call: Call | null = null;
  #headMs = 0;
  /** The request waits for the end of the turn. */
  #unsent = false;
  #state: 'connecting' | 'waiting' | 'answering' | 'idle' | 'gone' = 'connecting';
  /** Body bytes of the read under way: upstreams send many small chunks at once, and each step of ours has its price. */
  #pieces: Buffer[] = [];
  /** Set when an answer has ended: how long the connection may be kept. */
  #keepAliveMs: number | null = null;
  /** When the present state has lasted too long. */
  #deadlineMs: number;

  constructor(peer: Peer, owner: Owner) {
    this.#owner = owner;
    this.#deadlineMs = performance.now() + CONNECT_TIMEOUT_MS;
    this.#parser = new ResponseParser({
      head: (status, headers) => {
        this.#enter('answering', owner.silenceMs);
        this.#call?.head(status, headers);
      },
      body: (bytes) => {
        this.#pieces.push(bytes);
      },
      ended: (keepAliveMs) => {
        this.#keepAliveMs = keepAliveMs;
      },
    });
    this.#socket = peer.secure ? this.#openSecure(peer) : this.#openPlain(peer);
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('end', () => this.#closed());
    this.#socket.on('close', () => this.#closed());
  }

  send({ call, head, body, headMs }: Order): void {
    if (this.#state === 'gone') return call.failed(new ConnectionEnded('CLOSED'));
    this.#call = call;
    this.#headMs = headMs;
    this.#parser.expect();
    if (this.#state !== 'connecting') this.#enter('waiting', headMs);
    call.carriedBy(this);
    this.#unsent = true;
    sendInTurn(() => this.#write(head, body));
  }

  #write(head: string, body: Order['body']): void {
    this.#unsent = false;
    if (this.#state === 'gone') return;
    if (!(body instanceof Uint8Array) || body.length > SMALL_BODY) {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      for (const piece of body instanceof Uint8Array ? [body] : body) this.#socket.write(piece);
      this.#socket.uncork();
      return;
    }
    const whole = Buffer.allocUnsafe(head.length + body.length);
    whole.write(head, 0, 'latin1');
    whole.set(body, head.length);
    this.#socket.write(whole);
  }

  pause(): void {
    if (this.#state === 'gone') return;
    // Silence is ours while we do not listen.
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    this.#socket.pause();
  }

  resume(): void {
    if (this.#state === 'gone' || !this.#socket.isPaused()) return;
    this.#deadlineMs = performance.now() + this.#owner.silenceMs;
    this.#socket.resume();
  }

  abort(): void {
    this.#call = null;
    this.#end(null);
  }

  /** Ends the connection when it has waited too long for what it waits for. */
  checkDeadline(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return;
    if (this.#state === 'connecting') this.#end(new ConnectionEnded('CONNECT_TIMEOUT'));
    else if (this.#state === 'waiting') this.#end(new ConnectionEnded('HEAD_TIMEOUT'));
    else if (this.#state === 'answering') this.#end(new ConnectionEnded('BODY_TIMEOUT'));
    else this.#end(null);
  }

  #openPlain({ hostname, port, lookup }: Peer): Socket {
    const onread = {
      buffer: LANDING,
      callback: (length: number) => {
        this.#read(LANDING.subarray(0, length));
        return true;
      },
    };
    const resolving = lookup === undefined ? {} : { lookup };
    return connectPlain({ host: hostname, port, ...resolving, ...KEPT_ALIVE, onread }, () => this.#connected());
  }

  #openSecure({ hostname, port, lookup }: Peer): TLSSocket {
    const name = `${hostname}:${port}`;
    const session = sessions.get(name);
    const known = { ...(session === undefined ? {} : { session }), ...(lookup === undefined ? {} : { lookup }) };
    const options = { host: hostname, port, ...KEPT_ALIVE, ALPNProtocols: ['http/1.1'], ...known };
    const socket = connectSecure(options, () => this.#connected());
    socket.on('session', (fresh) => {
      if (sessions.size < SESSIONS_LIMIT || sessions.has(name)) sessions.set(name, fresh);
    });
    return socket.on('data', (bytes: Buffer) => this.#read(bytes));
  }

  #connected(): void {
    if (this.#state === 'connecting') this.#enter('waiting', this.#headMs);
  }

  #enter(state: 'waiting' | 'answering' | 'idle', forMs: number): void {
    if (this.#state === 'gone') return;
    this.#state = state;
    this.#deadlineMs = performance.now() + forMs;
  }

  #read(bytes: Buffer): void {
    if (this.#state !== 'gone') this.#take(() => this.#parser.execute(bytes));
  }

  #closed(): void {
    if (this.#state === 'gone') return;
    this.#take(() => this.#parser.finish());
    this.#end(null);
  }

  /** Has something read. Only what is read to its end frees the connection: bytes after an answer are no other's. */
  #take(read: () => void): void {
    let fault: Error | null = null;
    try {
      read();
    } catch (error) {
      fault = error instanceof Error ? error : new ConnectionEnded('CLOSED');
    }
    if (this.#pieces.length > 0) this.#handOn();
    // The reader may have cancelled inside its chunk: a connection that is gone never becomes idle.
    if (this.#state === 'gone') return;
    const keepAliveMs = this.#keepAliveMs;
    if (keepAliveMs === null) {
      if (fault !== null) this.#end(fault);
      return;
    }
    this.#keepAliveMs = null;
    const call = this.#call;
    this.#call = null;
    // An answer that came before its request was sent whole leaves a rest that the next call must not follow.
    if (fault !== null || keepAliveMs === 0 || this.#unsent || this.#socket.writableLength > 0) this.#end(null);
    else {
      this.#enter('idle', keepAliveMs);
      // A reader that had it paused is not there to let it go on.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#owner.free(this);
    }
    call?.ended();
  }

  /** Gives the call what one read brought of the body, copied out of where it landed. */
  #handOn(): void {
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only ? Buffer.from(only) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#deadlineMs = performance.now() + this.#owner.silenceMs;
    this.#call?.body(bytes);
  }

  #end(error: Error | null): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    const call = this.#call;
    this.#call = null;
    this.#socket.destroy();
    call?.failed(error ?? new ConnectionEnded('CLOSED'));
    this.#owner.gone(this);
  }
}

const KEPT_ALIVE = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const;
