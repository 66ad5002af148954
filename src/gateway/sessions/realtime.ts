import type { Caller } from '../../domain/caller.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { RealtimeRequest } from '../../domain/realtime/realtime.ts';
import type { OpenSocket, SocketMessage } from '../../domain/realtime/sockets.ts';

/** Timeouts of one side of a session, in milliseconds. */
export interface SideLimits {
  /** Idle time after which a ping is sent. */
  readonly pingMs: number;
  /** Idle time after which a side counts as disconnected. */
  readonly heartbeatTimeoutMs: number;
  /** Time without progress of the send buffer after which a side counts as stalled. */
  readonly stalledMs: number;
}

/** Limits of sessions. Times in milliseconds. */
export interface RealtimeLimits extends SideLimits {
  /** Time without a message of either side after which a session ends. */
  readonly idleMs: number;
  /** Maximum duration of a session. */
  readonly lifeMs: number;
  /** Interval of checks of key and budget. Both are also checked after each charged turn. */
  readonly recheckMs: number;
  /** Maximum number of refused messages. The next one ends the session. */
  readonly maxRefusals: number;
  /** Maximum number of concurrent sessions of this process. */
  readonly sessions: number;
}

/** Client side of a session: its socket and the format of its errors. */
export interface RealtimeClient {
  readonly socket: OpenSocket;
  /** Renders a failure in the client's dialect. `about` is the message that caused it; null for none. */
  errorEvent(failure: unknown, about: SocketMessage | null): SocketMessage;
  /** Called once at the end, with the failure; null for a normal end. */
  ended(failure: unknown): void;
}

/** A session with an open upstream socket, before the client is connected. */
export interface RealtimeSession {
  readonly callId: string;
  /** Public name of the model, after budget fallbacks. */
  readonly modelGroup: string;
  readonly deployment: Deployment;
  /** Connects the two sides. */
  relay(client: RealtimeClient): void;
  /** Ends the session: the client disconnected before `relay`. */
  abandon(): void;
}

/** Realtime sessions between callers and upstreams. */
export interface Realtime {
  /**
   * Resolves when the upstream socket is open. Rejects with any earlier failure. Only failures of budgets, rate limits
   * and the upstream, and a shutdown while the upstream socket opens, are recorded as calls.
   */
  open(
    caller: Caller,
    request: RealtimeRequest,
    options: {
      readonly signal: AbortSignal;
      /** The caller with the current state of its key. Throws as `KeyRing.current`. */
      readonly identify: () => Caller | Promise<Caller>;
    },
  ): Promise<RealtimeSession>;
  /** Sends pings, and checks timeouts, keys and budgets. Call it every few seconds. */
  runChecks(): void;
  /** Number of sessions that are open or opening. */
  count(): number;
  /** Resolves when no session is open or opening. */
  ended(): Promise<void>;
  /** Ends every session at shutdown. */
  endAll(): void;
}
