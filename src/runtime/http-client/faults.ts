import { HttpFailure, type HttpFault } from '../../domain/http.ts';

/** A closed connection or a timeout before the answer was complete, with a short code. */
export class ConnectionEnded extends Error {
  readonly code: keyof typeof FAULT_BY_END;
  constructor(code: keyof typeof FAULT_BY_END) {
    super(`The connection was ended: ${code}.`);
    this.name = 'ConnectionEnded';
    this.code = code;
  }
}

/**
 * An answer that violates HTTP/1.1, exceeds a limit or ends early, with a short code. The message does not contain its
 * data.
 */
export class MalformedResponse extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`The answer is not HTTP/1.1: ${code}.`);
    this.name = 'MalformedResponse';
    this.code = code;
  }
}

const FAULT_BY_END = {
  QUEUE_TIMEOUT: 'timeout',
  CONNECT_TIMEOUT: 'timeout',
  HEAD_TIMEOUT: 'timeout',
  BODY_TIMEOUT: 'timeout',
  CLOSED: 'cut',
} as const satisfies Readonly<Record<string, HttpFault>>;

const FAULT_TEXTS: Readonly<Record<HttpFault, string>> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  cut: 'closed the connection before its answer was complete',
  garbled: 'sent what is not HTTP',
  misused: 'could not be called',
};

const RESET_CODES = new Set(['ECONNRESET', 'EPIPE']);

function faultOf(error: Error, code: string, headReceived: boolean): HttpFault {
  if (error instanceof ConnectionEnded) return FAULT_BY_END[error.code];
  if (error instanceof MalformedResponse) return code === 'CLOSED_EARLY' ? 'cut' : 'garbled';
  return headReceived || RESET_CODES.has(code) ? 'cut' : 'unreachable';
}

/** Failure of a call, as the error that the `HttpClient` interface defines. */
export function failureOf(error: Error, headReceived: boolean): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fault = faultOf(error, code, headReceived);
  return new HttpFailure(fault, `The upstream ${FAULT_TEXTS[fault]}${code === '' ? '' : ` (${code})`}.`, {
    cause: error,
  });
}

/** Failure of a call that could not be sent. */
export function misused(why: string, cause?: unknown): HttpFailure {
  return new HttpFailure(
    'misused',
    `The upstream ${FAULT_TEXTS.misused}: ${why}.`,
    cause === undefined ? {} : { cause },
  );
}
