import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import type { ByteSink, ByteStream } from '../domain/bytes.ts';
import { type HttpClient, HttpFailure, type HttpFault, type UpstreamAnswer } from '../domain/http.ts';

/** Most connections to one origin; calls beyond it wait for one to come free. */
const CONNECTIONS = 256;
const CONNECT_TIMEOUT_MS = 10_000;
/** Longest silence inside a body before the upstream counts as gone. */
const SILENCE_LIMIT_MS = 300_000;
/** Body bytes taken before anybody reads them; then the upstream is paused. */
const EARLY_BYTES = 64 * 1024;

/** Calls upstreams over pooled connections, without the Fetch classes: they cost more than the call. */
export function createHttpClient(
  options: { readonly connections?: number; readonly silenceLimitMs?: number } = {},
): HttpClient {
  const { connections = CONNECTIONS, silenceLimitMs = SILENCE_LIMIT_MS } = options;
  const pools = new Map<string, Pool>();

  function poolOf(origin: string): Pool {
    const known = pools.get(origin);
    if (known) return known;
    const pool = new Pool(origin, {
      connections,
      pipelining: 1,
      // One connection carries one call, so that giving a call up never disturbs another.
      allowH2: false,
      // Shorter than what common servers allow an idle connection: a call sent into a closing one is lost.
      keepAliveTimeout: 4_000,
      bodyTimeout: silenceLimitMs,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    });
    pools.set(origin, pool);
    return pool;
  }

  return {
    post: (url, headers, body, { signal, headersTimeoutMs }) =>
      new Promise<UpstreamAnswer>((resolve, reject) => {
        if (signal.aborted) throw signal.reason;
        const pathAt = url.indexOf('/', url.indexOf('://') + 3);
        const call = new Call(signal, resolve, reject);
        poolOf(pathAt === -1 ? url : url.slice(0, pathAt)).dispatch(
          {
            method: 'POST',
            path: pathAt === -1 ? '/' : url.slice(pathAt),
            headers: headers as Record<string, string>,
            body,
            headersTimeout: headersTimeoutMs,
          },
          call,
        );
      }),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
      pools.clear();
    },
  };
}

/** One call: takes what undici pushes, and is the byte stream of the answer's body. */
class Call implements Dispatcher.DispatchHandler, ByteStream {
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: UpstreamAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = (): void => this.#aborted();
  #controller: Dispatcher.DispatchController | null = null;
  #headCame = false;
  /** Nothing more is told to the sink. */
  #over = false;
  #sink: ByteSink | null = null;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  /** How the body ended, while nobody reads or the reader is paused. */
  #ended: { readonly error: Error | null } | null = null;
  #paused = false;

  constructor(signal: AbortSignal, resolve: (answer: UpstreamAnswer) => void, reject: (error: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new GivenUp());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // An informational head (100, 103) is not the answer.
    if (this.#over || status < 200) return;
    this.#headCame = true;
    this.#resolve({ status, headers: endToEnd(headers), body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    if (this.#sink !== null && !this.#paused) {
      if (this.#sink.chunk(chunk)) return;
      this.#paused = true;
      controller.pause();
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_BYTES) controller.pause();
  }

  onResponseEnd(): void {
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    const failure = toFailure(error, this.#headCame);
    if (this.#headCame) return this.#end(failure);
    this.#finish();
    this.#reject(failure);
  }

  pipe(sink: ByteSink): void {
    this.#sink = sink;
    this.#deliver();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#deliver();
  }

  cancel(): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.abort(new GivenUp());
  }

  #end(error: Error | null): void {
    if (this.#over || this.#ended !== null) return;
    this.#ended = { error };
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#deliver();
  }

  /** Hands on what waited for the reader, then the end, then lets the upstream go on. */
  #deliver(): void {
    const sink = this.#sink;
    if (sink === null) return;
    while (this.#early.length > 0) {
      if (this.#over || this.#paused) return;
      const chunk = this.#early.shift();
      if (chunk && !sink.chunk(chunk)) this.#paused = true;
    }
    if (this.#over) return;
    if (this.#ended !== null) {
      const { error } = this.#ended;
      this.#finish();
      if (error === null) sink.done();
      else sink.fail(error);
      return;
    }
    if (this.#paused) return;
    this.#earlyBytes = 0;
    this.#controller?.resume();
  }

  #aborted(): void {
    if (this.#over || this.#ended !== null) return;
    const reason: unknown = this.#signal.reason;
    if (this.#headCame) {
      this.#early = [];
      this.#paused = false;
      this.#end(reason instanceof Error ? reason : new GivenUp());
    } else {
      this.#finish();
      this.#reject(reason);
    }
    this.#controller?.abort(new GivenUp());
  }

  #finish(): void {
    this.#over = true;
    this.#early = [];
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Tells undici that we, not the upstream, ended a call. */
class GivenUp extends Error {
  constructor() {
    super('The call was given up.');
    this.name = 'GivenUp';
  }
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function endToEnd(headers: IncomingHttpHeaders): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name)) continue;
    kept[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return kept;
}

const FAULTS: Readonly<Record<string, HttpFault>> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_INVALID_ARG: 'misused',
  UND_ERR_CLOSED: 'misused',
  UND_ERR_DESTROYED: 'misused',
  UND_ERR_HEADERS_OVERFLOW: 'garbled',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'cut',
  UND_ERR_SOCKET: 'cut',
  ECONNRESET: 'cut',
  EPIPE: 'cut',
};

const SAID: Readonly<Record<HttpFault, string>> = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  cut: 'closed the connection before its answer was complete',
  garbled: 'sent what is not HTTP',
  misused: 'could not be called',
};

function toFailure(error: Error, headCame: boolean): HttpFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const parsing = error.name === 'HTTPParserError';
  const fault = parsing ? 'garbled' : (FAULTS[code] ?? (headCame ? 'cut' : 'unreachable'));
  return new HttpFailure(fault, `The upstream ${SAID[fault]}${code === '' ? '' : ` (${code})`}.`, { cause: error });
}
