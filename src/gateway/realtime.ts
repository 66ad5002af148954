import type { Caller } from '../domain/caller.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import type { RealtimeRequest } from '../domain/realtime/realtime.ts';
import type { OpenSocket, SocketMessage } from '../domain/realtime/sockets.ts';

/** How long one side of a session may be silent or slow, in milliseconds. */
export interface SideLimits {
  /** Silence after which a side is asked whether it is still there. */
  readonly pingMs: number;
  /** Silence after which a side counts as gone. */
  readonly goneMs: number;
  /** How long a side may take nothing of what waits for it. */
  readonly stalledMs: number;
}

/** How long things may take in a session, in milliseconds, and how often it may go wrong. */
export interface RealtimeLimits extends SideLimits {
  /** How long a session may go on without a message from either side. */
  readonly idleMs: number;
  readonly lifeMs: number;
  /** How often the caller's key is looked at again; its allowance is at every answer too. */
  readonly recheckMs: number;
  /** Messages of the caller's that may be refused. */
  readonly refusals: number;
  /** Sessions at once, in this process. */
  readonly sessions: number;
}

/** What a door brings to a session: the caller's socket, and words for what goes wrong. */
export interface RealtimeClient {
  readonly socket: OpenSocket;
  /** A failure in the caller's dialect. `about` is the message that it answers. */
  words(failure: unknown, about: SocketMessage | null): SocketMessage;
  /** Told once: why the session did not end well; null when it did. */
  ended(failure: unknown): void;
}

/** A session whose upstream is open, and waits for its caller. */
export interface RealtimeSession {
  readonly callId: string;
  /** The name the caller sent. */
  readonly modelGroup: string;
  readonly deployment: Deployment;
  /** Joins the two sides; from here on the session looks after itself. */
  relay(client: RealtimeClient): void;
  /** The caller left before it could be joined. */
  abandon(): void;
}

/** Live sessions between callers and upstreams. */
export interface Realtime {
  /** Resolves when the upstream has opened. Failures up to then are recorded and thrown. */
  open(
    caller: Caller,
    request: RealtimeRequest,
    options: {
      readonly signal: AbortSignal;
      /** The caller's key as it stands now. Throws Unauthenticated. */
      readonly identify: () => Caller | Promise<Caller>;
    },
  ): Promise<RealtimeSession>;
  /** Pings, looks for limits that are reached, and checks keys; to be called every few seconds. */
  tend(): void;
  /** Sessions open now, or opening. */
  count(): number;
  /** Resolves when none is open. */
  ended(): Promise<void>;
  /** Ends every session: the process is going away. */
  endAll(): void;
}
