import { Readable } from 'node:stream';
import type { Dispatcher, EnvHttpProxyAgent as Agent, Pool as AgentPool } from 'undici';
import type { Peer } from './address.ts';
import type { TransportHandle } from './call.ts';
import {
  createClient,
  DEFAULT_CONNECTIONS,
  type HttpClientOptions,
  type Transport,
  type UpstreamClient,
} from './client.ts';
import { ConnectionEnded, MalformedResponse } from './faults.ts';
import type { OriginPool, CallDispatch } from './call-dispatch.ts';
import { headersOf } from './response-parser.ts';

/** Maximum number of informational heads (102, 103) before the answer, as in the native client. */
const INFORMATIONAL_LIMIT = 16;

/** The limits of the native client. undici has no deadlines for head and body, because the calls have their own. */
const SETTINGS = {
  allowH2: false,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  connectTimeout: 10_000,
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: 2_000,
  keepAliveMaxTimeout: 600_000,
  maxHeaderSize: 16 * 1024,
} as const;

/**
 * Calls upstreams through undici, which supports forward proxies: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the
 * environment apply. It is slower than the native client. Queue, deadlines and settling are shared; ADR 0054 lists the
 * differences. The library is loaded here, so that a start without it stays fast.
 */
export async function openUndiciClient(options: HttpClientOptions = {}): Promise<UpstreamClient> {
  const undici = await import('undici');
  return createClient(options, () => openTransport(undici, options.connections ?? DEFAULT_CONNECTIONS));
}

interface Undici {
  readonly EnvHttpProxyAgent: typeof Agent;
  readonly Pool: typeof AgentPool;
}

function openTransport({ EnvHttpProxyAgent, Pool }: Undici, connections: number): Transport {
  /** Open connections of all pools. */
  let openConnections = 0;
  /** Running calls of all pools. */
  let activeCalls = 0;
  const poolOf = (origin: string | URL, poolOptions: object): AgentPool =>
    new Pool(origin, { ...SETTINGS, ...poolOptions, connections })
      .on('connect', () => {
        openConnections += 1;
      })
      .on('disconnect', () => {
        openConnections -= 1;
      });
  const proxyAgent = new EnvHttpProxyAgent({ ...SETTINGS, factory: poolOf });
  /** Pools of addresses that are never called through a proxy. */
  const pools = new Set<AgentPool>();

  function directPool(origin: string, { lookup }: Peer): AgentPool {
    const connect = { timeout: SETTINGS.connectTimeout, ...(lookup === undefined ? {} : { lookup }) };
    const pool = poolOf(origin, { connect });
    pools.add(pool);
    return pool;
  }

  return {
    pool({ origin, peer, direct = false }): OriginPool {
      let openCalls = 0;
      const pool = direct ? directPool(origin, peer) : null;
      return {
        send(dispatch) {
          openCalls += 1;
          activeCalls += 1;
          const undiciCall = new UndiciCall(dispatch, () => {
            openCalls -= 1;
            activeCalls -= 1;
            dispatch.free();
          });
          dispatch.call.setHandle(undiciCall);
          // Deferred: inside a callback of an earlier answer, the connection of that answer is not free yet.
          setImmediate(() => undiciCall.begin(pool ?? proxyAgent, origin));
        },
        counts: () => ({ active: openCalls, idle: 0 }),
        close() {
          if (pool === null) return;
          pools.delete(pool);
          void pool.destroy();
        },
      };
    },
    idle: () => Math.max(0, openConnections - activeCalls),
    async close() {
      await Promise.all([proxyAgent, ...pools].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** One call over undici. */
class UndiciCall implements TransportHandle, Dispatcher.DispatchHandler {
  readonly queued = false;
  readonly #dispatch: CallDispatch;
  readonly #free: () => void;
  #state: 'new' | 'dispatched' | 'done' = 'new';
  #controller: Dispatcher.DispatchController | null = null;
  /** Whether the call has aborted the request. An aborted call receives no further report. */
  #aborted = false;
  #paused = false;
  #headReceived = false;
  #informational = 0;

  constructor(dispatch: CallDispatch, free: () => void) {
    this.#dispatch = dispatch;
    this.#free = free;
  }

  begin(dispatcher: Dispatcher, origin: string): void {
    if (this.#state !== 'new') return;
    this.#state = 'dispatched';
    const { method, path, headers, body } = this.#dispatch.request;
    try {
      dispatcher.dispatch(
        { origin, path, method, ...withContentLength(headers, body), headersTimeout: 0, bodyTimeout: 0 },
        this,
      );
    } catch (error) {
      this.#fail(error instanceof Error ? error : new ConnectionEnded('CLOSED'));
    }
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    // Deferred: a parser of undici must not be entered inside a callback of another one.
    queueMicrotask(() => {
      if (!this.#paused && this.#state !== 'done') this.#controller?.resume();
    });
  }

  abort(): void {
    if (this.#state === 'done') return;
    this.#aborted = true;
    if (this.#state === 'new') this.#finish();
    // Without a controller, the request waits for a connection. `onRequestStart` then aborts it.
    else this.#controller?.abort(new ConnectionEnded('CLOSED'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new ConnectionEnded('CLOSED'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Received): void {
    if (this.#state === 'done') return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > INFORMATIONAL_LIMIT) throw new MalformedResponse('INFORMATIONAL');
      return;
    }
    const checkedHeaders = headersOf(headers);
    this.#headReceived = true;
    this.#dispatch.call.head(status, checkedHeaders);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state !== 'done') this.#dispatch.call.body(chunk);
  }

  onResponseEnd(): void {
    if (this.#state === 'done') return;
    this.#state = 'done';
    // Deferred: undici frees the connection first.
    setImmediate(this.#free);
    if (!this.#aborted) this.#dispatch.call.ended();
  }

  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void {
    // Stop reading an answer of the proxy that was refused.
    if (this.#state === 'dispatched') controller?.abort(error);
    this.#fail(error);
  }

  #fail(error: Error): void {
    if (this.#state === 'done') return;
    this.#finish();
    if (!this.#aborted) this.#dispatch.call.failed(knownError(error, this.#headReceived));
  }

  #finish(): void {
    this.#state = 'done';
    this.#free();
  }
}

type Received = Readonly<Record<string, string | string[] | undefined>>;
type Outgoing = Pick<CallDispatch['request'], 'headers' | 'body'>;

/** Headers and body for undici. A body of several chunks gets a Content-Length header. */
function withContentLength(
  headers: Outgoing['headers'],
  body: Outgoing['body'],
): { readonly headers: Record<string, string>; readonly body: Uint8Array | Readable | null } {
  if (body instanceof Uint8Array) return { headers, body };
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  if (length === 0) return { headers, body: null };
  return { headers: { ...headers, 'content-length': String(length) }, body: Readable.from(body) };
}

/** An error of undici as an error of the native client. */
function knownError(error: Error, headReceived: boolean): Error {
  if (error.name === 'HTTPParserError')
    return new MalformedResponse(error.message.includes('EOF') ? 'CLOSED_EARLY' : 'PARSER');
  switch ('code' in error ? error.code : null) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new ConnectionEnded('CONNECT_TIMEOUT');
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new MalformedResponse('OVERFLOW');
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return headReceived ? new ConnectionEnded('CLOSED') : new MalformedResponse('CONTENT_LENGTH');
    case 'UND_ERR_SOCKET':
      // `bad response` and `bad upgrade`: a head with a status such as 100 or 101 that undici refuses.
      return error.message.startsWith('bad ') ? new MalformedResponse('INFORMATIONAL') : new ConnectionEnded('CLOSED');
    default:
      return error;
  }
}
