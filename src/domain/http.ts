import type { ByteStream } from './bytes.ts';

/** An upstream's answer whose head has arrived. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Lower-case names; hop-by-hop headers left out, repeated ones joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be consumed or cancelled: it holds a connection. */
  readonly body: ByteStream;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Limits of one call. */
export interface HttpCallOptions {
  /** Ends the call: the call rejects, or the body of its answer fails, with the signal's reason. */
  readonly signal: AbortSignal;
  /** Deadline for the head of the answer, in ms from now. Waiting for a free connection and connecting count. */
  readonly headersTimeoutMs: number;
  /**
   * Opaque id. All calls of one owner together have a fair share of an origin's connections. Absent for calls of the
   * process itself.
   */
  readonly owner?: string;
  /** Whether a caller chose the address. If so, private addresses are refused with AddressRefused. */
  readonly chosenByCaller?: boolean;
}

/** Calls upstreams. Keeps connections open and bounds how many there are to one origin. */
export interface HttpClient {
  /**
   * Resolves when the head of the answer has arrived, with any status. Rejects with HttpFailure when no head arrives,
   * and with the signal's reason when the signal fires first. A signal that fires later fails the body.
   */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    options: HttpCallOptions,
  ): Promise<UpstreamAnswer>;
  /** As `post`, with any method. The chunks of the body are sent in order, without joining them first. */
  send(
    method: HttpMethod,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: readonly Uint8Array[],
    options: HttpCallOptions,
  ): Promise<UpstreamAnswer>;
  /** Waits for the calls in flight, then closes every connection. */
  close(): Promise<void>;
}

/** Connections to all upstreams of the process. */
export interface UpstreamConnections {
  /** Connections that carry a call, or are being opened for one. */
  readonly active: number;
  /** Open connections without a call. */
  readonly idle: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  /** Maximum number of connections to one origin. */
  readonly limit: number;
}

/**
 * Kinds of transport failures: the upstream cannot be reached, timed out, closed the connection before its answer was
 * complete, or did not send HTTP. `misused` is a call that could not be sent.
 */
export type HttpFault = 'unreachable' | 'timeout' | 'cut' | 'garbled' | 'misused';

/** No answer, or an incomplete one. The message contains no header and no body. */
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

/**
 * The reader of an answer stayed paused beyond the limit, so its call was ended. This is not a failure of the upstream.
 */
export class ReaderStalled extends Error {
  constructor() {
    super('The call was ended: the reader of its answer was paused for too long.');
    this.name = 'ReaderStalled';
  }
}
