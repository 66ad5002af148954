import type { IncomingMessage } from 'node:http';

/** The source of an operation: its credential and its connection. */
export interface Requester {
  /** Headers with the credential, and the connection. */
  readonly request: Pick<IncomingMessage, 'headers' | 'socket'>;
  /** Fires when the client disconnects. */
  readonly signal: AbortSignal;
}
