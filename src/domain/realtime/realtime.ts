import type { CallLabels } from '../calls/call-labels.ts';
import type { Usage } from '../chat/chat.ts';
import type { BilledQuantity } from '../inference/billed-quantity.ts';
import type { OpenSocket, SocketEnd, SocketMessage } from './sockets.ts';

/** Endpoint data of realtime sessions in call records. */
export const REALTIME = {
  path: '/realtime',
  input: { member: 'messages', form: 'messages' },
  operation: 'realtime',
  callType: '_arealtime',
} as const;

/** A session request as a transport passes it to the gateway. */
export interface RealtimeRequest {
  /** The name the caller sent: a model group. */
  readonly model: string;
  /** A session that only transcribes; null is a conversation. */
  readonly intent: 'transcription' | null;
  /** Headers of the caller for the upstream: lower-case names, no credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Labels from the caller; none when absent. */
  readonly labels?: CallLabels;
  /** Call id that the caller sent; null where the gateway creates one. */
  readonly callId: string | null;
  /** Parent span in the caller's own trace; null starts a new trace. */
  readonly parent: { readonly traceId: string; readonly spanId: string | null } | null;
}

type CountedUsage =
  | { readonly usage: Usage; readonly measured?: undefined }
  | { readonly usage: null; readonly measured: BilledQuantity };

/** Facts in an upstream message that the gateway uses. */
export type RealtimeFact =
  | {
      readonly kind: 'session';
      readonly id: string | null;
      readonly model: string | null;
      /** The transcription model; null when there is none. */
      readonly transcriptionModel: string | null;
    }
  /** Usage of an answer or of a transcription: tokens, or audio duration. */
  | ({ readonly kind: 'used'; readonly by: 'session' | 'transcription' } & CountedUsage)
  | { readonly kind: 'error'; readonly message: string };

/** The upstream side of a session, in OpenAI's realtime dialect. */
export interface RealtimeUpstream {
  readonly socket: OpenSocket;
  /**
   * The part of a caller's message that is sent upstream. Calls `assertMayCall` for every model that the message names.
   * Throws what `assertMayCall` throws, and InvalidInput for a refused message; neither ends the session.
   */
  outbound(message: SocketMessage, assertMayCall: (model: string) => void): SocketMessage;
  /** An upstream message as the caller may see it, and its facts. */
  inbound(message: SocketMessage): { readonly message: SocketMessage; readonly fact: RealtimeFact | null };
  /** The text of a close frame as the caller may see it. */
  showable(reason: string): string;
  /**
   * The failure that an end of the socket means; null for a normal end. `lastError` is the upstream's last error
   * message, if any.
   */
  failureOf(end: SocketEnd, lastError: string | null): Error | null;
}
