import type { ByteStream } from './bytes.ts';

/** An upstream's answer: its head has come, its body is on its way. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Lower-case names; hop-by-hop headers left out, repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be consumed or cancelled: it holds a connection. */
  readonly body: ByteStream;
}

export type HttpMethod = 'GET' | 'POST' | 'DELETE';

interface CallOptions {
  readonly signal: AbortSignal;
  readonly headersTimeoutMs: number;
  /** The address comes from a caller: private addresses are refused with AddressRefused. */
  readonly chosenByCaller?: boolean;
}

/** Calls upstreams. Keeps connections open and bounds how many there are to one origin. */
export interface HttpClient {
  /**
   * Resolves when the head of the answer has come, whatever its status. Rejects with HttpFailure when none
   * came, and with the signal's reason when it fires first. A signal that fires later fails the body.
   */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    options: CallOptions,
  ): Promise<UpstreamAnswer>;
  /** As `post`, with any method, and a body in pieces that are sent one after the other and not joined. */
  send(
    method: HttpMethod,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
    options: CallOptions,
  ): Promise<UpstreamAnswer>;
  /** Lets calls in flight end, then closes every connection. */
  close(): Promise<void>;
}

/**
 * What can go wrong between us and an upstream: it cannot be reached, took too long, closed the connection
 * before its answer was complete, or sent what is not HTTP. `misused` is a call that could not be sent.
 */
export type HttpFault = 'unreachable' | 'timeout' | 'cut' | 'garbled' | 'misused';

/** No answer, or only part of one. The message names no header and no body. */
export class HttpFailure extends Error {
  readonly fault: HttpFault;
  constructor(fault: HttpFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HttpFailure';
    this.fault = fault;
  }
}

/** A caller chose an address that may not be connected to, or a name that does not resolve. */
export class AddressRefused extends HttpFailure {
  constructor() {
    super('misused', 'The upstream could not be called: its address is refused.');
    this.name = 'AddressRefused';
  }
}
