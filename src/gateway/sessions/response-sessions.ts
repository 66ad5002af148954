import type { OpenSocket, SocketMessage } from '../../domain/realtime/sockets.ts';
import type { ReadMessage } from '../../domain/responses/turns.ts';
import type { SideLimits } from './realtime.ts';

/** Limits of connections. Times in milliseconds. */
export interface ResponseSessionLimits extends SideLimits {
  /** Maximum duration of a connection. */
  readonly lifeMs: number;
  /** Maximum number of concurrent responses of a connection, over all lanes. */
  readonly running: number;
  /** Number of waiting turns, and of their bytes, above which reading pauses. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Maximum number of concurrent connections of this process. */
  readonly sessions: number;
}

/** Client side of a connection: its socket, its message parser and the format of its errors. */
export interface ResponseClient {
  readonly socket: OpenSocket;
  /** Parses a message. Never throws: for an invalid message, returns an answer or a turn that is refused. */
  read(message: SocketMessage): ReadMessage;
  /** Renders a failure outside any turn. */
  errorEvent(failure: unknown): SocketMessage;
  /** Called once, after the last turn, with the failure; null for a normal end. */
  ended(failure: unknown): void;
}

/** Reserved slot of a connection that is opening. */
interface ResponseSlot {
  /** Starts the connection of the slot. */
  join(client: ResponseClient): void;
  /** Frees the slot: the client disconnected before `join`. */
  abandon(): void;
}

/** WebSocket connections of the Responses API. */
export interface ResponseSessions {
  /** Reserves a slot for a connection that is opening. Throws Unavailable when the limit of connections is reached. */
  open(): ResponseSlot;
  /** Sends pings and checks timeouts. Call it every few seconds. */
  runChecks(): void;
  /** Accepts no new turns. Every connection ends when no turn is running on it. */
  retire(): void;
  /** Resolves when no connection is open or opening. */
  ended(): Promise<void>;
  /** Ends every connection and its running turns at shutdown. */
  endAll(): void;
}
