import type { OpenSocket, SocketMessage } from '../domain/realtime/sockets.ts';
import type { ReadMessage } from '../domain/responses/turns.ts';
import type { SideLimits } from './realtime.ts';

/** What a connection may hold, and for how long. */
export interface ResponseSessionLimits extends SideLimits {
  readonly lifeMs: number;
  /** Responses under way at once, in all lanes. */
  readonly running: number;
  /** Turns that may wait, and their bytes, before nothing more is read. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Connections at once, in this process. */
  readonly sessions: number;
}

/** What a door brings to a connection: the client's socket, its reading, and words for what goes wrong. */
export interface ResponseClient {
  readonly socket: OpenSocket;
  /** What a message asks. Never throws: a faulty one asks for a turn that is refused. */
  read(message: SocketMessage): ReadMessage;
  /** A failure that is about no turn, as an event. */
  words(failure: unknown): SocketMessage;
  /** Told once, when nothing is under way any more: why it did not end well; null when it did. */
  ended(failure: unknown): void;
}

/** A place for a connection that is being opened. */
interface ResponsePlace {
  join(client: ResponseClient): void;
  /** The client left before it could be joined. */
  abandon(): void;
}

/** Connections on which clients ask for responses. */
export interface ResponseSessions {
  /** Throws Unavailable when there are too many. */
  open(): ResponsePlace;
  /** Pings, and looks for limits that are reached; to be called every few seconds. */
  tend(): void;
  /** Begins nothing new: every connection ends as soon as nothing is under way on it. */
  retire(): void;
  /** Resolves when none is open. */
  ended(): Promise<void>;
  /** Ends every connection, and what is under way: the process is going away. */
  endAll(): void;
}
