import type { ByteStream } from '../bytes.ts';
import type { SocketMessage } from '../realtime/sockets.ts';

/** A response in progress on a connection. */
export interface Turn {
  /** Its events; one chunk is one message. */
  readonly messages: ByteStream;
  /** The last event of a response that failed in progress. */
  failureEvent(failure: unknown): SocketMessage;
  /** Called once at its end; `abandoned` when the client disconnected. */
  ended(end: 'completed' | 'failed' | 'abandoned', failure?: Error): void;
}

/** A response requested on a connection. */
export interface RequestedTurn {
  readonly kind: 'turn';
  /** Turns of one lane run in sequence; empty for the unnamed lane. */
  readonly lane: string;
  /** Bytes that the turn uses while it waits for its lane. */
  readonly size: number;
  /** Starts the turn; called when its lane is free. Rejects when the turn is refused. */
  begin(signal: AbortSignal): Promise<Turn>;
  /** The event of a turn that was refused. */
  refused(failure: unknown): SocketMessage;
}

/** A parsed client message: a turn, or an immediate answer. */
export type ReadMessage = RequestedTurn | { readonly kind: 'answer'; readonly message: SocketMessage };
