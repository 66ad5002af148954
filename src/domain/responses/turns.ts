import type { ByteStream } from '../bytes.ts';
import type { SocketMessage } from '../realtime/sockets.ts';

/** A response that is under way on a connection. */
export interface Turn {
  /** Its events; one chunk is one message. */
  readonly messages: ByteStream;
  /** The last event of one that failed under way. */
  lastWords(failure: unknown): SocketMessage;
  /** Told once how it ended; `abandoned` when the client left. */
  ended(end: 'completed' | 'failed' | 'abandoned', failure?: Error): void;
}

/** A response that a client of a connection asked for. */
export interface AskedTurn {
  readonly kind: 'turn';
  /** Whose turns run one after another; empty for the lane without a name. */
  readonly lane: string;
  /** Bytes that are held while it waits. */
  readonly size: number;
  /** Asks for it, once its lane is free. Rejects with why it is refused. */
  begin(signal: AbortSignal): Promise<Turn>;
  /** The event that tells of a turn that never was under way. */
  refused(failure: unknown): SocketMessage;
}

/** What a message of a client's asks: a turn, or what can be answered at once. */
export type ReadMessage = AskedTurn | { readonly kind: 'answer'; readonly message: SocketMessage };
