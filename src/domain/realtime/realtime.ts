import type { Usage } from '../chat/chat.ts';
import type { Measured } from '../inference/measured.ts';
import type { OpenSocket, SocketEnd, SocketMessage } from './sockets.ts';

/** What sets a realtime session apart from other calls in their records. */
export const REALTIME = {
  path: '/realtime',
  asks: { member: 'messages', form: 'messages' },
  operation: 'realtime',
  callType: '_arealtime',
} as const;

/** A session as a door hands it to the gateway. */
export interface RealtimeRequest {
  /** The name the caller sent: a model group. */
  readonly model: string;
  /** A session that only writes down what it hears; null is a conversation. */
  readonly intent: 'transcription' | null;
  /** Headers of the caller's that are meant for the upstream: lower-case names, none of them a credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The caller's name for this session; null lets the gateway make one. */
  readonly callId: string | null;
  /** Where it hangs in the caller's own trace; null starts a new one. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | null;
}

type Counted =
  | { readonly usage: Usage; readonly measured?: undefined }
  | { readonly usage: null; readonly measured: Measured };

/** What a message of an upstream tells the gateway. */
export type RealtimeNews =
  | {
      readonly kind: 'session';
      readonly id: string | null;
      readonly model: string | null;
      /** The model that writes down what is said; null when none does. */
      readonly transcriptionModel: string | null;
    }
  /** An answer was counted, or what a further model wrote down: in tokens, or by how long it listened. */
  | ({ readonly kind: 'used'; readonly by: 'session' | 'transcription' } & Counted)
  | { readonly kind: 'error'; readonly message: string };

/** The upstream's side of a session, which speaks OpenAI's realtime dialect with us. */
export interface RealtimeUpstream {
  readonly socket: OpenSocket;
  /**
   * What of a caller's message goes upstream. `assertMayCall` is asked about every model it names. Throws what that
   * throws, and InvalidInput for a message that may not go on; the session outlives both.
   */
  outbound(message: SocketMessage, assertMayCall: (model: string) => void): SocketMessage;
  /** A message of the upstream's as the caller may see it, and what it tells. */
  inbound(message: SocketMessage): { readonly message: SocketMessage; readonly news: RealtimeNews | null };
  /** The words of a close frame as the caller may see them. */
  showable(reason: string): string;
  /** What an end means; null when it is no failure. `lastError` is the error the upstream told before, if it did. */
  failureOf(end: SocketEnd, lastError: string | null): Error | null;
}
