import type { Caller } from '../caller.ts';

/** Id of a request of JSON-RPC. */
export type McpMessageId = string | number;

/** A client as it names itself. */
export interface McpClientInfo {
  readonly name: string | null;
  readonly version: string | null;
}

export interface McpSessionFacts {
  readonly id: string;
  /** The caller that opened it. Only this caller may use it. */
  readonly caller: Caller;
  readonly client: McpClientInfo;
  readonly clientAddress: string | null;
}

/** A session of a client. It holds no answer: a request with an unknown session is served without one. */
export class McpSession {
  readonly facts: McpSessionFacts;
  /** Monotonic time of the last use, in ms. */
  lastUsedMs: number;
  readonly #ended = new AbortController();
  /** Running requests. A client may reuse the id of a request that is still running. */
  readonly #running = new Map<AbortController, McpMessageId>();
  #hasStream = false;

  constructor(facts: McpSessionFacts, nowMs: number) {
    this.facts = facts;
    this.lastUsedMs = nowMs;
  }

  /** Aborts when the session ends. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  get runningRequests(): number {
    return this.#running.size;
  }

  /** Whether a request or a stream is open. */
  get isActive(): boolean {
    return this.#hasStream || this.#running.size > 0;
  }

  /** Adds a running request, until `finish`. A request of a session that has ended is aborted immediately. */
  start(id: McpMessageId, running: AbortController): void {
    this.#running.set(running, id);
    if (this.#ended.signal.aborted) running.abort(this.#ended.signal.reason);
  }

  finish(running: AbortController): void {
    this.#running.delete(running);
  }

  /** Aborts the running requests with an id. Returns false when there is none. */
  cancel(id: McpMessageId): boolean {
    const requests = [...this.#running].filter(([, runningId]) => runningId === id);
    for (const [running] of requests) running.abort(new CancelledByClient());
    return requests.length > 0;
  }

  /** Takes the only stream for messages of the gateway. Returns false while it is taken. */
  takeStream(): boolean {
    if (this.#hasStream) return false;
    this.#hasStream = true;
    return true;
  }

  releaseStream(): void {
    this.#hasStream = false;
  }

  /** Aborts running requests and ends the stream. */
  end(): void {
    this.#ended.abort();
    for (const running of this.#running.keys()) running.abort(this.#ended.signal.reason);
  }
}

/** The client cancelled the request by a notification. The request has no answer. */
export class CancelledByClient extends Error {
  constructor() {
    super('The client cancelled the request.');
    this.name = 'CancelledByClient';
  }
}
